package policy

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// testGroup is the name in dependencies.txt that stands for all test files.
const testGroup = "tests"

// checkDependencies holds imports of other modules and go.mod against
// dependencies.txt, both ways.
func checkDependencies(m *module) (found []finding) {
	name := filepath.Join(m.settings, "dependencies.txt")
	allowed, err := tableRows(name, 3)
	if err != nil {
		return []finding{{file: m.within(name), message: err.Error()}}
	}
	for _, p := range m.packages {
		found = append(found, m.foreign(p, p.files, allowed, p.rel)...)
		found = append(found, m.foreign(p, p.tests, allowed, p.rel, testGroup)...)
	}
	for _, r := range allowed {
		if !slices.ContainsFunc(m.requires, func(q required) bool { return q.Path == r.fields[1] }) {
			found = append(found, finding{file: m.within(name), line: r.line, subject: r.fields[1],
				message: fmt.Sprintf("%s is allowed, but go.mod does not require it: delete the line", r.fields[1])})
		}
	}
	for _, q := range m.requires {
		if !q.Indirect && !slices.ContainsFunc(allowed, func(r row) bool { return r.fields[1] == q.Path }) {
			found = append(found, finding{file: "go.mod", line: m.goModLine(q.Path), subject: q.Path,
				message: fmt.Sprintf("%s is required, but no line of %s allows it", q.Path, filepath.Base(name))})
		}
	}
	return append(found, m.replaced()...)
}

// replaced finds directives of go.mod that hold in this module alone, and not for who
// requires it.
func (m *module) replaced() (found []finding) {
	text, err := os.ReadFile(filepath.Join(m.root, "go.mod"))
	if err != nil {
		return []finding{{file: "go.mod", message: err.Error()}}
	}
	for i, line := range strings.Split(string(text), "\n") {
		code, _, _ := strings.Cut(line, "//")
		fields := strings.Fields(code)
		if len(fields) > 0 && (strings.Contains(code, "=>") || fields[0] == "exclude") {
			found = append(found, finding{file: "go.mod", line: i + 1, subject: fields[0],
				message: fmt.Sprintf("%s holds here alone: who requires this module gets another build", strings.Join(fields, " "))})
		}
	}
	return found
}

// foreign reports imports from modules that no line allows to one of the
// groups that the files belong to.
func (m *module) foreign(p *pkg, files []*ast.File, allowed []row, groups ...string) (found []finding) {
	for _, spec := range p.imports(files) {
		domain, _, _ := strings.Cut(spec.path, "/")
		if m.has(spec.path) || !strings.Contains(domain, ".") {
			continue // our own, or of the standard library
		}
		target := m.moduleOf(spec.path)
		if slices.ContainsFunc(allowed, func(r row) bool {
			return r.fields[1] == target && slices.ContainsFunc(groups, func(g string) bool {
				// Test files are asked for by name only: "..." does not
				// make a test helper of every module.
				return r.fields[0] == g || g != testGroup && matches(r.fields[0], g)
			})
		}) {
			continue
		}
		file, line := m.at(spec.pos)
		found = append(found, finding{file: file, line: line, subject: p.rel + ":" + target,
			message: fmt.Sprintf("%s may not import module %s: dependencies.txt does not list it for %s",
				p.rel, target, strings.Join(groups, " or "))})
	}
	return found
}

// moduleOf returns the required module that a package belongs to, or the package
// itself where there is none.
func (m *module) moduleOf(path string) string {
	best := ""
	for _, q := range m.requires {
		if (path == q.Path || strings.HasPrefix(path, q.Path+"/")) && len(q.Path) > len(best) {
			best = q.Path
		}
	}
	if best == "" {
		return path
	}
	return best
}

// goModLine returns the line of go.mod that requires a module.
func (m *module) goModLine(path string) int {
	text, err := os.ReadFile(filepath.Join(m.root, "go.mod"))
	if err != nil {
		return 0
	}
	for i, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) > 1 && fields[0] == path {
			return i + 1
		}
	}
	return 0
}
