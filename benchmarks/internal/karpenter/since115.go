//go:build karpenter115

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
// here since 1.15. It needs the state, the provisioner and the queue.
func (c *Contender) buildChanged(ctx context.Context, recorder events.Recorder) {
	c.disruption = disruption.NewController(ctx, c.clock, c.kube, c.provisioner, c.cloud, recorder, c.state, c.queue, nil)
	c.lifecycle = lifecycle.NewController(c.clock, c.kube, c.cloud, recorder, c.state, nodepoolhealth.NewState(), nil)
	c.evictions = terminator.NewQueue(c.clock, c.kube, recorder)
}
