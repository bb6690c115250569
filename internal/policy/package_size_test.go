package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A package with more than this is not taken in at once. Packages that had more when
// the rule came are listed in large.txt with what they have; they only shrink.
const (
	maxExported = 40 // types and functions, as go doc -short lists them; public packages only

	// Of the engine, test support aside. A row "limit" of large.txt stands for another limit.
	maxLines  = 5_000
	maxMutual = 1_500 // lines of files that can all reach one another by calls: see largestMutual
)

// checkPackageSize reports packages of too many lines or exported names, and those
// of which too much hangs together. An entry of large.txt says how many more are accepted,
// and is a finding where fewer would do; -update lowers it, and never raises it.
func checkPackageSize(m *module) (found []finding) {
	name := filepath.Join(m.settings, "large.txt")
	rows, err := tableRows(name, 3)
	if err != nil {
		return []finding{{file: m.within(name), line: 1, message: err.Error()}}
	}
	used := make([]bool, len(rows))
	limits := map[string]int{"lines": maxLines, "mutual": maxMutual}
	for i, r := range rows {
		if r.fields[0] == "limit" {
			used[i] = true
			limits[r.fields[1]], _ = strconv.Atoi(r.fields[2])
		}
	}
	for _, p := range m.packages {
		file, line := m.at(p.start())
		for _, size := range append(p.sizes(), m.engineSizes(p, limits)...) {
			i := slices.IndexFunc(rows, func(r row) bool { return r.fields[0] == size.what && r.fields[1] == p.rel })
			allowed := size.most
			if i >= 0 && size.count > size.most {
				used[i] = true
				if allowed, err = strconv.Atoi(rows[i].fields[2]); err != nil {
					found = append(found, finding{file: m.within(name), line: rows[i].line, message: err.Error()})
					continue
				}
			}
			switch {
			case size.count > allowed:
				found = append(found, finding{file: file, line: line, subject: p.rel,
					message: fmt.Sprintf("%s: %d %s, at most %d: move what belongs together into a package of its own, or %s", p.rel, size.count, size.what, allowed, size.remedy)})
			case size.count < allowed && i >= 0 && used[i] && !m.updating():
				found = append(found, finding{file: m.within(name), line: rows[i].line,
					message: fmt.Sprintf("%s has %d %s: lower the line, or run \"go test ./internal/policy -update\"", p.rel, size.count, size.what)})
			case size.count < allowed && i >= 0 && used[i]:
				rows[i].fields[2] = strconv.Itoa(size.count)
			}
		}
	}
	return append(found, m.finishLarge(name, rows, used)...)
}

// finishLarge reports entries that no package needs any more, or with -update writes
// large.txt anew without them.
func (m *module) finishLarge(name string, rows []row, used []bool) (found []finding) {
	var text strings.Builder
	for i, r := range rows {
		if used[i] {
			fmt.Fprintf(&text, "%-9s %-16s %s\n", r.fields[0], r.fields[1], r.fields[2])
		} else if !m.updating() {
			found = append(found, finding{file: m.within(name), line: r.line,
				message: fmt.Sprintf("%s of %s is not needed any more: delete the line", r.fields[0], r.fields[1])})
		}
	}
	if !m.updating() {
		return found
	}
	if err := replaceRows(name, text.String()); err != nil {
		found = append(found, finding{file: m.within(name), line: 1, message: err.Error()})
	}
	return found
}

// replaceRows writes the rows of a table anew, under its head.
func replaceRows(name, rows string) error {
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var head strings.Builder
	for line := range strings.Lines(string(old)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			head.WriteString(line)
		}
	}
	return writeFile(name, head.String()+rows)
}

// packageSize is how much of something a package has, and how much it may have.
type packageSize struct {
	what        string
	count, most int
	remedy      string // beside a package of its own for what belongs together
}

// engineSizes counts the lines of a package of the engine, and those of its largest set of
// files that can all reach one another.
func (m *module) engineSizes(p *pkg, limits map[string]int) []packageSize {
	if !p.ofEngine() {
		return nil
	}
	return []packageSize{
		{"lines", m.lines(p), limits["lines"], "delete what is not needed"},
		{"mutual", m.largestMutual(p).lines, limits["mutual"], "move helpers to their noun: make measures OF=" + p.rel},
	}
}

// sizes counts the exported names of a package if it is public.
func (p *pkg) sizes() []packageSize {
	if !p.public() || p.types == nil {
		return nil
	}
	return []packageSize{{"exported", p.exported(), maxExported, "export less"}}
}
