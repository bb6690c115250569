package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/parallel"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// Outcome is the result for one side.
type Outcome struct {
	Fresh   *Fresh
	Settled *Settled
}

// Comparison is the results of two sides and their differences.
type Comparison struct {
	Old, New Outcome
	// Differences are sorted by Difference.Compare; empty if the results are equal.
	Differences []Difference
}

// FreshChange returns bounds on the difference New minus Old of the costs from empty, in USD per
// hour: for plans of least cost the difference is from atLeast to atMost. Each plan that was found
// costs at most Fresh.Cost minus Fresh.LowerBound more than the least cost, so if atLeast <= 0 <=
// atMost the search alone may explain the difference. If a pod has a place on one side only, the
// costs are for different pods. There are no such bounds for the costs at rest, because nodes that
// stay may cost more or less than any plan from empty.
func (c *Comparison) FreshChange() (atLeast, atMost float64) {
	return c.New.Fresh.LowerBound - c.Old.Fresh.Cost, c.New.Fresh.Cost - c.Old.Fresh.LowerBound
}

// Compare simulates two sides of one cluster from an instant on, and returns their differences. Nil
// options mean the defaults.
//
// The error is that of ctx, or joins the faults of both sides, those of the old first; or it lists
// those of the options, and nodes and pods that only one side has, because then the sides are
// different clusters.
//
// It takes the time of planning both sides from empty, and of all proposals until both rest; with
// two goroutines half of that.
func Compare(ctx context.Context, now time.Time, before, after Side, opts *Options) (*Comparison, error) {
	if err := errors.Join(opts.Validate(), sameCluster(before.Input, after.Input)); err != nil {
		return nil, err
	}
	c := &Comparison{}
	type question struct {
		name           string
		side           Side
		out            *Outcome
		settled, fresh error
	}
	sides := []question{{name: "old", side: before, out: &c.Old}, {name: "new", side: after, out: &c.New}}
	parallel.Each(opts.withDefaults().Parallel, 2*len(sides), func(i int) {
		if i < len(sides) {
			q := &sides[i]
			q.out.Settled, q.settled = Settle(of(ctx, q.name), now, q.side, opts)
		} else {
			q := &sides[i-len(sides)]
			q.out.Fresh, q.fresh = FromEmpty(of(ctx, q.name), now, q.side)
		}
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var errs []error
	for _, q := range sides {
		err := q.fresh // both plans find the same faults in a side
		if err == nil {
			err = q.settled
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("the %s side: %w", q.name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	c.Differences = differences(now, c)
	return c, nil
}

// of returns a context whose progress is reported as Compare's with a side.
func of(ctx context.Context, side string) context.Context {
	report := progress.From(ctx)
	if report == nil {
		return ctx
	}
	return progress.With(ctx, func(e progress.Event) {
		e.Work, e.Stage = "compare.Compare", side+" side, "+e.Stage
		report(e)
	})
}

// sameCluster returns an error for nodes and pods that only one of two inputs has.
func sameCluster(a, b disruption.Input) error {
	old, fresh := namesOf(a), namesOf(b)
	var errs []error
	for i, what := range []string{"node", "pod"} {
		errs = append(errs, lacks("new", what, old[i], fresh[i]), lacks("old", what, fresh[i], old[i]))
	}
	return errors.Join(errs...)
}

// lacks returns an error with the first names that a side does not have; both lists are sorted.
func lacks(side, what string, names, has []string) error {
	var only []string
	for _, name := range names {
		if _, found := slices.BinarySearch(has, name); !found && len(only) < 3 {
			only = append(only, fmt.Sprintf("%q", name))
		}
	}
	if len(only) == 0 {
		return nil
	}
	return fmt.Errorf("the %s side lacks %s %s: both sides are of one cluster", side, what, strings.Join(only, ", "))
}

// namesOf returns the names of the nodes and of the pods of an input, each sorted.
func namesOf(in disruption.Input) (names [2][]string) {
	pods := slices.Clone(in.Pods)
	for _, n := range in.Nodes {
		names[0] = append(names[0], n.Name())
		pods = append(pods, n.Pods...)
	}
	for _, p := range pods {
		if p != nil {
			names[1] = append(names[1], podName(p))
		}
	}
	slices.Sort(names[0])
	slices.Sort(names[1])
	return names
}
