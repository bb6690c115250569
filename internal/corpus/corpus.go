package corpus

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var mode = flag.String("plans", "", "write: rewrite the fingerprints of answers; check: compare all of them")

// Case is a problem.
type Case struct {
	// Name tells it apart. It has no space in it.
	Name string
	// Answer solves it. It may be called beside others.
	Answer func() (Answer, error)
}

// Answer is what is kept of an answer.
type Answer struct {
	Value any     // what is hashed
	Cost  float64 // in USD per hour
	Left  int     // how many pods, or nodes, are left over
	Steps int
}

// Check holds that each case has the answer that testdata/file says. Of the cases it
// solves every n-th; with -plans=check it solves all, and with -plans=write it writes
// the file.
func Check(t *testing.T, file string, every int, cases []Case) {
	t.Helper()
	file = filepath.Join("testdata", file)
	if *mode == "" {
		if runtime.GOARCH != "amd64" {
			t.Skip("the last digits of a sum are those of another processor")
		}
		cases = part(cases, every)
	}
	lines, err := solve(cases)
	if err != nil {
		t.Fatal(err)
	}
	if *mode == "write" {
		if err := write(file, lines); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("run make plans to write it: %v", err)
	}
	known := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if found := Differences(known, lines, *mode == "check"); len(found) > 0 {
		t.Errorf("%s: %d of %d answers differ; run make plans if that is meant, and say in the commit what changed\n%s",
			file, len(found), len(lines), strings.Join(found, "\n"))
	}
}

func write(file string, lines []string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o666)
}

// part is every n-th case.
func part(cases []Case, every int) (out []Case) {
	for i := 0; i < len(cases); i += every {
		out = append(out, cases[i])
	}
	return out
}

// solve returns the lines of cases, in their order.
func solve(cases []Case) ([]string, error) {
	lines, errs := make([]string, len(cases)), make([]error, len(cases))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(cases) {
					return
				}
				answer, err := cases[i].Answer()
				if err != nil {
					errs[i] = fmt.Errorf("%s: %w", cases[i].Name, err)
					continue
				}
				lines[i] = Line(cases[i].Name, answer)
			}
		})
	}
	wg.Wait()
	return lines, cmp.Or(errs...)
}

// Line is an answer as the files have it: the name of the problem, a hash, cost, what
// is left over, and steps.
func Line(name string, a Answer) string {
	return fmt.Sprintf("%s %08x %.4f %d %d", name, uint32(Hash(a.Value)), a.Cost, a.Left, a.Steps)
}

// Differences lists the lines that are not as they were, and, if these are all there
// are, those that are there no more.
func Differences(known, lines []string, all bool) (out []string) {
	was := map[string]string{}
	for _, l := range known {
		was[name(l)] = l
	}
	for _, l := range lines {
		switch before, ok := was[name(l)]; {
		case !ok:
			out = append(out, "+ "+l)
		case before != l:
			out = append(out, difference(before, l))
		}
		delete(was, name(l))
	}
	if all {
		for _, l := range known {
			if _, ok := was[name(l)]; ok {
				out = append(out, "- "+l)
			}
		}
	}
	return out
}

func name(line string) string { return line[:max(strings.IndexByte(line, ' '), 0)] }

// difference says what changed from one line to another.
func difference(before, now string) string {
	a, b := strings.Fields(before), strings.Fields(now)
	if len(a) != 5 || len(b) != 5 {
		return fmt.Sprintf("%s, was %s", now, before)
	}
	var what []string
	for i, column := range []string{"", "", "cost", "left over", "steps"} {
		if column != "" && a[i] != b[i] {
			what = append(what, fmt.Sprintf("%s %s -> %s", column, a[i], b[i]))
		}
	}
	if len(what) == 0 {
		what = []string{"the same figures, but another answer"}
	}
	return b[0] + ": " + strings.Join(what, ", ")
}
