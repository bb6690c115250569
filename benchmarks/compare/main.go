// Compare lets this library and Karpenter answer the same scenarios, one after
// the other on the same machine, and prints how each did.
//
//	go run ./compare -sizes small -reps 3 -o RESULTS.md
//
// It generates the scenarios into a temporary directory, builds the two
// contenders, runs each in a process of its own, and judges both plans by the
// same code. With -consolidate the scenarios are clusters to make smaller. With
// -sweep N they are N random ones full of constraints, and what is printed is
// where this library did worse.
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
	"strings"
	"time"
)

// settings are the flags.
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
	only, err := regexp.Compile(c.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	dir, contenders, done, err := prepared(ctx, c.keep)
	if err != nil {
		return err
	}
	defer done()
	contenders = withQuick(contenders)
	report := &report{about: about(ctx, c)}
	fmt.Print(report.about.text(), "\n", head())
	var faults []error
	for _, spec := range specs {
		if !only.MatchString(spec.Name()) {
			continue
		}
		m, err := match(ctx, dir, spec, contenders, c.reps)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", spec.Name(), err))
			if ctx.Err() != nil {
				break
			}
			continue
		}
		fmt.Print(m.text())
		report.matches = append(report.matches, m)
		for _, e := range m.entries {
			if e.fault != nil {
				faults = append(faults, fmt.Errorf("%s: %s: %w", spec.Name(), e.contender, e.fault))
			}
		}
	}
	if len(report.matches) == 0 && len(faults) == 0 {
		return errors.New("no scenario was run; see -only")
	}
	if c.out != "" {
		faults = append(faults, report.write(c.out))
	}
	return errors.Join(faults...)
}

// prepared returns where to put files, the contenders, which are built there, and what
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

// directory returns where to put files, and what to call at the end.
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
