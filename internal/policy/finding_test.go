package policy

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the API files and the code in Markdown instead of comparing them")

// finding is one place where a rule is broken.
type finding struct {
	rule    string // set by the runner
	file    string // within the module, forward slashes
	line    int
	subject string // what an exception names: file, package, package.Name or package:import
	message string // what is wrong and what to do about it
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.file, f.line, f.rule, f.message)
}

// rule checks one promise.
type rule struct {
	name  string
	check func(*module) []finding
}

var rules = []rule{
	{"compile", checkCompile},
	{"imports", checkImports},
	{"dependencies", checkDependencies},
	{"purity", checkPurity},
	{"variables", checkVariables},
	{"comments", checkComments},
	{"examples", checkExamples},
	{"files", checkFileNames},
	{"large", checkPackageSize},
	{"words", checkWords},
	{"english", checkEnglish},
	{"terms", checkTerms},
	{"habits", checkHabits},
	{"referee", checkReferee},
	{"snippets", checkSnippets},
	{"links", checkLinks},
	{"tables", checkTables},
	{"figures", checkFigures},
	{"weight", checkWeight},
	{"api", checkAPI},
}

// thisModule loads the module these tests belong to, once.
var thisModule = sync.OnceValues(func() (*module, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	return loadModule(root, filepath.Join(root, "internal", "policy", "testdata"))
})

// findings runs every rule, takes out the exceptions and reports exceptions
// that nothing needs.
func findings(t *testing.T, m *module) map[string][]finding {
	t.Helper()
	exceptions := readTable(t, filepath.Join(m.settings, "exceptions.txt"), 3)
	used := map[int]bool{}
	byRule := map[string][]finding{}
	for _, r := range rules {
		for _, f := range r.check(m) {
			f.rule = r.name
			if i := slices.IndexFunc(exceptions, func(e row) bool {
				return e.fields[0] == f.rule && e.fields[1] == f.subject
			}); i >= 0 {
				used[i] = true
				continue
			}
			byRule[r.name] = append(byRule[r.name], f)
		}
	}
	for i, e := range exceptions {
		if !used[i] && m.mayHold(e.fields[1]) {
			byRule["exceptions"] = append(byRule["exceptions"], finding{
				rule: "exceptions", file: m.within(e.file), line: e.line,
				message: fmt.Sprintf("%s %s is not needed any more: delete the line", e.fields[0], e.fields[1]),
			})
		}
	}
	return byRule
}

// mayHold says whether the package or file that subject belongs to is there,
// so that an exception for a package yet to come is not called unneeded.
func (m *module) mayHold(subject string) bool {
	dir := subject
	if i := strings.IndexAny(subject, ".:"); i >= 0 {
		dir = subject[:i]
	}
	_, err := os.Stat(filepath.Join(m.root, dir))
	if err != nil {
		_, err = os.Stat(filepath.Join(m.root, subject))
	}
	return err == nil
}

func TestPolicy(t *testing.T) {
	m, err := thisModule()
	require.NoError(t, err)
	found := findings(t, m)
	for _, name := range append(ruleNames(), "exceptions") {
		t.Run(name, func(t *testing.T) {
			for _, f := range found[name] {
				t.Error(f)
			}
		})
	}
}

func ruleNames() (names []string) {
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

// TestRulesCanFail plants faults. In testdata/faulty, a comment
//
//	want RULE: TEXT
//
// asks for exactly one finding of RULE on its line whose message contains
// TEXT; want+N is for the Nth line below. Findings nobody asked for fail too.
func TestRulesCanFail(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("testdata", "faulty"))
	require.NoError(t, err)
	m, err := loadModule(root, root)
	require.NoError(t, err)

	var got []finding
	for _, list := range findings(t, m) {
		got = append(got, list...)
	}
	wants := readWants(t, root)
	seen := map[string]bool{}
	for _, w := range wants {
		seen[w.rule] = true
		i := slices.IndexFunc(got, func(f finding) bool {
			return f.rule == w.rule && f.file == w.file && f.line == w.line && strings.Contains(f.message, w.message)
		})
		if i < 0 {
			t.Errorf("not found: %s", w)
			continue
		}
		got = slices.Delete(got, i, i+1)
	}
	slices.SortFunc(got, func(a, b finding) int { return cmp.Compare(a.String(), b.String()) })
	for _, f := range got {
		t.Errorf("not asked for: %s", f)
	}
	for _, name := range append(ruleNames(), "exceptions") {
		require.True(t, seen[name], "no fault is planted for rule %s", name)
	}
}

var wantComment = regexp.MustCompile(`want(\+\d+)? ([a-z]+): (.+?)(?: -->)?$`)

// readWants collects the want comments of all files below root.
func readWants(t *testing.T, root string) (wants []finding) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		for i, line := range strings.Split(string(text), "\n") {
			if w := wantComment.FindStringSubmatch(line); w != nil {
				offset, _ := strconv.Atoi(w[1])
				wants = append(wants, finding{
					rule: w[2], file: filepath.ToSlash(rel), line: i + 1 + offset, message: w[3],
				})
			}
		}
		return err
	})
	require.NoError(t, err)
	return wants
}

// row is a line of a table file.
type row struct {
	file   string
	line   int
	fields []string
}

// readTable reads lines of a fixed number of fields, the last of which is
// running text. Empty lines and those that start with # are skipped. A file
// that is not there is an empty table.
func readTable(t *testing.T, name string, fields int) []row {
	t.Helper()
	rows, err := tableRows(name, fields)
	require.NoError(t, err)
	return rows
}

func tableRows(name string, fields int) ([]row, error) {
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	var rows []row
	scanner := bufio.NewScanner(f)
	for line := 1; scanner.Scan(); line++ {
		text := strings.TrimSpace(scanner.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		r := row{file: name, line: line}
		for len(r.fields) < fields-1 {
			word, rest, _ := strings.Cut(text, " ")
			r.fields = append(r.fields, word)
			text = strings.TrimSpace(rest)
		}
		if text == "" {
			return nil, fmt.Errorf("%s:%d: %d fields wanted, the last being the reason", name, line, fields)
		}
		r.fields = append(r.fields, text)
		rows = append(rows, r)
	}
	return rows, scanner.Err()
}
