// Day plays the life of a cluster in virtual time with node autoscalers, and reports three figures:
// the bill, compared with the cost of plans from empty; evictions; and how long pods waited.
//
//	go run ./day -trace churn -only dovetail
//
// Pods are bound by kube-scheduler's own plugins, in a separate program. Building that program the
// first time takes some minutes. See package life for how the figures are made.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/karpenter"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/measure"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/results"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/traces"
	"github.com/dovetail-sdk/dovetail/internal/kubescheduler"
)

// settings are the command-line flags.
type settings struct {
	traces, only  string
	seed, seeds   uint64
	score         float64
	halve         time.Duration
	kubescheduler string
	profile       string
	verbose       bool

	frontier, results string // output files; empty writes none

	limit time.Duration // upper bound on the simulated time measured in each trace; 0 means no bound

	pods  string // CSV file of the pods of the trace "pods"
	from  int64
	hours float64
}

func main() {
	var c settings
	flag.StringVar(&c.traces, "trace", "two-days,churn", "traces to play, separated by commas: "+strings.Join(traces.Names(), ", ")+", pods")
	flag.DurationVar(&c.limit, "limit", 0, "play no more than this of each trace, such as 12h")
	flag.StringVar(&c.pods, "pods", "", "CSV file of pods with their times, for the trace \"pods\"; see family.Trace")
	flag.Int64Var(&c.from, "from", 0, "with -pods: the second of the file at which the trace begins")
	flag.Float64Var(&c.hours, "hours", 24, "with -pods: how long the trace is")
	flag.StringVar(&c.only, "only", "", "the contender to play with; all if empty")
	flag.Uint64Var(&c.seed, "seed", 1, "decides all that is chance")
	flag.Uint64Var(&c.seeds, "seeds", 1, "play with so many seeds, from -seed on, and report the means")
	flag.Float64Var(&c.score, "score", 0, "MinimumScore of Dovetail; 0 is its default, below 0 is none")
	flag.DurationVar(&c.halve, "halve", 0, "HalveScoreAfter of Dovetail, such as 10m; 0 is never")
	flag.StringVar(&c.kubescheduler, "kubescheduler", "", "the program of kubescheduler/build; if empty it is built once and kept in the cache of the user; \"none\" binds pods to the fullest node instead")
	flag.StringVar(&c.profile, "cpuprofile", "", "file for a CPU profile")
	flag.StringVar(&c.frontier, "frontier", "", "play each contender with several settings, and write a picture of bill and evictions to this SVG file")
	flag.StringVar(&c.results, "o", "", "file of results whose section to rewrite")
	flag.BoolVar(&c.verbose, "v", false, "print what the contenders do to standard error")
	flag.Parse()
	if err := measure.Profiled(c.profile, func() error { return run(context.Background(), c, os.Stdout) }); err != nil {
		fmt.Fprintln(os.Stderr, "day:", err)
		os.Exit(1)
	}
}

// contender is an autoscaler with a name and a setting.
type contender struct {
	name, setting string            // setting says what differs from the defaults
	start         func() life.Start // makes the Start of one play
}

// contenders returns the contenders that the flags ask for. With -frontier each contender has
// several settings: Dovetail values of MinimumScore, Karpenter its consolidation policies.
func (c settings) contenders() (all []contender, err error) {
	scores, policies := []float64{c.score}, []karpenterv1.ConsolidationPolicy{""}
	if c.frontier != "" {
		scores = []float64{-1, 0.25, 0.5, 0.75, 1, 1.5, 2}
		policies = []karpenterv1.ConsolidationPolicy{karpenterv1.ConsolidationPolicyWhenEmptyOrUnderutilized, karpenterv1.ConsolidationPolicyBalanced, karpenterv1.ConsolidationPolicyWhenEmpty}
	}
	if c.only == "" || c.only == "dovetail" {
		for _, score := range scores {
			setting := ""
			if score != 0 {
				setting = fmt.Sprint(score)
			}
			all = append(all, contender{"dovetail", setting, func() life.Start { return startDovetail(score, c.halve, c.verbose) }})
		}
	}
	if c.only == "" || c.only == "karpenter" {
		for _, policy := range policies {
			all = append(all, contender{"karpenter", string(policy), func() life.Start { return karpenter.New(policy) }})
		}
	}
	if len(all) == 0 {
		err = fmt.Errorf("there is no contender %q: choose dovetail or karpenter", c.only)
	}
	return all, err
}

