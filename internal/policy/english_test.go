package policy

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// riddles are words and turns at which strangers stopped when they read comments for the
// first time, each with what to write. The name of a row is in english.txt, with how often it
// is still there.
var riddles = []riddle{
	{"beside", regexp.MustCompile(`(?i)\bbeside\b`), `"next to" for a place, "in addition to" or "as well as" otherwise`},
	{"of-late", regexp.MustCompile(`(?i)\bof late\b`), `"recently"`},
	{"but-for", regexp.MustCompile(`(?i)\bbut for\b`), `"except"`},
	{"no-more", regexp.MustCompile(`(?i)\bis no more\b|\bno more is\b`), `"is gone", "no longer"`},
	{"what-becomes", regexp.MustCompile(`(?i)\bwhat(ever)? (it |they |the \w+ )?becomes?\b|\bbecomes of\b`), `name the change: "after the move", "whichever option is launched"`},
	{"what-comes", regexp.MustCompile(`(?i)\bwhat comes of\b|\bcomes? to nothing\b|\bcame to\b`), `name the result`},
	{"as-ever", regexp.MustCompile(`(?i)\bas (many|much|few) as ever\b|\bso many looks\b`), `give the number, or the name of the limit`},
	{"let-in", regexp.MustCompile(`(?i)\blets? (one|it|them|some pod|a pod|pods|nobody|somebody)?( more)? ?in(to)?\b`), `"admit", "allow"`},
	{"keeps-out", regexp.MustCompile(`(?i)\b(keeps?|kept) (it|them|pods|others|nobody)? ?out\b`), `"exclude"`},
	{"nobody", regexp.MustCompile(`(?i)\b(nobody|somebody|anybody|everybody)\b`), `name who: "no pod", "a caller"`},
	{"lean", regexp.MustCompile(`(?i)\b(leans?|leant)\b`), `"rely on"`},
	{"homeless", regexp.MustCompile(`(?i)\bhomeless\b`), `"unplaced"`},
	{"hopeless", regexp.MustCompile(`(?i)\bhopeless\b`), `"unplaceable"`},
	{"manner", regexp.MustCompile(`(?i)\bmanners?\b`), `"mode"`},
	{"landing", regexp.MustCompile(`(?i)\blandings?\b`), `"placement", "the order in which pods are bound"`},
	{"settled", regexp.MustCompile(`(?i)\bsettled?\b`), `what is known, decided or done, by its own verb`},
	{"duty", regexp.MustCompile(`(?i)\b(duty|duties)\b`), `"the rules of a class"`},
	{"brief", regexp.MustCompile(`(?i)\bbriefs?\b`), `"question", "input"`},
	{"company", regexp.MustCompile(`(?i)\b(company|companies)\b`), `"pods on the same node"`},
	{"seat", regexp.MustCompile(`(?i)\bseats?\b`), `"count", "place"`},
	{"heard", regexp.MustCompile(`(?i)\bheard\b`), `"received", "read"`},
	{"kind-is-the-kind", regexp.MustCompile(`\b(\w+) is the ((?i)\w+)\.$`), `say what it is, or leave the comment out`},
}

type riddle struct {
	name    string
	pattern *regexp.Regexp
	instead string
}

// count is how often a line has it. A doc comment that repeats the name, as "Kind is the kind.",
// has its two words alike.
func (r *riddle) count(line string) (n int) {
	for _, match := range r.pattern.FindAllStringSubmatch(line, -1) {
		if len(match) < 3 || r.name != "kind-is-the-kind" || strings.EqualFold(match[1], match[2]) {
			n++
		}
	}
	return n
}

// checkEnglish counts riddles in Go files and Markdown, tests and the CHANGELOG aside. Each may
// be there as often as english.txt says, which only goes down; -update lowers it.
func checkEnglish(m *module) (found []finding) {
	name := filepath.Join(m.settings, "english.txt")
	rows, err := tableRows(name, 2)
	if err != nil {
		return []finding{{file: m.within(name), line: 1, message: err.Error()}}
	}
	counts, first, err := m.countRiddles()
	if err != nil {
		return []finding{{file: ".", message: err.Error()}}
	}
	var text strings.Builder
	for _, r := range riddles {
		allowed, line := 0, 1
		if i := slices.IndexFunc(rows, func(row row) bool { return row.fields[0] == r.name }); i >= 0 {
			line = rows[i].line
			if allowed, err = strconv.Atoi(rows[i].fields[1]); err != nil {
				found = append(found, finding{file: m.within(name), line: line, message: err.Error()})
			}
		}
		count := counts[r.name]
		switch {
		case count > allowed:
			found = append(found, finding{file: m.within(name), line: line, subject: r.name,
				message: fmt.Sprintf("%s: %d uses, %d allowed; write %s; one is at %s", r.name, count, allowed, r.instead, first[r.name])})
		case count < allowed && !m.updating():
			found = append(found, finding{file: m.within(name), line: line, subject: r.name,
				message: fmt.Sprintf("%s: %d uses are left: lower the line, or run \"go test ./internal/policy -update\"", r.name, count)})
		}
		if n := min(count, allowed); n > 0 {
			fmt.Fprintf(&text, "%-17s %d\n", r.name, n)
		}
	}
	if m.updating() {
		if err := replaceRows(name, text.String()); err != nil {
			found = append(found, finding{file: m.within(name), line: 1, message: err.Error()})
		}
	}
	return found
}

// countRiddles counts riddles by name, and says where the last use of each is.
func (m *module) countRiddles() (counts map[string]int, where map[string]string, err error) {
	counts, where = map[string]int{}, map[string]string{}
	err = m.walk(func(file string) error {
		prose := strings.HasSuffix(file, ".md") && file != "CHANGELOG.md"
		code := strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go")
		if !prose && !code || strings.Contains(file, "testdata/") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(m.root, file))
		if err != nil || len(text) > maxText || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if code {
				_, comment, has := strings.Cut(line, "//")
				if !has {
					continue
				}
				line = comment
			}
			for _, r := range riddles {
				if n := r.count(line); n > 0 {
					counts[r.name] += n
					where[r.name] = fmt.Sprintf("%s:%d", file, i+1)
				}
			}
		}
		return nil
	})
	return counts, where, err
}
