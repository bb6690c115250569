// Dovetail answers a scenario with this library and writes the plan.
//
//	go run ./dovetail -scenario S.json.gz -plan P.json.gz -reps 3
//
// Set-up is Prepare, and solve is Solve. The plan is verified, which is not timed; the exit status
// is 1 if the plan breaks a rule.
//
//	go run ./dovetail -consolidate -converge -scenario S.json.gz -plan P.json.gz
//
// With -replay N it also carries the plan out N times in a simulation, in which the kube-scheduler
// of -kubescheduler FILE binds its pods, and prints what the nodes cost in the end.
//
// With -consolidate it writes a proposal for the existing nodes instead of a plan: solve is
// disruption.Propose. With -converge it carries its proposals out until there are none.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/measure"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/snapshot"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// settings are the command-line flags.
type settings struct {
	scenario, plan, profile string
	reps                    int
	verify                  bool
	steps                   int
	noBounds, quick         bool
	replay                  int
	kubescheduler           string
	nodeCost                float64

	consolidate, converge bool
	final                 string
	limit                 time.Duration
}

func main() {
	var c settings
	flag.StringVar(&c.scenario, "scenario", "", "scenario to read; gzip if the name ends in .gz")
	flag.StringVar(&c.plan, "plan", "", "plan to write; none if empty")
	flag.IntVar(&c.reps, "reps", 3, "how often to solve it, from scratch each time")
	flag.StringVar(&c.profile, "cpuprofile", "", "file for a CPU profile of all repetitions")
	flag.BoolVar(&c.verify, "verify", true, "check the last plan, and every action, by verify.Plan")
	flag.IntVar(&c.steps, "steps", 0, "Options.MaxSteps")
	flag.BoolVar(&c.noBounds, "nobounds", false, "Options.NoBounds: leave out the proof of how cheap a plan could be")
	flag.BoolVar(&c.quick, "quick", false, "Options.Quick: pack once, by a coarse search")
	flag.IntVar(&c.replay, "replay", 0, "carry the plan out so many times as kube-scheduler would, and print what it comes to; needs -kubescheduler")
	flag.StringVar(&c.kubescheduler, "kubescheduler", "", "with -replay: the kube-scheduler, a file that kubescheduler/build MINOR FILE has made")
	flag.Float64Var(&c.nodeCost, "node-cost", 0, "what each new node costs beside its instance, in USD per hour")
	flag.BoolVar(&c.consolidate, "consolidate", false, "propose what to do with the nodes that exist")
	flag.BoolVar(&c.converge, "converge", false, "with -consolidate: carry proposals out until there is none")
	flag.StringVar(&c.final, "final", "", "with -consolidate: scenario to write, as the actions leave it")
	flag.DurationVar(&c.limit, "limit", 20*time.Minute, "with -converge: when to ask no more")
	flag.Parse()
	if err := run(c); err != nil {
		fmt.Fprintln(os.Stderr, "dovetail:", err)
		os.Exit(1)
	}
}

func run(c settings) error {
	if c.scenario == "" || c.reps < 1 {
		return errors.New("-scenario is required, and -reps must be 1 or more")
	}
	if c.replay > 0 && c.kubescheduler == "" {
		return errors.New("-replay needs -kubescheduler FILE; kubescheduler/build 1.37 FILE makes the file")
	}
	s, err := scenario.ReadScenario(c.scenario)
	if err != nil {
		return err
	}
	if c.consolidate {
		return consolidate(context.Background(), c, s)
	}
	in, err := snapshot.Input(s)
	if err != nil {
		return err
	}
	for pool, types := range in.InstanceTypes {
		in.InstanceTypes[pool] = pricing.AddNodeCost(types, func(*cloudprovider.InstanceType) float64 { return c.nodeCost })
	}
	options := snapshot.Options(s)
	options.MaxSteps, options.NoBounds, options.Quick = c.steps, c.noBounds, c.quick
	out := &scenario.Plan{Contender: contender(c.quick), Scenario: s.Name}
	var plan *provisioning.Plan
	err = measure.Profiled(c.profile, func() error {
		for range c.reps {
			if plan, err = solve(in, options, out); err != nil {
				return err
			}
			report(plan, out)
		}
		return nil
	})
	if err != nil {
		return err
	}
	describe(plan, out)
	if c.plan != "" {
		if err := scenario.WritePlan(c.plan, out); err != nil {
			return err
		}
	}
	if c.verify {
		if err := checked(in, plan, options); err != nil {
			return err
		}
	}
	if c.replay > 0 {
		return replayPlan(os.Stderr, in, plan, options, c)
	}
	return nil
}

// solve runs one repetition, and appends its times to out.
func solve(in provisioning.Input, options *provisioning.Options, out *scenario.Plan) (*provisioning.Plan, error) {
	var problem *provisioning.Problem
	var plan *provisioning.Plan
	setup, err := measure.Of(func() (err error) {
		problem, err = provisioning.Prepare(in, options)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	took, err := measure.Of(func() (err error) {
		plan, err = problem.Solve(context.Background())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("solve: %w", err)
	}
	out.SetupSeconds = append(out.SetupSeconds, setup.Seconds)
	out.SolveSeconds = append(out.SolveSeconds, took.Seconds)
	out.AllocBytes, out.Allocs = took.Bytes, took.Allocs
	return plan, nil
}

// report prints one line about a repetition.
func report(plan *provisioning.Plan, out *scenario.Plan) {
	last := len(out.SolveSeconds) - 1
	bound := 0
	for _, b := range plan.Bind {
		bound += len(b.Pods)
	}
	fmt.Fprintf(os.Stderr, "%s: %d pods, %d classes: %d new nodes at $%.3f/h (bound $%.3f, gap %.2f%%), "+
		"%d pods on existing nodes, %d unplaced | setup %.4fs solve %.4fs | %d steps, %d kB in %d allocations\n",
		out.Scenario, plan.Stats.Pods, plan.Stats.Classes, len(plan.Create), plan.Cost, plan.LowerBound, 100*plan.Gap(),
		bound, len(plan.Unplaced), out.SetupSeconds[last], out.SolveSeconds[last], plan.Stats.Steps, out.AllocBytes>>10, out.Allocs)
}

// checked prints the rules that the plan breaks, and returns an error if there are any.
func checked(in provisioning.Input, plan *provisioning.Plan, options *provisioning.Options) error {
	const shown = 10
	violations := verify.Plan(in, plan, options)
	for i, v := range violations {
		if i == shown {
			fmt.Fprintf(os.Stderr, "... and %d more\n", len(violations)-shown)
			break
		}
		fmt.Fprintln(os.Stderr, v)
	}
	if len(violations) > 0 {
		return fmt.Errorf("the plan breaks %d rules", len(violations))
	}
	return nil
}

// contender returns the name of the library, with the commit from which it was built if the build
// recorded it.
func contender(quick bool) string {
	name := "dovetail"
	if quick {
		name = "quick"
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				name += " " + s.Value[:12]
			}
		}
	}
	return name
}
