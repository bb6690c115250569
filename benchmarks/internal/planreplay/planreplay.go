package planreplay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/kubescheduler"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

const (
	defaultRuns   = 8
	defaultRounds = 10
)

// Options says how plans are carried out.
type Options struct {
	// Scheduler binds the pods. Required.
	Scheduler *kubescheduler.Program

	// Engine is what the plan was made with. Later rounds are planned with it too.
	Engine *provisioning.Options

	// Reserved keeps each new node for the pods that the plan has for it, until all
	// of them are bound.
	Reserved bool

	// Runs is the number of orders in which nodes come up. Default and zero: 8. The
	// first has all nodes at once, the second has them one by one as in Plan.Create,
	// the third from its end; the others are shuffled. More than 16 nodes come up
	// in 16 groups.
	Runs int

	// Rounds is how often pods that are left are planned for, at most. Default and
	// zero: 10.
	Rounds int
}

// Report says what became of a plan.
type Report struct {
	// Planned is what the plan costs on paper, in USD per hour: Plan.Cost.
	Planned float64

	// Runs are what became of it in each order of arrival. Never empty.
	Runs []Run
}

// Run is one way in which a plan was carried out.
type Run struct {
	// Nodes were launched, and cost Cost in USD per hour, in all rounds together.
	Nodes int
	Cost  float64

	// Rounds is how often pods were left over and planned for again.
	Rounds int

	// Elsewhere counts the pods that were bound to another node than the plan
	// had for them.
	Elsewhere int

	// Left are the pods that are pending in the end though the plan had a place for
	// them, sorted by namespace and name.
	Left []*corev1.Pod
}

// Expected is the mean of what the runs cost, in USD per hour.
func (r *Report) Expected() float64 {
	sum := 0.0
	for i := range r.Runs {
		sum += r.Runs[i].Cost
	}
	return sum / float64(len(r.Runs))
}

// Worst is what the dearest run costs, in USD per hour.
func (r *Report) Worst() float64 {
	return slices.MaxFunc(r.Runs, func(a, b Run) int { return cmp.Compare(a.Cost, b.Cost) }).Cost
}

// Plan carries out a plan for in, which keeps the rules of verify.Plan, and
// reports what becomes of it. Input.Buffers are left out: no pods stand behind
// them.
//
// The error is about options that make no sense, about a later round that cannot be
// planned (see provisioning.Solve), kube-scheduler's, or ctx's. Time grows with runs times
// arrivals times pending pods times nodes.
func Plan(ctx context.Context, in provisioning.Input, plan *provisioning.Plan, opts Options) (*Report, error) {
	if plan == nil {
		return nil, errors.New("there is no plan to replay: it is nil")
	}
	o, err := opts.complete()
	if err != nil {
		return nil, err
	}
	in = kubescheduler.Started(in)
	in.Buffers = nil
	report := &Report{Planned: plan.Cost}
	for number := range o.Runs {
		run, err := carryOut(ctx, in, plan, &o, number)
		if err != nil {
			return nil, fmt.Errorf("run %d: %w", number, err)
		}
		report.Runs = append(report.Runs, run)
	}
	return report, nil
}

// complete fills in the defaults. The error joins all faults.
func (o Options) complete() (Options, error) {
	var faults []error
	if o.Scheduler == nil {
		faults = append(faults, errors.New("planreplay.Options.Scheduler is nil: start a program of benchmarks/kubescheduler"))
	}
	if o.Runs < 0 {
		faults = append(faults, fmt.Errorf("planreplay.Options.Runs is %d: give the number of orders to try, or 0 for %d", o.Runs, defaultRuns))
	}
	if o.Rounds < 0 {
		faults = append(faults, fmt.Errorf("planreplay.Options.Rounds is %d: give the most rounds to plan, or 0 for %d", o.Rounds, defaultRounds))
	}
	o.Runs, o.Rounds = cmp.Or(o.Runs, defaultRuns), cmp.Or(o.Rounds, defaultRounds)
	return o, errors.Join(faults...)
}
