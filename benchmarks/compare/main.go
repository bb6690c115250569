// Compare runs this library and Karpenter on the same scenarios, one after the other on the same
// machine, and prints the times and costs of both.
//
//	go run ./compare -sizes small -reps 3 -o RESULTS.md
//
// It generates the scenarios into a temporary directory, builds the two contenders, runs each in a
// process of its own, and judges both plans by the same code. With -consolidate the scenarios are
// clusters to consolidate. With -sweep N there are N random scenarios with many constraints, and
// only the scenarios on which this library did worse are printed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
)

// settings are the command-line flags.
type settings struct {
	sizes, only, out, keep string
	reps                   int
	consolidate            bool
	limit                  time.Duration
	sweep                  int
	seed                   uint64
}

func main() {
	var c settings
	flag.StringVar(&c.sizes, "sizes", "full", "which scenarios, separated by commas: "+strings.Join(sizeNames(), ", "))
	flag.StringVar(&c.only, "only", "", "regular expression: run only scenarios whose name matches")
	flag.IntVar(&c.reps, "reps", 3, "how often each contender solves each scenario; medians are shown")
	flag.StringVar(&c.out, "o", "", "Markdown file to write the table to; none if empty")
	flag.StringVar(&c.keep, "keep", "", "directory to leave scenarios and plans in; otherwise they are removed")
	flag.BoolVar(&c.consolidate, "consolidate", false, "have them consolidate clusters instead, until they are quiet")
	flag.DurationVar(&c.limit, "limit", 20*time.Minute, "with -consolidate: how long each may take for a cluster")
	flag.IntVar(&c.sweep, "sweep", 0, "have them answer so many random scenarios full of constraints instead")
	flag.Uint64Var(&c.seed, "seed", 1, "with -sweep: the seed of the first scenario; the others have those that follow")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, c); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c settings) error {
	if c.consolidate {
		return consolidate(ctx, c)
	}
	if c.sweep > 0 {
		return sweep(ctx, c)
	}
	specs, err := specsOf(c.sizes)
	if err != nil {
		return err
	}
	if c.reps < 1 {
		return fmt.Errorf("-reps is %d; it must be 1 or more", c.reps)
	}
	report := &report{about: about(ctx, c)}
	err = each(ctx, c, specs, report.about.Text()+"\n"+head(), func(dir string, contenders []contender, spec family.Spec) (string, []error) {
		m, err := match(ctx, dir, spec, withQuick(contenders), c.reps)
		if err != nil {
			return "", []error{err}
		}
		report.matches = append(report.matches, m)
		return m.text(), faultsOf(m.entries, func(e entry) (string, error) { return e.contender, e.fault })
	})
	if c.out != "" && len(report.matches) > 0 {
		err = errors.Join(err, report.write(c.out))
	}
	return err
}

// each builds the contenders, prints the heading, and calls one for every spec whose name matches
// -only. It prints the text that one returns.
func each(ctx context.Context, c settings, specs []family.Spec, heading string,
	one func(dir string, contenders []contender, spec family.Spec) (text string, faults []error),
) error {
	only, err := regexp.Compile(c.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	specs = slices.DeleteFunc(specs, func(s family.Spec) bool { return !only.MatchString(s.Name()) })
	if len(specs) == 0 {
		return errors.New("no scenario was run; see -only")
	}
	dir, contenders, done, err := prepared(ctx, c.keep)
	if err != nil {
		return err
	}
	defer done()
	fmt.Print(heading)
	var faults []error
	for _, spec := range specs {
		text, wrong := one(dir, contenders, spec)
		fmt.Print(text)
		for _, err := range wrong {
			faults = append(faults, fmt.Errorf("%s: %w", spec.Name(), err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(faults...)
}

// prepared returns the directory for files, the contenders, which are built there, and a function
// to call at the end.
func prepared(ctx context.Context, keep string) (dir string, contenders []contender, done func(), err error) {
	dir, done, err = directory(keep)
	if err != nil {
		return "", nil, nil, err
	}
	contenders, err = build(ctx, dir)
	if err != nil {
		done()
		return "", nil, nil, err
	}
	return dir, contenders, done, nil
}

// faultsOf returns the errors of the contenders that failed, with their names.
func faultsOf[T any](entries []T, of func(T) (contender string, fault error)) (faults []error) {
	for _, e := range entries {
		if name, fault := of(e); fault != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, fault))
		}
	}
	return faults
}

// directory returns the directory for files, and a function to call at the end. The function
// removes a temporary directory.
func directory(keep string) (dir string, done func(), err error) {
	if keep != "" {
		dir, err := filepath.Abs(keep)
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		return dir, func() {}, err
	}
	dir, err = os.MkdirTemp("", "dovetail-compare-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}
