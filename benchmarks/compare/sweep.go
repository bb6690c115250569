package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/judge"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/replay"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// dearer is the ratio to Karpenter's cost up to which two costs count as equal.
const dearer = 1.01

// verdict is the judgement of one plan of a sweep.
type verdict struct {
	valid      int     // pods whose placement breaks no rule
	cost       float64 // USD per hour
	broken     string  // the first broken rule; empty if none
	overlooked string  // the first pod that was left pending although a place exists; empty if none
}

// round is one scenario of a sweep with both verdicts, and an explanation if ours is worse.
type round struct {
	name, why  string
	ours, them verdict
}

// sweepSpec returns the scenario of a seed. Two in three are small, and one in two has nodes.
func sweepSpec(seed uint64) family.Spec {
	spec := family.Spec{Family: "constrained", Types: "aws", Pods: 30, Seed: seed}
	if seed%3 == 0 {
		spec.Pods = 120
	}
	if seed%2 == 0 {
		spec.Nodes = 1 + int(seed/2)%(spec.Pods/8)
	}
	return spec
}

// sweep prints a line for each scenario on which this library did worse than Karpenter or broke a
// rule, and then the totals.
func sweep(ctx context.Context, c settings) error {
	dir, contenders, done, err := prepared(ctx, c.keep)
	if err != nil {
		return err
	}
	defer done()
	var sum tally
	var faults []error
	for i := range c.sweep {
		r, err := sweepOne(ctx, dir, sweepSpec(c.seed+uint64(i)), contenders)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		sum.add(r)
		fmt.Print(r.text())
	}
	fmt.Print(sum.text())
	return errors.Join(append(faults, ctx.Err())...)
}

// sweepOne runs both contenders on a scenario. The files of a scenario are removed if nothing is
// wrong.
func sweepOne(ctx context.Context, dir string, spec family.Spec, contenders []contender) (round, error) {
	s, err := family.Generate(spec)
	if err != nil {
		return round{}, err
	}
	r := round{name: s.Name}
	t, err := pose(dir, s.Name, s)
	if err != nil {
		return r, fmt.Errorf("%s: %w", s.Name, err)
	}
	for _, c := range contenders {
		v, err := t.answered(ctx, c)
		if err != nil {
			return r, fmt.Errorf("%s: %s: %w", s.Name, c.name, err)
		}
		if c.name == "dovetail" {
			r.ours = v
		} else {
			r.them = v
		}
	}
	switch {
	case r.fewer(), r.dearer():
		r.why = whyWorse(ctx, dir, s, contenders[0], r)
	case r.text() == "":
		for _, end := range []string{"json.gz", "dovetail.json.gz", "karpenter.json.gz"} {
			_ = os.Remove(filepath.Join(dir, s.Name+"."+end))
		}
	}
	return r, nil
}

// task is a scenario for the contenders, with the judges of their plans.
type task struct {
	file    string // path of the scenario, without .json.gz
	judge   *judge.Judge
	cluster *replay.Cluster
}

// pose writes a scenario to a file and prepares its judges.
func pose(dir, name string, s *scenario.Scenario) (*task, error) {
	t := &task{file: filepath.Join(dir, name)}
	if err := scenario.WriteScenario(t.file+".json.gz", s); err != nil {
		return nil, err
	}
	var err error
	if t.judge, err = judge.New(s); err != nil {
		return nil, err
	}
	t.cluster, err = replay.New(s)
	return t, err
}

// answered runs a contender on the task, and judges the plan.
func (t *task) answered(ctx context.Context, c contender) (v verdict, err error) {
	plan := t.file + "." + c.name + ".json.gz"
	// A plan that breaks a rule makes the contender fail, but is judged all the same.
	failed := c.answer(ctx, t.file+".json.gz", plan, 1)
	p, err := scenario.ReadPlan(plan)
	if err != nil {
		return v, errors.Join(failed, err)
	}
	valid, broken, overlooked, err := t.cluster.JudgePlan(p)
	if err != nil {
		return v, err
	}
	v.valid = valid
	if len(broken) > 0 {
		v.broken = broken[0].String()
	}
	if len(overlooked) > 0 {
		v.overlooked = overlooked[0].String()
	}
	v.cost, err = t.judge.Cost(p)
	return v, err
}

