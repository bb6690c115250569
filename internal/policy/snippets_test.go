package policy

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// snippet is a block of a Markdown file whose text stands elsewhere too.
type snippet struct {
	line   int    // of the opening fence, from 1
	source string // what its marker names; empty if there is none
	first  int    // index of the first line of text
	last   int    // index of the closing fence
}

// A marker stands on the line above the fence. It names an Example, whose code
// the block is, or a file, whose text it is:
//
//	<!-- code: provisioning/example_readme_test.go ExampleSolve -->
//	<!-- text: examples/whatif/testdata/sample.txt -->
var marker = regexp.MustCompile(`^<!-- (?:code: (\S+ Example\w*)|text: (\S+)) -->$`)

// checkSnippets holds the blocks of Markdown files against their sources. A Go
// block must have one. With -update it writes the source's text there instead.
func checkSnippets(m *module) []finding {
	return m.eachMarkdown(func(file string, lines []string) (found []finding, out []string) {
		done := 0
		for _, s := range snippets(lines) {
			want, err := m.textOf(s.source)
			if err != nil {
				found = append(found, finding{file: file, line: s.line, subject: file, message: err.Error()})
				continue
			}
			if strings.Join(lines[s.first:s.last], "\n") != want && !m.updating() {
				found = append(found, finding{file: file, line: s.line, subject: file,
					message: fmt.Sprintf("the text differs from %s: run \"go test ./internal/policy -update\"", s.source)})
			}
			out = append(append(out, lines[done:s.first]...), want)
			done = s.last
		}
		if out != nil {
			out = append(out, lines[done:]...)
		}
		return found, out
	})
}

// eachMarkdown has a check look at the lines of each Markdown file. With -update the lines
// that it returns are written there, unless they are nil.
func (m *module) eachMarkdown(check func(file string, lines []string) ([]finding, []string)) (found []finding) {
	err := m.walk(func(file string) error {
		if !strings.HasSuffix(file, ".md") {
			return nil
		}
		name := filepath.Join(m.root, file)
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		faults, lines := check(file, strings.Split(string(text), "\n"))
		found = append(found, faults...)
		if lines == nil || !m.updating() {
			return nil
		}
		return os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644)
	})
	if err != nil {
		found = append(found, finding{file: ".", message: err.Error()})
	}
	return found
}

// updating says whether the files of this module are to be rewritten; those
// of the faulty module never are.
func (m *module) updating() bool { return *update && m.root != m.settings }

// snippets finds the blocks of a Markdown file that have a source, and those
// that need one.
func snippets(lines []string) (all []snippet) {
	for i := 0; i < len(lines); i++ {
		fence := strings.TrimSpace(lines[i])
		if !strings.HasPrefix(fence, "```") {
			continue
		}
		s := snippet{line: i + 1, first: i + 1}
		if i > 0 {
			if w := marker.FindStringSubmatch(lines[i-1]); w != nil {
				s.source = w[1] + w[2]
			}
		}
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "```"; i++ {
		}
		s.last = i
		if fence == "```go" || s.source != "" {
			all = append(all, s)
		}
	}
	return all
}

// textOf is what a block with the given source has to say.
func (m *module) textOf(source string) (string, error) {
	if source == "" {
		return "", errors.New("no marker above the block names an Example: <!-- code: FILE EXAMPLE -->")
	}
	file, name, _ := strings.Cut(source, " ")
	text, err := os.ReadFile(filepath.Join(m.root, filepath.FromSlash(file)))
	switch {
	case err != nil:
		return "", fmt.Errorf("%s cannot be read", file)
	case name == "":
		return strings.Trim(string(text), "\n"), nil
	}
	return exampleCode(file, name, text)
}

// exampleCode returns the body of an Example with one level of indentation taken
// off. Its Output comment stays: there the reader sees what comes out.
func exampleCode(file, name string, source []byte) (string, error) {
	if !strings.HasSuffix(file, "_test.go") {
		return "", fmt.Errorf("%s is no test file, so nothing runs its Examples", file)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, source, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != name {
			continue
		}
		if outputComment(f, fn) == nil {
			return "", fmt.Errorf("%s in %s has no Output comment, so nothing runs it", name, file)
		}
		return dedent(string(source[fset.Position(fn.Body.Lbrace).Offset+1 : fset.Position(fn.Body.Rbrace).Offset])), nil
	}
	return "", fmt.Errorf("%s has no func %s", file, name)
}

// outputComment returns the comment that makes go test run the Example and compare
// what it prints, or nil.
func outputComment(f *ast.File, fn *ast.FuncDecl) *ast.CommentGroup {
	for _, c := range f.Comments {
		text := strings.ToLower(c.Text())
		if fn.Body.Pos() < c.Pos() && c.End() < fn.Body.End() &&
			(strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:")) {
			return c
		}
	}
	return nil
}

// dedent takes one tab off each line, and empty lines off both ends.
func dedent(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(strings.TrimPrefix(l, "\t"), " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
