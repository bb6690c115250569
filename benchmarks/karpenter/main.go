// Karpenter answers a scenario with Karpenter's own scheduler, imported as a
// library, and writes the plan.
//
//	go run ./karpenter -scenario S.json.gz -plan P.json.gz -reps 3
//
// It is set up as its controller would be, with default flags. The plan has three times: set-up is
// filling the cluster state and building the scheduler, solve is Scheduler.Solve, and truncate is
// the step before claims are created. The README says what was done to make the comparison fair to
// Karpenter.
//
//	go run ./karpenter -consolidate -converge -scenario S.json.gz -plan P.json.gz
//
// With -consolidate it looks for nodes to remove, as Karpenter's disruption controller does, and
// writes a proposal instead of a plan.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/karpenter"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/measure"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// contender is the name with the release of Karpenter.
var contender = "karpenter " + karpenter.Release()

// settings are the command-line flags.
type settings struct {
	scenario, plan, profile string
	reps, cpuRequests       int
	timeout                 time.Duration

	consolidate, converge bool
	final                 string
	limit                 time.Duration
}

func main() {
	var c settings
	flag.StringVar(&c.scenario, "scenario", "", "scenario to read; gzip if the name ends in .gz")
	flag.StringVar(&c.plan, "plan", "", "plan to write; none if empty")
	flag.IntVar(&c.reps, "reps", 3, "how often to solve it, from scratch each time")
	flag.IntVar(&c.cpuRequests, "cpu-requests", 1000,
		"its flag of that name, in thousandths of a CPU: it tries nodes with one worker for each CPU")
	flag.DurationVar(&c.timeout, "timeout", 15*time.Minute, "when to end a solve; a controller ends it after 1m and goes on in the next loop")
	flag.StringVar(&c.profile, "cpuprofile", "", "file for a CPU profile of all repetitions")
	flag.BoolVar(&c.consolidate, "consolidate", false, "look for nodes to remove or replace")
	flag.BoolVar(&c.converge, "converge", false, "with -consolidate: carry commands out until there is none")
	flag.StringVar(&c.final, "final", "", "with -consolidate: scenario to write, as the actions leave it")
	flag.DurationVar(&c.limit, "limit", 20*time.Minute, "with -converge: when to look no more")
	flag.Parse()
	if err := run(context.Background(), c); err != nil {
		fmt.Fprintln(os.Stderr, "karpenter:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c settings) error {
	if c.scenario == "" || c.reps < 1 || c.cpuRequests < 1 {
		return errors.New("-scenario is required, and -reps and -cpu-requests must be 1 or more")
	}
	s, err := scenario.ReadScenario(c.scenario)
	if err != nil {
		return err
	}
	if c.consolidate {
		return consolidate(ctx, c, s)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	control, err := newController(ctx, s, c.cpuRequests)
	if err != nil {
		return err
	}
	out := &scenario.Plan{Contender: contender, Scenario: s.Name}
	err = measure.Profiled(c.profile, func() error {
		for range c.reps {
			if err := control.repeat(c.timeout, out); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || c.plan == "" {
		return err
	}
	return scenario.WritePlan(c.plan, out)
}

// repeat solves the scenario once, from scratch. It appends the times to out and replaces the
// decisions there.
func (c *controller) repeat(timeout time.Duration, out *scenario.Plan) error {
	var r round
	setup, err := measure.Of(func() (err error) {
		r, err = c.prepare()
		return err
	})
	if err != nil {
		return fmt.Errorf("set-up: %w", err)
	}
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	late := false
	took, err := measure.Of(func() (err error) {
		r.results, err = r.scheduler.Solve(ctx, r.pods)
		// What was placed before the timeout is kept, as in the controller.
		if late = errors.Is(err, context.DeadlineExceeded); late {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("solve: %w", err)
	}
	r.describe(out)
	truncate, _ := measure.Of(func() error {
		r.truncate()
		return nil
	})
	out.SetupSeconds = append(out.SetupSeconds, setup.Seconds)
	out.SolveSeconds = append(out.SolveSeconds, took.Seconds)
	out.TruncateSeconds = append(out.TruncateSeconds, truncate.Seconds)
	out.AllocBytes, out.Allocs = took.Bytes, took.Allocs

	onNew, onExisting := out.Placed()
	fmt.Fprintf(os.Stderr, "%s: %d pods: %d on %d new nodes at $%.3f/h, %d on existing nodes, %d unplaced | "+
		"setup %.4fs solve %.4fs truncate %.4fs | %d kB in %d allocations\n",
		out.Scenario, len(r.pods), onNew, len(out.NewNodeClaims), r.cost(), onExisting, len(out.Errors),
		setup.Seconds, took.Seconds, truncate.Seconds, took.Bytes>>10, took.Allocs)
	if late {
		fmt.Fprintf(os.Stderr, "%s: ended by the timeout of %s\n", out.Scenario, timeout)
	}
	return nil
}
