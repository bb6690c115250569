// Command gate compares the engine of this tree with the engine of another commit: how long plans
// of the scenario families take, and what clusters cost once all proposals are carried out. This
// part of make plans-gate needs both engines at once. The rest of make plans-gate compares totals
// with recorded figures.
//
//	go -C benchmarks run ./gate -base COMMIT
//
// It builds benchmarks/dovetail of both commits, has them solve the same scenarios in turn, prints
// a table, and exits with 1 if a bound is exceeded. The shortest of all repetitions counts, because
// a busy machine can only make a repetition longer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// settings are the command-line flags.
type settings struct {
	base     string
	turns    int
	clusters string
	meanTime float64
	most     float64
}

func main() {
	var c settings
	flag.StringVar(&c.base, "base", "", "commit to compare with")
	flag.IntVar(&c.turns, "turns", 3, "how often each engine has its turn at a scenario; less for what takes long")
	flag.StringVar(&c.clusters, "clusters", "20,50,100,200,500", "numbers of nodes of the clusters to consolidate, with three seeds each; none if empty")
	flag.Float64Var(&c.meanTime, "mean-time", 1.0, "time of plans, as a share of the other engine's, in the mean; 3% more passes, as much as two equal engines may differ")
	flag.Float64Var(&c.most, "most-time", 1.1, "time of the plans of one family")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c settings) (err error) {
	if c.base == "" {
		return errors.New("-base names no commit: make plans-gate gives the one on file")
	}
	dir, err := os.MkdirTemp("", "gate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	engines, err := build(ctx, dir, c.base)
	if err != nil {
		return err
	}
	broken, err := plans(ctx, dir, engines, c)
	if err != nil {
		return err
	}
	more, err := proposals(ctx, dir, engines, c)
	if err != nil {
		return err
	}
	if broken = append(broken, more...); len(broken) > 0 {
		return fmt.Errorf("the gate is closed:\n%s", strings.Join(broken, "\n"))
	}
	return nil
}

// build returns the paths of the programs of the other commit and of this tree, in this order.
func build(ctx context.Context, dir, commit string) (engines [2]string, err error) {
	tree := filepath.Join(dir, "base")
	if out, err := exec.CommandContext(ctx, "git", "worktree", "add", "--detach", tree, commit).CombinedOutput(); err != nil {
		return engines, fmt.Errorf("git worktree add %s: %w\n%s", commit, err, out)
	}
	defer func() {
		out, failed := exec.Command("git", "worktree", "remove", "--force", tree).CombinedOutput()
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("git worktree remove: %w\n%s", failed, out))
		}
	}()
	for i, from := range []string{filepath.Join(tree, "benchmarks"), "."} {
		engines[i] = filepath.Join(dir, fmt.Sprintf("engine%d", i))
		cmd := exec.CommandContext(ctx, "go", "build", "-o", engines[i], "./dovetail")
		cmd.Dir = from
		if out, err := cmd.CombinedOutput(); err != nil {
			return engines, fmt.Errorf("go build in %s: %w\n%s", from, err, out)
		}
	}
	return engines, nil
}

// timed lists the scenarios whose plans are timed.
func timed() []family.Spec {
	return []family.Spec{
		{Family: "generic", Pods: 1000, Types: "aws"},
		{Family: "generic10", Pods: 1000, Types: "fake400"},
		{Family: "diverse", Pods: 1000, Types: "aws"},
		{Family: "diverse", Pods: 5000, Types: "fake400"},
		{Family: "preferences", Pods: 1000, Types: "fake400"},
		{Family: "constrained", Pods: 1000, Types: "aws"},
		{Family: "production", Pods: 1500, Types: "aws"},
		{Family: "production", Pods: 5000, Types: "aws"},
		{Family: "mixedexisting", Pods: 1000, Nodes: 60, Types: "aws"},
		{Family: "mixedexisting", Pods: 5000, Nodes: 500, Types: "aws"},
	}
}

// write generates a scenario and writes it to a file.
func write(dir string, spec family.Spec) (name, file string, err error) {
	s, err := family.Generate(spec)
	if err != nil {
		return "", "", err
	}
	file = filepath.Join(dir, s.Name+".json.gz")
	return s.Name, file, scenario.WriteScenario(file, s)
}

// ask runs a program on a scenario, and returns the path of its answer.
func ask(ctx context.Context, engine, file string, args ...string) (string, error) {
	answer := file + ".answer.json"
	args = append([]string{"-scenario", file, "-plan", answer}, args...)
	if out, err := exec.CommandContext(ctx, engine, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(engine), strings.Join(args, " "), err, out)
	}
	return answer, nil
}