// wishes lists the features that can justify a higher cost or fewer placed pods, each with a
// function that removes it from a scenario.
func wishes() []wish {
	return []wish{
		{"weights", func(s *scenario.Scenario) { eachPool(s, func(p *v1.NodePool) { p.Spec.Weight = nil }) }},
		{"limits", func(s *scenario.Scenario) { eachPool(s, func(p *v1.NodePool) { p.Spec.Limits = nil }) }},
		{"minValues", func(s *scenario.Scenario) {
			eachPool(s, func(p *v1.NodePool) {
				for i := range p.Spec.Template.Spec.Requirements {
					p.Spec.Template.Spec.Requirements[i].MinValues = nil
				}
			})
		}},
		{"preferences", func(s *scenario.Scenario) { s.Options.PreferencePolicy = "Ignore" }},
		{"priorities", func(s *scenario.Scenario) {
			for i, pod := range s.Pods {
				s.Pods[i] = pod.DeepCopy()
				s.Pods[i].Spec.Priority = nil
			}
		}},
	}
}

type wish struct {
	name     string
	leaveOut func(*scenario.Scenario)
}

func eachPool(s *scenario.Scenario, change func(*v1.NodePool)) {
	for i, p := range s.NodePools {
		s.NodePools[i] = p.DeepCopy()
		change(s.NodePools[i])
	}
}

// whyWorse lists each feature without which this library does as well as Karpenter did with all
// features.
func whyWorse(ctx context.Context, dir string, s *scenario.Scenario, ours contender, r round) string {
	var out []string
	for _, w := range wishes() {
		without := *s
		without.NodePools, without.Pods = slices.Clone(s.NodePools), slices.Clone(s.Pods)
		w.leaveOut(&without)
		t, err := pose(dir, "without", &without)
		if err != nil {
			continue
		}
		if r.ours, err = t.answered(ctx, ours); err == nil && !r.fewer() && !r.dearer() {
			out = append(out, w.name)
		}
	}
	if len(out) == 0 {
		return "none of its wishes says so"
	}
	return "not without " + strings.Join(out, ", nor without ")
}

// fewer reports whether this library placed fewer pods validly than Karpenter. dearer reports
// whether it placed as many at a cost more than one percent higher.
func (r *round) fewer() bool { return r.ours.valid < r.them.valid }
func (r *round) dearer() bool {
	return r.ours.valid == r.them.valid && r.ours.cost > dearer*r.them.cost
}

// text returns a line about what is wrong with the round; empty if nothing is.
func (r *round) text() string {
	var out []string
	if r.fewer() {
		out = append(out, "fewer")
	}
	if r.dearer() {
		out = append(out, fmt.Sprintf("dearer by %.1f%%", 100*(r.ours.cost/r.them.cost-1)))
	}
	if r.ours.broken != "" {
		out = append(out, "faulty: "+r.ours.broken)
	}
	if r.ours.overlooked != "" {
		out = append(out, "has a place: "+r.ours.overlooked)
	}
	if len(out) == 0 {
		return ""
	}
	if r.why != "" {
		out = append(out, r.why)
	}
	return fmt.Sprintf("%s: %d pods at %.4f, karpenter %d at %.4f: %s\n",
		r.name, r.ours.valid, r.ours.cost, r.them.valid, r.them.cost, strings.Join(out, "; "))
}

// tally is the total of rounds.
type tally struct {
	rounds, ours, them, more, fewer int
	equal, dearer, cheaper          int
	ourCost, theirCost              float64 // over the scenarios in which both place the same number of pods
	faulty, theirFaulty, overlooked int
}

func (t *tally) add(r round) {
	count := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	t.rounds++
	t.ours, t.them = t.ours+r.ours.valid, t.them+r.them.valid
	count(&t.more, r.ours.valid > r.them.valid)
	count(&t.fewer, r.fewer())
	count(&t.faulty, r.ours.broken != "")
	count(&t.theirFaulty, r.them.broken != "")
	count(&t.overlooked, r.ours.overlooked != "")
	if r.ours.valid != r.them.valid {
		return
	}
	t.equal++
	t.ourCost, t.theirCost = t.ourCost+r.ours.cost, t.theirCost+r.them.cost
	count(&t.dearer, r.dearer())
	count(&t.cheaper, dearer*r.ours.cost < r.them.cost)
}

func (t *tally) text() string {
	return fmt.Sprintf(`%d scenarios. Pods with a valid place: dovetail %d, karpenter %d; dovetail more on %d, fewer on %d.
As many on %d, for %.2f and %.2f USD/h (%.3f); dovetail cheaper by more than 1%% on %d, dearer on %d.
Plans at fault: dovetail %d, karpenter %d; pods left that have a place on %d.
`, t.rounds, t.ours, t.them, t.more, t.fewer, t.equal, t.ourCost, t.theirCost, t.ourCost/math.Max(t.theirCost, 1e-9),
		t.cheaper, t.dearer, t.faulty, t.theirFaulty, t.overlooked)
}
