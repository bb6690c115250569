package policy

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// checkLinks follows the relative links of Markdown files: to files, and to
// headings within files.
func checkLinks(m *module) []finding {
	return m.eachMarkdown(func(file string, lines []string) (found []finding, _ []string) {
		for i, line := range lines {
			for _, l := range markdownLink.FindAllStringSubmatch(line, -1) {
				if why := m.broken(file, l[1]); why != "" {
					found = append(found, finding{file: file, line: i + 1, subject: file,
						message: fmt.Sprintf("link %s: %s", l[1], why)})
				}
			}
		}
		return found, nil
	})
}

// broken says what is wrong with a link in file, or nothing.
func (m *module) broken(file, link string) string {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return "" // not ours to check: tests need no network
	}
	target, heading, _ := strings.Cut(link, "#")
	name := file
	if target != "" {
		name = path.Join(path.Dir(file), target)
	}
	full := filepath.Join(m.root, filepath.FromSlash(name))
	if _, err := os.Stat(full); err != nil {
		return name + " does not exist"
	}
	if heading == "" {
		return ""
	}
	text, err := os.ReadFile(full)
	if err != nil {
		return err.Error()
	}
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "#") && anchor(line) == heading {
			return ""
		}
	}
	return name + " has no such heading"
}

var notInAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)

// anchor returns the name under which a heading can be linked to.
func anchor(heading string) string {
	text := strings.ToLower(strings.TrimSpace(strings.TrimLeft(heading, "#")))
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(text, ""), " ", "-")
}