// plans times the plans of the families.
func plans(ctx context.Context, dir string, engines [2]string, c settings) (broken []string, err error) {
	fmt.Printf("%-34s %10s %10s %7s\n", "plans, shortest of all turns", "base ms", "now ms", "ratio")
	var ratios []float64
	for _, spec := range timed() {
		spec.Seed = 1
		name, file, err := write(dir, spec)
		if err != nil {
			return nil, err
		}
		for _, quick := range []bool{false, true} {
			best, err := race(ctx, engines, file, c.turns, fmt.Sprintf("-quick=%t", quick))
			if err != nil {
				return nil, err
			}
			label := name
			if quick {
				label += "-quick"
			}
			ratio := best[1] / best[0]
			ratios = append(ratios, ratio)
			fmt.Printf("%-34s %10.2f %10.2f %7.3f\n", label, 1e3*best[0], 1e3*best[1], ratio)
			if ratio > c.most {
				broken = append(broken, fmt.Sprintf("%s takes %.2f times as long, at most %.2f times it may", label, ratio, c.most))
			}
		}
	}
	mean := 0.0
	for _, r := range ratios {
		mean += r / float64(len(ratios))
	}
	fmt.Printf("%-34s %29.3f\n\n", "mean", mean)
	if mean > c.meanTime+0.03 {
		broken = append(broken, fmt.Sprintf("plans take %.3f times as long in the mean, at most %.3f times they may", mean, c.meanTime))
	}
	return broken, nil
}

// race has both engines solve a scenario in turn, and returns the shortest time of each, in
// seconds.
func race(ctx context.Context, engines [2]string, file string, turns int, mode string) (best [2]float64, err error) {
	for turn := range turns {
		for i, engine := range engines {
			reps := "5"
			if best[i] > 0.5 {
				reps = "2"
			}
			answer, err := ask(ctx, engine, file, "-reps", reps, "-verify=false", mode)
			if err != nil {
				return best, err
			}
			p, err := scenario.ReadPlan(answer)
			if err != nil {
				return best, err
			}
			if s := slices.Min(p.SolveSeconds); turn == 0 || s < best[i] {
				best[i] = s
			}
		}
	}
	return best, nil
}

// rest is the result of consolidating a cluster.
type rest struct {
	cost, seconds float64
	moved         int
}

// proposals has both engines consolidate clusters until nothing is proposed, and compares the
// costs.
func proposals(ctx context.Context, dir string, engines [2]string, c settings) (broken []string, err error) {
	if c.clusters == "" {
		return nil, nil
	}
	fmt.Printf("%-28s %9s %9s %8s %7s %7s %8s %8s\n", "clusters at rest", "base $/h", "now $/h", "by", "moved", "now", "base s", "now s")
	var sum [2]rest
	n, by := 0, 0.0
	for _, nodes := range strings.Split(c.clusters, ",") {
		for seed := range uint64(3) {
			spec := family.Spec{Family: "consolidate", Types: "aws", Seed: seed + 1}
			if _, err := fmt.Sscan(nodes, &spec.Nodes); err != nil {
				return nil, fmt.Errorf("-clusters: %q is not a number", nodes)
			}
			name, file, err := write(dir, spec)
			if err != nil {
				return nil, err
			}
			var r [2]rest
			for i, engine := range engines {
				if r[i], err = converge(ctx, engine, file); err != nil {
					return nil, err
				}
				sum[i].cost, sum[i].moved, sum[i].seconds = sum[i].cost+r[i].cost, sum[i].moved+r[i].moved, sum[i].seconds+r[i].seconds
			}
			dearer := r[1].cost/r[0].cost - 1
			n, by = n+1, by+dearer
			fmt.Printf("%-28s %9.4f %9.4f %+7.2f%% %7d %7d %8.2f %8.2f\n", name, r[0].cost, r[1].cost, 100*dearer, r[0].moved, r[1].moved, r[0].seconds, r[1].seconds)
			if dearer > 0.01 {
				broken = append(broken, fmt.Sprintf("%s rests at %+.2f%%, at most +1%% may be", name, 100*dearer))
			}
		}
	}
	by /= float64(n)
	moves := float64(sum[1].moved)/float64(sum[0].moved) - 1
	fmt.Printf("%-28s %9.4f %9.4f %+7.2f%% %7d %7d %8.2f %8.2f\n", "sum; by is the mean", sum[0].cost, sum[1].cost, 100*by, sum[0].moved, sum[1].moved, sum[0].seconds, sum[1].seconds)
	if by > 1e-4 {
		broken = append(broken, fmt.Sprintf("clusters rest at %+.2f%% in the mean", 100*by))
	}
	if moves > 0.03 {
		broken = append(broken, fmt.Sprintf("%+.1f%% pods move, at most +3%% may", 100*moves))
	}
	if t := sum[1].seconds / sum[0].seconds; t > 1.05 {
		broken = append(broken, fmt.Sprintf("proposals take %.2f times as long, at most 1.05 times they may", t))
	}
	return broken, nil
}

func converge(ctx context.Context, engine, file string) (rest, error) {
	answer, err := ask(ctx, engine, file, "-consolidate", "-converge", "-reps", "1", "-verify=false")
	if err != nil {
		return rest{}, err
	}
	p, err := scenario.ReadProposal(answer)
	if err != nil {
		return rest{}, err
	}
	r := rest{cost: p.CostAfter}
	for _, a := range p.Actions {
		r.moved += len(a.Moves)
	}
	for _, s := range p.SolveSeconds {
		r.seconds += s
	}
	return r, nil
}