func run(ctx context.Context, c settings, out io.Writer) error {
	all, err := c.contenders()
	if err != nil {
		return err
	}
	program, err := c.scheduler(ctx)
	if err != nil {
		return err
	}
	if program != nil {
		defer func() { _ = program.Close() }() // all answers have been read
	}
	var rows []row
	for name := range strings.SplitSeq(c.traces, ",") {
		for _, one := range all {
			var plays []*life.Figures
			for seed := c.seed; seed < c.seed+max(1, c.seeds); seed++ {
				figures, err := c.play(ctx, name, seed, one, program)
				if err != nil {
					return fmt.Errorf("trace %s, %s, seed %d: %w", name, one.name, seed, err)
				}
				plays = append(plays, figures)
			}
			rows = append(rows, row{name, one.name, one.setting, life.Mean(plays)})
		}
	}
	return c.write(ctx, rows, out)
}

// play plays a trace with a contender. program may be nil: see life.Play.
func (c settings) play(ctx context.Context, name string, seed uint64, one contender, program *kubescheduler.Program) (*life.Figures, error) {
	t, err := c.trace(name, seed)
	if err != nil {
		return nil, err
	}
	var scheduler life.Scheduler
	if program != nil {
		scheduler = &life.KubeScheduler{Program: program, Seed: seed}
	}
	began := time.Now()
	figures, err := life.Play(ctx, t, one.start(), scheduler)
	if err == nil {
		fmt.Fprintf(os.Stderr, "%s, %s %s, seed %d: played in %.1f s\n", name, one.name, one.setting, seed, time.Since(began).Seconds())
	}
	return figures, err
}

// trace returns a new trace of that name, because a play uses its trace up. The flag -limit
// shortens it.
func (c settings) trace(name string, seed uint64) (*life.Trace, error) {
	t, err := c.whole(name, seed)
	if err == nil && c.limit > 0 {
		t.Length = min(t.Length, c.limit)
	}
	return t, err
}

// whole returns a trace in its full length.
func (c settings) whole(name string, seed uint64) (*life.Trace, error) {
	if name != "pods" {
		return traces.New(name, seed)
	}
	file, err := os.Open(c.pods)
	if err != nil {
		return nil, fmt.Errorf("-pods: %w", err)
	}
	defer file.Close()
	return traces.FromPods(file, c.from, time.Duration(c.hours*float64(time.Hour)).Round(time.Hour/6), seed)
}

// write prints the table, and writes the output files that the flags name.
func (c settings) write(ctx context.Context, rows []row, out io.Writer) error {
	if _, err := io.WriteString(out, table(rows)); err != nil {
		return err
	}
	if c.frontier != "" {
		if err := os.WriteFile(c.frontier, []byte(frontier(rows)), 0o644); err != nil {
			return err
		}
	}
	if c.results == "" {
		return nil
	}
	return results.WriteSection(c.results, title, section(results.About(ctx, c.command()), rows, c.frontier))
}

// command returns the command line that reproduces the results.
func (c settings) command() string {
	text := fmt.Sprintf("go run ./day -trace %s -seed %d", c.traces, c.seed)
	if c.seeds > 1 {
		text += fmt.Sprintf(" -seeds %d", c.seeds)
	}
	if c.pods != "" {
		text += fmt.Sprintf(" -pods %s -from %d -hours %v", filepath.Base(c.pods), c.from, c.hours)
	}
	if c.limit > 0 {
		text += " -limit " + c.limit.String()
	}
	if c.only != "" {
		text += " -only " + c.only
	}
	if c.score != 0 {
		text += fmt.Sprintf(" -score %v", c.score)
	}
	if c.halve != 0 {
		text += " -halve " + c.halve.String()
	}
	if c.frontier != "" {
		text += " -frontier " + c.frontier
	}
	if c.kubescheduler == "none" {
		text += " -kubescheduler none"
	}
	return text + " -o " + c.results
}

// minor is the Kubernetes minor version of the kube-scheduler that binds pods.
const minor = "1.37"

// scheduler starts kube-scheduler, after building it if necessary. It returns nil if the flag is
// "none".
func (c settings) scheduler(ctx context.Context) (*kubescheduler.Program, error) {
	switch c.kubescheduler {
	case "none":
		return nil, nil
	case "":
	default:
		return kubescheduler.Start(ctx, c.kubescheduler)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(cache, "dovetail", "kube-scheduler-"+minor)
	if _, err := os.Stat(file); err == nil {
		return kubescheduler.Start(ctx, file)
	}
	fmt.Fprintf(os.Stderr, "building kube-scheduler %s, once, as %s\n", minor, file)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, filepath.Join("kubescheduler", "build"), minor, file)
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return nil, errors.Join(err, errors.New("run it in the directory benchmarks, or name a program with -kubescheduler"))
	}
	return kubescheduler.Start(ctx, file)
}
