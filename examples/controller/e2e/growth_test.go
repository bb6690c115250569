package e2e

import (
	"testing"
	"time"
)

// Three hundred pods become two thousand.
func TestGrowth(t *testing.T) {
	s := newScene(t, "-batch-idle=2s", "-batch-max=30s")
	before := s.burst()
	pods := s.deployments(sevenfold)
	plans := len(s.entries("planned"))
	tally := newTally()
	l, took := s.watch(15*time.Minute, "all pods run", func(l look) error {
		tally.count(l)
		return settled(l, pods)
	})
	planned := 0.0
	for _, p := range s.entries("planned")[plans:] {
		planned += number(p, "cost")
	}
	s.report("%d pods become %d: from %d nodes at %.4f USD/h to %d at %.4f after %.0f s, in %d plans for %.4f USD/h",
		len(before.pods), pods, len(before.nodes), before.cost, len(l.nodes), l.cost, took.Seconds(), len(s.entries("planned"))-plans, planned)
}

// sevenfold is seven pods for each, but of workloads with a pod to a node.
func sevenfold(have int) int {
	if have < 12 {
		return have
	}
	return have * 7
}
