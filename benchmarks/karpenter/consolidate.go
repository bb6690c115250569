package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/pkg/events"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/measure"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/replay"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// consolidate writes a proposal for a scenario: the first command that the disruption controller
// finds or, with -converge, all commands until none is found.
func consolidate(ctx context.Context, c settings, s *scenario.Scenario) error {
	out := &scenario.Proposal{Contender: contender, Scenario: s.Name, Actions: []scenario.Action{}}
	cluster, err := replay.New(s)
	if err != nil {
		return err
	}
	out.CostBefore = cluster.Cost()
	started := time.Now()
	err = measure.Profiled(c.profile, func() error {
		for rep := 1; ; rep++ {
			more, err := turn(ctx, c, cluster, out, rep == c.reps && !c.converge)
			if err != nil {
				return err
			}
			if !more || !c.converge && rep == c.reps {
				return nil
			}
			if c.converge && time.Since(started) > c.limit {
				out.Stopped = "after " + c.limit.String()
				return nil
			}
		}
	})
	if err != nil {
		return err
	}
	if c.converge {
		out.Rounds = len(out.SolveSeconds)
		out.SolveSeconds, out.SetupSeconds = []float64{measure.Sum(out.SolveSeconds)}, []float64{measure.Sum(out.SetupSeconds)}
	}
	return cluster.Finish(out, c.plan, c.final)
}

// turn runs a new controller on the cluster once. It carries the command out if the run converges,
// or if this is the last repetition. It reports whether a command was found.
func turn(ctx context.Context, c settings, cluster *replay.Cluster, out *scenario.Proposal, last bool) (bool, error) {
	ctx, cancel := context.WithCancel(ctx) // ends the informer caches
	defer cancel()
	control, err := newController(ctx, cluster.Scenario(), c.cpuRequests)
	if err != nil {
		return false, err
	}
	log := &blockedLog{nodes: map[string]scenario.Blocked{}}
	control.events = log
	var d *disruptor
	setup, err := measure.Of(func() (err error) {
		d, err = control.newDisruptor()
		return err
	})
	if err != nil {
		return false, fmt.Errorf("set-up: %w", err)
	}
	action, took, err := d.look()
	if err != nil {
		return false, err
	}
	out.SetupSeconds, out.SolveSeconds = append(out.SetupSeconds, setup.Seconds), append(out.SolveSeconds, took.Seconds())
	out.Blocked = log.list(cluster.Scenario())
	if action == nil {
		out.Converged, out.Stopped = c.converge, "nothing left to do"
		fmt.Fprintf(os.Stderr, "%s: nothing left to do | setup %.4fs solve %.4fs\n", out.Scenario, setup.Seconds, took.Seconds())
		return !c.converge, nil
	}
	fmt.Fprintf(os.Stderr, "%s: %s %d nodes by %d, saves $%.3f/h | setup %.4fs solve %.4fs\n", out.Scenario, action.Reason,
		len(action.Nodes), len(action.Replacements), action.SavingsPerHour, setup.Seconds, took.Seconds())
	if !c.converge && !last {
		return true, nil
	}
	if err := cluster.Apply(*action); err != nil {
		return false, err
	}
	out.Actions = append(out.Actions, *action)
	return true, nil
}

// blockedLog keeps Karpenter's latest event about each node that is left alone.
type blockedLog struct{ nodes map[string]scenario.Blocked }

// Publish records events.
func (l *blockedLog) Publish(all ...events.Event) {
	for _, e := range all {
		node, ok := e.InvolvedObject.(*corev1.Node)
		if ok && (e.Reason == events.Unconsolidatable || e.Reason == events.DisruptionBlocked) {
			l.nodes[node.Name] = scenario.Blocked{Node: node.Name, Rule: e.Reason, Reason: e.Message}
		}
	}
}

// list returns the recorded reasons, sorted by node name.
func (l *blockedLog) list(s *scenario.Scenario) []scenario.Blocked {
	known := map[string]bool{}
	for _, n := range s.Nodes {
		known[n.Name()] = true
	}
	out := []scenario.Blocked{}
	for b := range maps.Values(l.nodes) {
		if known[b.Node] {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b scenario.Blocked) int { return cmp.Compare(a.Node, b.Node) })
	return out
}
