package advice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/parallel"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Options tune Ask. The zero value, and nil, mean the defaults.
type Options struct {
	// Provisioning are the options of the engine; nil means its defaults.
	Provisioning *provisioning.Options
	// Questions is how many constraints are solved thoroughly, in addition to half as many requests
	// of workloads and a quarter as many pairs; five times as many are solved quickly. Default and
	// zero: 10.
	Questions int
	// MaxSteps bounds the work. A step is a pod to place in one question, or a pattern that the
	// engine builds for it (provisioning.Stats.Steps). The unchanged input is always solved, and
	// the last question is always finished. Quick questions end at four tenths of it, thorough ones
	// at seven, requests at nine. Default and zero: 4,000,000, some 40 seconds.
	MaxSteps int
	// Parallel is the number of questions answered at the same time, each on a goroutine. The
	// report is the same for any number. Default and zero: GOMAXPROCS of the runtime, and 4 at most.
	// 1: all on the goroutine of the caller.
	Parallel int
}

// Validate lists what is wrong with the options.
func (o *Options) Validate() error {
	if o == nil {
		return nil
	}
	var errs []error
	for _, f := range []struct {
		name  string
		value int
	}{{"Options.Questions", o.Questions}, {"Options.MaxSteps", o.MaxSteps}, {"Options.Parallel", o.Parallel}} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("%s: %d is below zero; zero means the default", f.name, f.value))
		}
	}
	return errors.Join(append(errs, o.Provisioning.Validate())...)
}

// The defaults of Options, and limits that depend on Questions.
const (
	defaultQuestions = 10
	defaultMaxSteps  = 4_000_000
	quickQuestions   = 5 // times Questions
	requestQuestions = 2 // Questions over it
	pairQuestions    = 4 // Questions over it

	quickTenths    = 4 // of MaxSteps
	thoroughTenths = 7
	requestTenths  = 9
	allTenths      = 10
	furtherParts   = 40 // MaxSteps over it is for requests beyond those of Questions
)

// Report is the answer of Ask.
type Report struct {
	// Cost is the cost of the new nodes for the unchanged input, in USD per hour, and Nodes is
	// their number. LowerBound is provisioning.Plan.LowerBound: no plan costs less.
	Cost, LowerBound float64
	Nodes            int
	// Pods is the number of pods to place. Unplaced is the provisioning.Plan.Unplaced of the
	// unchanged input: the unplaced pods, each with the reason.
	Pods     int
	Unplaced []provisioning.Unplaced
	// Prices are the constraints that cost something, one by one, dearest first: see
	// Price.Compare. Those of KindRequest are in Requests.
	Prices []Price
	// Pairs are constraints that cost more together than one by one, such as a selector of pods and
	// a requirement of a pool on the same label: removing both saves more than the sum of the
	// savings of removing each. Most expensive first.
	Pairs []Price
	// Requests say what half of the CPU and of the memory that the pods of a workload request
	// costs: see Options.Questions for how many workloads have an answer, the most expensive first;
	// the others are in NotAsked, or in Needed. Price.Worth is the price of one core or GiB.
	// Dearest first; one that costs nothing is among them.
	Requests []Price
	// Free is the number of constraints that were tested and cost nothing.
	Free int
	// Needed are constraints without which a pod that has a place would have none. There is
	// no price for them.
	Needed []Constraint
	// NotAsked are constraints without a price, because others were estimated to save more, or
	// Options.MaxSteps was used up. Sorted by Constraint.Compare, as Needed are.
	NotAsked []Constraint
	// Steps is the work done, in the unit of Options.MaxSteps.
	Steps int
}

// Ask computes the prices of the constraints of an input. In this order:
//
//  1. The input is solved unchanged, thoroughly and with provisioning.Options.Quick. The bill is
//     divided among its pods.
//  2. For constraints of NodePools, of unplaced pods, and of the most expensive workloads, the
//     bill without the constraint is computed with Quick.
//  3. The constraints with the best quick results are solved thoroughly: half of the questions
//     go to those that place further pods, half to those that save money. Questions that one half
//     does not need go to the other. Quick results are wrong by up to some percent of the bill. No
//     constraint of pods is expected to save more than these pods cost.
//  4. The requests of the most expensive workloads are treated in the same way.
//  5. If the constraints that cost nothing one by one cost something together, pairs of them are
//     solved with Quick, and the best of these thoroughly.
//
// Input.Nominated is not read. The error is that of ctx, of Options.Validate or of
// provisioning.Prepare, which lists the faults of the input; the report is nil then.
//
// It takes about as long as twice Options.Questions thorough solutions, and five times as many
// quick ones. The order of the input has no influence.
func Ask(ctx context.Context, in provisioning.Input, opts *Options) (*Report, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	a, err := newAsker(ctx, in, opts)
	if err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{a.askSingles, a.askRequests, a.askPairs} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(a.report.Needed, Constraint.Compare)
	slices.SortFunc(a.report.NotAsked, Constraint.Compare)
	return a.report, nil
}

// asker holds the state of one Ask.
type asker struct {
	in              provisioning.Input
	opts            Options
	thorough, quick *baseline
	singles         []promise // but requests, and those first that are to be asked first
	requests        []promise
	free            []Constraint // that cost nothing alone
	answers         []answer     // to thorough questions about one constraint
	report          *Report
}

