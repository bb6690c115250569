package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Three hundred pods come at once: the nodes that were planned are those that run them,
// and there are no others.
func TestBurst(t *testing.T) {
	s := newScene(t, "-batch-idle=2s", "-batch-max=20s")
	s.burst()
}

// burst brings the pods of testdata/burst.yaml up.
func (s *scene) burst() look {
	s.Helper()
	s.apply("testdata/burst.yaml")
	l, took := s.watch(4*time.Minute, "300 pods run", func(l look) error { return settled(l, 300) })
	plans := s.entries("planned")
	planned, nodes := number(plans[0], "cost"), number(plans[0], "create")
	over := l.cost/planned - 1
	s.report("%d pods planned on %.0f nodes at %.4f USD/h (gap %.1f%%); run on %d at %.4f (%+.1f%%) after %.0f s; %d plans",
		int(number(plans[0], "pods")), nodes, planned, 100*(planned/number(plans[0], "bound")-1), len(l.nodes), l.cost, 100*over, took.Seconds(), len(plans))
	assert.EqualValues(s, 300, number(plans[0], "pods"))
	assert.LessOrEqual(s, over, 0.03)
	return l
}
