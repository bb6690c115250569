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

	// Engine has the options with which the plan was made. Later rounds use them too.
	Engine *provisioning.Options

	// Reserved keeps each new node for the pods that the plan has for it, until all
	// of them are bound.
	Reserved bool

	// Runs is the number of orders in which nodes come up. Default and zero: 8. In the first all
	// nodes come up at once, in the second one by one as in Plan.Create, in the third in reverse;
	// the others are shuffled. More than 16 nodes come up in 16 groups.
	Runs int

	// Rounds is the maximum number of times that remaining pods are planned for. Default and zero:
	// 10.
	Rounds int
}

// Report has the results of carrying out a plan.
type Report struct {
	// Planned is the cost of the plan, in USD per hour: Plan.Cost.
	Planned float64

	// Runs has the result for each order of arrival. It is never empty.
	Runs []Run
}

// Run is the result of carrying out a plan once.
type Run struct {
	// Nodes is the number of launched nodes, and Cost their price in USD per hour, in all rounds
	// together.
	Nodes int
	Cost  float64

	// Rounds is the number of times that remaining pods were planned for.
	Rounds int

	// Elsewhere is the number of pods that were bound to another node than the planned one.
	Elsewhere int

	// Left are the pods that are pending at the end although the plan had a place for them, sorted
	// by namespace and name.
	Left []*corev1.Pod
}

// Expected returns the mean cost of the runs, in USD per hour.
func (r *Report) Expected() float64 {
	sum := 0.0
	for i := range r.Runs {
		sum += r.Runs[i].Cost
	}
	return sum / float64(len(r.Runs))
}

// Worst returns the cost of the dearest run, in USD per hour.
func (r *Report) Worst() float64 {
	return slices.MaxFunc(r.Runs, func(a, b Run) int { return cmp.Compare(a.Cost, b.Cost) }).Cost
}

// Plan carries out a plan for in, and reports the results. The plan must satisfy verify.Plan.
// Input.Buffers are ignored, because no pods exist for them.
//
// It returns an error if the options are invalid, if a later round cannot be planned (see
// provisioning.Solve), if kube-scheduler fails, or if ctx ends. Time grows with runs times arrivals
// times pending pods times nodes.
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

// complete returns the options with their defaults. The error joins all faults.
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
