// Package results writes results of benchmarks into a Markdown file: the conditions of the
// measurement, and one section, without changing the other sections.
package results

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Circumstances are the conditions under which figures were measured.
type Circumstances struct {
	Date, Machine, Version, Commit, Command string
}

// About returns the current conditions of a command.
func About(ctx context.Context, command string) Circumstances {
	return Circumstances{
		Date:    time.Now().UTC().Format(time.DateOnly),
		Machine: fmt.Sprintf("%s, %d cores, %s/%s", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH),
		Version: runtime.Version(),
		Commit:  commit(ctx),
		Command: command,
	}
}

// processor returns the name of the processor from /proc/cpuinfo on Linux.
func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// commit returns the commit of the working tree.
func commit(ctx context.Context) string {
	id, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	out := strings.TrimSpace(string(id))
	// The results file itself is excluded from the changes.
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--", "..", ":(exclude)RESULTS.md").Output()
	if err != nil || len(changes) > 0 {
		out += " with changes"
	}
	return out
}

// Text returns the conditions, one per line.
func (c Circumstances) Text() string {
	return fmt.Sprintf("date     %s\nmachine  %s\nGo       %s\ncommit   %s\ncommand  %s\n", c.Date, c.Machine, c.Version, c.Commit, c.Command)
}

// WriteSection replaces the section with that title, or appends it to the file. The title is a line
// that begins with "## ", and the first line of the section.
func WriteSection(path, title, section string) error {
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	above, below := split(string(old), title+"\n")
	if above != "" {
		above = strings.TrimRight(above, "\n") + "\n\n"
	}
	if below != "" {
		below = "\n" + below
	}
	return os.WriteFile(path, []byte(above+section+below), 0o644)
}

// split returns the text above a section, and the sections below it.
func split(text, title string) (above, below string) {
	i := strings.Index(text, "\n"+title) + 1
	if i == 0 && !strings.HasPrefix(text, title) {
		return text, ""
	}
	above, section := text[:i], text[i:]
	if j := strings.Index(section, "\n## "); j >= 0 {
		below = section[j+1:]
	}
	return above, below
}
