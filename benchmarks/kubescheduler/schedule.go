package main

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// These constants determine how many feasible nodes kube-scheduler looks for by default.
const (
	fewNodes     = 100 // clusters with fewer nodes are searched as a whole
	mostPercent  = 50
	leastPercent = 5
	percentStep  = 125 // the percentage falls by one for each group of this many nodes
)

// wantedNodes returns the number of feasible nodes after which kube-scheduler stops its search, in
// a cluster of all nodes.
func wantedNodes(all int) int {
	if all < fewNodes {
		return all
	}
	return max(all*max(mostPercent-all/percentStep, leastPercent)/100, fewNodes)
}

// schedule binds a pod to the node that kube-scheduler would choose, and returns the index of the
// node; -1 if the pod fits on none.
func (o *oracle) schedule(ctx context.Context, pod *corev1.Pod, choice Choice) (int, error) {
	c := o.consider(ctx, pod)
	feasible := c.feasible(ctx, choice.Closed)
	if len(feasible) == 0 {
		return -1, nil
	}
	best, err := c.best(ctx, feasible)
	if err != nil {
		return -1, err
	}
	chosen := best[choice.Draw%uint64(len(best))]
	verdict, err := c.bind(ctx, chosen)
	if err != nil || verdict.Plugin != "" {
		return -1, err
	}
	return slices.Index(o.cluster.nodes, chosen), nil
}

// feasible returns nodes on which the pod fits, as many as kube-scheduler looks for. The search
// begins where the previous one ended.
func (c *candidate) feasible(ctx context.Context, closed []int) (found []fwk.NodeInfo) {
	nodes, order := c.o.cluster.nodes, c.o.cluster.order
	looked := 0
	for ; looked < len(nodes) && len(found) < wantedNodes(len(nodes)); looked++ {
		i := order[(c.o.next+looked)%len(nodes)]
		if !slices.Contains(closed, i) && c.on(ctx, nodes[i]).Plugin == "" {
			found = append(found, nodes[i])
		}
	}
	c.o.next = (c.o.next + looked) % max(len(nodes), 1)
	return found
}

// best returns the nodes with the highest score.
func (c *candidate) best(ctx context.Context, nodes []fwk.NodeInfo) (best []fwk.NodeInfo, err error) {
	if len(nodes) == 1 {
		return nodes, nil
	}
	if status := c.o.framework.RunPreScorePlugins(ctx, c.state, c.pod, nodes); !status.IsSuccess() {
		return nil, status.AsError()
	}
	scores, status := c.o.framework.RunScorePlugins(ctx, c.state, c.pod, nodes)
	if !status.IsSuccess() {
		return nil, status.AsError()
	}
	highest := int64(-1)
	for i, score := range scores {
		if score.TotalScore > highest {
			highest, best = score.TotalScore, nil
		}
		if score.TotalScore == highest {
			best = append(best, nodes[i])
		}
	}
	return best, nil
}
