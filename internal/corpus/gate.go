package corpus

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds are the largest allowed increases compared with the base commit, as shares: 0.001 is 0.1%.
type Bounds struct {
	Left  float64 // things left over, in sum
	Mean  float64 // cost, in sum, of the problems in which as much is left over
	Worst float64 // cost of one problem; not looked at if it is 0
}

// Figures are the answers of one file of fingerprints before a change and after it.
type Figures struct {
	Problems           int
	Faults             int // broken rules in the answers after the change
	Left, LeftBefore   int
	Fewer, More        int // problems in which less is left over after the change, and more
	Cost, CostBefore   float64
	Cheaper, Dearer    int // of the problems in which as much is left over
	Worst              float64
	WorstName          string
	Steps, StepsBefore int
	Proven             int // answers that are proven to be the best
	ProvenBefore       int
}

// record is one line of a file of fingerprints.
type record struct {
	hash        string
	cost        float64
	left, steps int
}

func parse(lines []string) map[string]record {
	out := map[string]record{}
	for _, l := range lines {
		f := strings.Fields(l)
		if len(f) != 5 {
			continue // an answer that is a text
		}
		r := record{hash: f[1]}
		r.cost, _ = strconv.ParseFloat(f[2], 64) // written by Line
		r.left, _ = strconv.Atoi(f[3])
		r.steps, _ = strconv.Atoi(f[4])
		out[f[0]] = r
	}
	return out
}

// Compare sums up the lines of a file before a change and after it. Problems that only one
// of them has are left out.
func Compare(before, after []string) Figures {
	var f Figures
	was, is := parse(before), parse(after)
	for _, line := range after {
		n := name(line)
		now, ok := is[n]
		then, known := was[n]
		if !ok || !known {
			continue
		}
		f.Problems++
		f.Left, f.LeftBefore = f.Left+now.left, f.LeftBefore+then.left
		f.Steps, f.StepsBefore = f.Steps+now.steps, f.StepsBefore+then.steps
		switch {
		case now.left < then.left:
			f.Fewer++
		case now.left > then.left:
			f.More++
		default:
			f.costs(n, then.cost, now.cost)
		}
	}
	return f
}

// costs adds a problem in which as much is left over as before.
func (f *Figures) costs(name string, before, now float64) {
	f.Cost, f.CostBefore = f.Cost+now, f.CostBefore+before
	const written = 1.1e-4 // lines have four decimals
	switch {
	case now < before-written:
		f.Cheaper++
	case now > before+written:
		f.Dearer++
	default:
		return
	}
	if by := ratio(now, before) - 1; before > 0 && by > f.Worst {
		f.Worst, f.WorstName = by, name
	}
}

func ratio(a, b float64) float64 {
	if b == 0 {
		if a == 0 {
			return 1
		}
		return 2
	}
	return a / b
}

// Breaks lists the bounds that the figures break.
func (f Figures) Breaks(b Bounds) (out []string) {
	if f.Faults > 0 {
		out = append(out, fmt.Sprintf("%d rules are broken", f.Faults))
	}
	if by := ratio(float64(f.Left), float64(f.LeftBefore)) - 1; by > b.Left {
		out = append(out, fmt.Sprintf("%+.2f%% are left over, at most %+.2f%% may", 100*by, 100*b.Left))
	}
	if by := ratio(f.Cost, f.CostBefore) - 1; by > b.Mean+1e-9 {
		out = append(out, fmt.Sprintf("cost is %+.2f%%, at most %+.2f%% may be", 100*by, 100*b.Mean))
	}
	if b.Worst > 0 && f.Worst > b.Worst {
		out = append(out, fmt.Sprintf("%s costs %+.2f%%, at most %+.2f%% may be", f.WorstName, 100*f.Worst, 100*b.Worst))
	}
	if f.Proven < f.ProvenBefore {
		out = append(out, fmt.Sprintf("%d are proven to be the best, it were %d", f.Proven, f.ProvenBefore))
	}
	return out
}

// String returns the row of the gate's table.
func (f Figures) String() string {
	return fmt.Sprintf("%5d problems, %d faults; left %d (%+d: %d fewer, %d more); cost %.4f (%+.3f%%: %d cheaper, %d dearer, worst %+.2f%% %s); steps %+.1f%%; proven %d (%+d)",
		f.Problems, f.Faults, f.Left, f.Left-f.LeftBefore, f.Fewer, f.More,
		f.Cost, 100*(ratio(f.Cost, f.CostBefore)-1), f.Cheaper, f.Dearer, 100*f.Worst, f.WorstName,
		100*(ratio(float64(f.Steps), float64(f.StepsBefore))-1), f.Proven, f.Proven-f.ProvenBefore)
}

// base is the commit that the gate compares with, and how many answers were proven to be
// the best at it, by file.
type base struct {
	commit string
	proven map[string]int
}

const baseFile = "testdata/plans/base.txt"

func readBase() (base, error) {
	text, err := os.ReadFile(baseFile)
	if err != nil {
		return base{}, fmt.Errorf("the commit to compare with: %w", err)
	}
	b := base{proven: map[string]int{}}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 2 && f[0] == "commit":
			b.commit = f[1]
		case len(f) == 3 && f[0] == "proven":
			if b.proven[f[1]], err = strconv.Atoi(f[2]); err != nil {
				return base{}, fmt.Errorf("%s: %q: %w", baseFile, line, err)
			}
		default:
			return base{}, fmt.Errorf("%s: %q is neither \"commit HASH\" nor \"proven FILE NUMBER\"", baseFile, line)
		}
	}
	return b, nil
}

func (b base) write() error {
	lines := []string{"commit " + b.commit}
	for file, n := range b.proven {
		lines = append(lines, fmt.Sprintf("proven %s %d", file, n))
	}
	slices.Sort(lines)
	return os.WriteFile(baseFile, []byte(strings.Join(lines, "\n")+"\n"), 0o666)
}

// lines returns a file under testdata as it was at the commit.
func (b base) lines(file string) ([]string, error) {
	out, err := exec.Command("git", "show", b.commit+":./"+filepath.ToSlash(filepath.Join("testdata", file))).Output()
	if err != nil {
		return nil, fmt.Errorf("git show %s:testdata/%s: %w (a shallow clone does not have it)", b.commit, file, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), nil
}
