//go:build !karpenter115

package karpenter

import (
	"context"

	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/node/termination/terminator"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/lifecycle"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/state/nodepoolhealth"
)

// buildChanged constructs the controllers whose constructors differ between releases of Karpenter,
// here as in 1.14. It needs the state, the provisioner and the queue.
func (c *Contender) buildChanged(_ context.Context, recorder events.Recorder) {
	c.disruption = disruption.NewController(c.clock, c.kube, c.provisioner, c.cloud, recorder, c.state, c.queue, nil)
	c.lifecycle = lifecycle.NewController(c.clock, c.kube, c.cloud, recorder, nodepoolhealth.NewState(), nil)
	c.evictions = terminator.NewQueue(c.kube, recorder)
}
