package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Outcome is what becomes of one side.
type Outcome struct {
	Fresh   *Fresh
	Settled *Settled
}

// Comparison is what becomes of two sides, and what differs.
type Comparison struct {
	Old, New Outcome
	// Differences are sorted by Difference.Compare; none if the sides come to the same.
	Differences []Difference
}

// Compare follows two sides of one cluster from an instant on, and says what differs. Nil
// options mean the defaults.
//
// The error is that of ctx, or joins the faults of both sides, those of the old first; or it
// lists those of the options, and names nodes and pods that only one side has, as then it is
// not one cluster.
//
// It takes as long as planning both sides from empty, and all proposals until both rest.
func Compare(ctx context.Context, now time.Time, before, after Side, opts *Options) (*Comparison, error) {
	if err := errors.Join(opts.Validate(), sameCluster(before.Input, after.Input)); err != nil {
		return nil, err
	}
	c := &Comparison{}
	var errs []error
	for _, side := range []struct {
		what string
		Side
		out *Outcome
	}{{"old", before, &c.Old}, {"new", after, &c.New}} {
		var err error
		if side.out.Fresh, err = FromEmpty(ctx, now, side.Side); err == nil {
			side.out.Settled, err = Settle(ctx, now, side.Side, opts)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("the %s side: %w", side.what, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	c.Differences = differences(now, c)
	return c, nil
}

// sameCluster names nodes and pods that only one of two inputs has.
func sameCluster(a, b disruption.Input) error {
	var errs []error
	for _, one := range []struct {
		what     string
		old, new []string
	}{{"node", namesOf(a.Nodes), namesOf(b.Nodes)}, {"pod", podsOf(a), podsOf(b)}} {
		if only := missing(one.old, one.new); len(only) > 0 {
			errs = append(errs, fmt.Errorf("the new side lacks %s %s: both sides are of one cluster", one.what, strings.Join(only, ", ")))
		}
		if only := missing(one.new, one.old); len(only) > 0 {
			errs = append(errs, fmt.Errorf("the old side lacks %s %s: both sides are of one cluster", one.what, strings.Join(only, ", ")))
		}
	}
	return errors.Join(errs...)
}

// missing are the first of those in a that are not in b, both sorted.
func missing(a, b []string) (only []string) {
	for _, name := range a {
		if _, found := slices.BinarySearch(b, name); !found {
			only = append(only, fmt.Sprintf("%q", name))
		}
		if len(only) == 3 {
			break
		}
	}
	return only
}

func namesOf(nodes []provisioning.Node) (names []string) {
	for _, n := range nodes {
		names = append(names, n.Name())
	}
	slices.Sort(names)
	return names
}

func podsOf(in disruption.Input) (names []string) {
	for _, p := range in.Pods {
		if p != nil {
			names = append(names, podName(p))
		}
	}
	for _, n := range in.Nodes {
		for _, p := range n.Pods {
			if p != nil {
				names = append(names, podName(p))
			}
		}
	}
	slices.Sort(names)
	return names
}
