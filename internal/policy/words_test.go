package policy

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// unwanted are words that do not belong in the repository. The patterns are
// written so that they do not match themselves.
var unwanted = []struct {
	pattern *regexp.Regexp
	where   func(file string, text []byte) bool // cheaper than the pattern
	why     string
}{
	{regexp.MustCompile(`\b(TO[D]O|FIX[M]E|XX[X])\b`), isProductCode,
		"finish it or leave it out: a promise in the code is read by nobody who could keep it"},
	{regexp.MustCompile(`(^|[^\w./-])/(work|root|home|Users)/\w`), hasPath,
		"a path of one machine means nothing on another"},
}

func isProductCode(file string, _ []byte) bool {
	return strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go")
}

// hasPath reports whether a text may have a path of the kind that is unwanted.
func hasPath(_ string, text []byte) bool {
	return slices.ContainsFunc([]string{"work", "root", "home", "Users"}, func(name string) bool {
		return bytes.Contains(text, []byte("/"+name+"/"))
	})
}

// maxText is the size above which a file is taken for data.
const maxText = 1 << 20

// checkWords looks for unwanted words in every text file.
func checkWords(m *module) (found []finding) {
	err := m.walk(func(file string) error {
		text, err := os.ReadFile(filepath.Join(m.root, file))
		if err != nil || len(text) > maxText || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		for _, u := range unwanted {
			if !u.where(file, text) {
				continue
			}
			for i, line := range strings.Split(string(text), "\n") {
				if word := u.pattern.FindString(line); word != "" {
					found = append(found, finding{file: file, line: i + 1, subject: file,
						message: fmt.Sprintf("%q: %s", strings.TrimSpace(word), u.why)})
				}
			}
		}
		return nil
	})
	if err != nil {
		found = append(found, finding{file: ".", message: err.Error()})
	}
	return found
}

// walk visits all files of the module, in order. Modules within it and hidden
// directories but .ci and .github are not part of it.
func (m *module) walk(visit func(file string) error) error {
	return filepath.WalkDir(m.root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && !d.IsDir():
			return nil // of a git worktree: it says where the repository is
		case !d.IsDir():
			return visit(m.within(path))
		case path == m.root, d.Name() == ".ci", d.Name() == ".github":
			return nil
		case strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
			return filepath.SkipDir
		}
		return nil
	})
}
