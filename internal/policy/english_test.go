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
	{"whoever", regexp.MustCompile(`(?i)\bwho(so)?ever\b`), `name who: "the caller", "a program that"`},
	{"so-many", regexp.MustCompile(`(?i)\bso many\b`), `"the given number of", or the name of the parameter`},
	{"no-say", regexp.MustCompile(`(?i)\b(has|have|had) (a|no|any) say\b`), `"affects", "is ignored"`},
	{"stands-below", regexp.MustCompile(`(?i)\bstands? (below|behind|in for)\b`), `"follows", "is printed below", "replaces", "simulates"`},
	{"told-apart", regexp.MustCompile(`(?i)\b(told|tells?|sets?) (\w+ )?apart\b`), `"distinguish"`},
	{"holds-that", regexp.MustCompile(`^ \w+ holds that\b`), `"fails the test unless"`},
	{"not-keep-from", regexp.MustCompile(`(?i)\b(does|do|did) not keep \w+( \w+)? from\b`), `say what still happens`},
	{"less", regexp.MustCompile(`(?i), less (the|those|what|some)\b`), `"minus", "except"`},
	{"is-what", regexp.MustCompile(`^ \w+ (is|are) what\b`), `begin with a noun: "X is the input of", "X has the objects that"`},
	{"function-is", nil, `begin with a verb: "returns", "reports", "adds"`},
	{"kind-is-the-kind", regexp.MustCompile(`\b(\w+) is the ((?i)\w+)\.$`), `say what it is, or leave the comment out`},
}

// functionIs is how a doc comment begins that describes a function as a thing: "name is the ...".
var functionIs = regexp.MustCompile(`^// (\w+) (?:is|are) (?:the|an?|those|that|what|how|as|of|one|so)\b`)

type riddle struct {
	name    string
	pattern *regexp.Regexp // nil for function-is: see describesFunction
	instead string
}

// count is how often a line has it. A doc comment that repeats the name, as "Kind is the kind.",
// has its two words alike.
func (r *riddle) count(line string) (n int) {
	if r.pattern == nil {
		return 0 // countRiddles counts these, because they need several lines
	}
	for _, match := range r.pattern.FindAllStringSubmatch(line, -1) {
		if len(match) < 3 || r.name != "kind-is-the-kind" || strings.EqualFold(match[1], match[2]) {
			n++
		}
	}
	return n
}

// describesFunction says whether line i begins the doc comment of a function as functionIs has it.
func describesFunction(lines []string, i int) bool {
	match := functionIs.FindStringSubmatch(lines[i])
	if match == nil || i > 0 && strings.HasPrefix(lines[i-1], "//") {
		return false
	}
	for i < len(lines) && strings.HasPrefix(lines[i], "//") {
		i++
	}
	return i < len(lines) && regexp.MustCompile(`^func (\([^)]*\) )?`+match[1]+`\b`).MatchString(lines[i])
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
		lines := strings.Split(string(text), "\n")
		generated := bytes.Contains(text, []byte("// Code generated "))
		for i, line := range lines {
			if code && !generated && describesFunction(lines, i) {
				counts["function-is"]++
				where["function-is"] = fmt.Sprintf("%s:%d", file, i+1)
			}
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
