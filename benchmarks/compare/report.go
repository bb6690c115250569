package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/results"
)

// report is the first part of RESULTS.md.
type report struct {
	about   circumstances
	matches []*contest
}

// circumstances are the conditions under which the figures were measured.
type circumstances struct {
	results.Circumstances
	reps int
}

func about(ctx context.Context, c settings) circumstances {
	command := fmt.Sprintf("make compare SIZES=%s REPS=%d", c.sizes, c.reps)
	if c.consolidate {
		command = fmt.Sprintf("make consolidate SIZES=%s LIMIT=%s", c.sizes, c.limit)
	}
	if c.only != "" {
		command = fmt.Sprintf("go run ./compare -sizes %s -reps %d -only '%s'", c.sizes, c.reps, c.only)
		if c.consolidate {
			command = fmt.Sprintf("go run ./compare -consolidate -sizes %s -limit %s -only '%s'", c.sizes, c.limit, c.only)
		}
	}
	return circumstances{results.About(ctx, command), c.reps}
}

// contenders returns the names with versions, in the order of the table.
func (r *report) contenders() []string {
	var out []string
	for _, m := range r.matches {
		for _, e := range m.entries {
			if !slices.Contains(out, e.contender) {
				out = append(out, e.contender)
			}
		}
	}
	return out
}

// write writes the results to a file. Sections of the file, which other commands write, are kept.
func (r *report) write(path string) error {
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	text := r.markdown()
	if i := strings.Index(string(old), "\n## "); i >= 0 {
		text += string(old)[i:]
	} else if strings.HasPrefix(string(old), "## ") {
		text += "\n" + string(old)
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// markdown returns the results without the section about consolidation.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Results

Written by %[1]s.

[README.md](README.md) says what is measured and how. Compare figures of one run
only: machines differ, and so does one machine from hour to hour.

Contenders: %[2]s; quick is dovetail with
Options.Quick. Times are the median of %[3]d.

"Over bound" is how far the cost is above what any plan for the same pods must
cost, by the same linear programme for all; "over own" is how far it is above
the floor that the contender itself has proved. "Pods left" stay pending.

`, "`"+r.about.Command+"`", strings.Join(r.contenders(), ", "), r.about.reps)
	b.WriteString("```text\n")
	b.WriteString(r.about.Text())
	b.WriteString("\n" + head())
	for _, m := range r.matches {
		b.WriteString(m.text())
	}
	b.WriteString("```\n")
	return b.String()
}