func newAsker(ctx context.Context, in provisioning.Input, opts *Options) (*asker, error) {
	in.Nominated = nil
	a := &asker{in: in, report: &Report{}}
	if opts != nil {
		a.opts = *opts
	}
	a.opts.Questions, a.opts.MaxSteps = cmp.Or(a.opts.Questions, defaultQuestions), cmp.Or(a.opts.MaxSteps, defaultMaxSteps)
	a.opts.Parallel = parallel.Width(a.opts.Parallel)
	var err error
	if a.thorough, err = a.baseline(ctx, false); err != nil {
		return nil, err
	}
	if a.quick, err = a.baseline(ctx, true); err != nil {
		return nil, err
	}
	plan := a.thorough.plan
	a.report.Cost, a.report.LowerBound, a.report.Nodes = plan.Cost, plan.LowerBound, len(plan.Create)
	a.report.Pods, a.report.Unplaced = len(in.Pods), plan.Unplaced
	a.singles, a.requests = promises(in, plan)
	return a, nil
}

// askSingles asks about constraints one by one.
func (a *asker) askSingles(ctx context.Context) error {
	asked, err := a.estimate(ctx, a.singles)
	if err != nil {
		return err
	}
	asked = shared(asked, a.opts.Questions)
	err = a.each(ctx, questions{of: a.thorough, list: listed(asked),
		want: func(i int) bool { return asked[i].pays() && i < a.opts.Questions && !a.spent(thoroughTenths) },
		skip: func(i int) {
			if asked[i].pays() {
				a.report.NotAsked = append(a.report.NotAsked, asked[i].Constraint)
			} else {
				a.isFree(asked[i].Constraint)
			}
		},
		take: func(i int, x answer) {
			a.answers = append(a.answers, x)
			switch {
			case x.lost:
				a.report.Needed = append(a.report.Needed, asked[i].Constraint)
			case x.pays():
				a.report.Prices = append(a.report.Prices, x.Price)
			default:
				a.isFree(asked[i].Constraint)
			}
		}})
	slices.SortFunc(a.report.Prices, Price.Compare)
	return err
}

// shared orders sorted promises for asking: half of the first most are constraints without which
// pods find a place, half are ones that save money, as far as there are enough of each.
func shared(all []promise, most int) []promise {
	saving := 0
	for _, p := range all {
		if p.placed == 0 && p.pays() {
			saving++
		}
	}
	placing := max(most-saving, (most+1)/2)
	var first, later []promise
	for _, p := range all {
		if p.placed > 0 {
			placing--
			if placing < 0 {
				later = append(later, p)
				continue
			}
		}
		first = append(first, p)
	}
	most = min(most, len(first))
	return slices.Concat(first[:most], later, first[most:])
}

// listed returns one question for each promise: its constraint alone.
func listed(all []promise) (out [][]Constraint) {
	for _, p := range all {
		out = append(out, []Constraint{p.Constraint})
	}
	return out
}

func (a *asker) isFree(c Constraint) {
	a.report.Free++
	a.free = append(a.free, c)
}

// estimate solves without each constraint quickly, and sorts the results by placed pods and
// savings.
func (a *asker) estimate(ctx context.Context, list []promise) (out []promise, err error) {
	err = a.each(ctx, questions{of: a.quick, list: listed(list),
		want: func(i int) bool {
			return i < quickQuestions*a.opts.Questions && !a.spent(quickTenths) && !a.outdone(list[i], out)
		},
		skip: func(i int) { a.report.NotAsked = append(a.report.NotAsked, list[i].Constraint) },
		take: func(i int, x answer) {
			if x.lost {
				a.report.Needed = append(a.report.Needed, list[i].Constraint)
				return
			}
			c := list[i]
			c.placed, c.saves = len(x.Placed), min(x.Saves, c.share)
			out = append(out, c)
		}})
	slices.SortFunc(out, promise.compare)
	return out, err
}

// outdone reports whether at least Options.Questions others promise more than the constraint can.
func (a *asker) outdone(c promise, others []promise) bool {
	more := 0
	for _, o := range others {
		if o.saves >= c.share {
			more++
		}
	}
	return c.unplaced == 0 && more >= a.opts.Questions
}

// askRequests asks about the requests of workloads, the most expensive first.
func (a *asker) askRequests(ctx context.Context) error {
	err := a.each(ctx, questions{of: a.thorough, list: listed(a.requests),
		want: func(i int) bool {
			if i < max(1, a.opts.Questions/requestQuestions) {
				return !a.spent(requestTenths)
			}
			return a.report.Steps < a.opts.MaxSteps/furtherParts
		},
		skip: func(i int) { a.report.NotAsked = append(a.report.NotAsked, a.requests[i].Constraint) },
		take: func(i int, x answer) {
			if x.lost {
				a.report.Needed = append(a.report.Needed, a.requests[i].Constraint)
			} else {
				a.report.Requests = append(a.report.Requests, x.Price)
			}
		}})
	slices.SortFunc(a.report.Requests, Price.Compare)
	return err
}
