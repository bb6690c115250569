package main

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator/injection"

	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// disruptor is the part of Karpenter's disruption controller that looks for empty nodes to remove
// and for nodes to consolidate.
type disruptor struct {
	*controller
	ctx     context.Context
	cluster *state.Cluster
	queue   *disruption.Queue
	methods []disruptionMethod // in the order of the controller
}

// disruptionMethod is one of the controller's methods of disruption.
type disruptionMethod struct {
	disruption.Method
	validator *prompt
}

// prompt validates a command at once. The controller first waits 15 seconds for the cluster to
// change, but here the cluster does not change. The time spent is counted separately, because the
// validation repeats the simulation.
type prompt struct {
	disruption.Validator
	spent time.Duration
}

// Validate runs the controller's validation without the wait.
func (p *prompt) Validate(ctx context.Context, command disruption.Command, _ time.Duration) (disruption.Command, error) {
	begin := time.Now()
	defer func() { p.spent += time.Since(begin) }()
	return p.Validator.Validate(ctx, command, 0)
}

// newDisruptor fills a new cluster state and builds the methods on it.
func (c *controller) newDisruptor() (*disruptor, error) {
	cluster := state.NewCluster(c.clock, c.kube, c.cloud)
	if err := c.fill(cluster); err != nil {
		return nil, err
	}
	provisioner := provisioning.NewProvisioner(c.kube, c.events, c.cloud, cluster, c.clock, nil, nil)
	queue := disruption.NewQueue(c.kube, c.events, cluster, c.clock, provisioner)
	base := disruption.MakeConsolidation(c.clock, cluster, c.kube, provisioner, c.cloud, c.events, queue)
	empty := &prompt{Validator: disruption.NewEmptinessValidator(base)}
	multi := &prompt{Validator: disruption.NewMultiConsolidationValidator(base)}
	single := &prompt{Validator: disruption.NewSingleConsolidationValidator(base)}
	return &disruptor{
		controller: c, ctx: injection.WithControllerName(c.ctx, "disruption"), cluster: cluster, queue: queue,
		methods: []disruptionMethod{
			{disruption.NewEmptiness(base, disruption.WithValidator(empty)), empty},
			{disruption.NewMultiNodeConsolidation(base, disruption.WithValidator(multi)), multi},
			{disruption.NewSingleNodeConsolidation(base, disruption.WithValidator(single)), single},
		},
	}, nil
}

// look runs one loop of the controller up to the command, which comes from the first method that
// finds one. It returns nil if none does, and the time that the methods took without validation.
func (d *disruptor) look() (*scenario.Action, time.Duration, error) {
	var took time.Duration
	for _, m := range d.methods {
		m.validator.spent = 0
		begin := time.Now()
		command, err := d.ask(m)
		if err != nil {
			return nil, took, fmt.Errorf("%s %s: %w", m.Reason(), m.ConsolidationType(), err)
		}
		took += time.Since(begin) - m.validator.spent
		if command != nil {
			action := describeCommand(command, took)
			action.Reason = string(m.Reason())
			return &action, took, nil
		}
	}
	return nil, took, nil
}

// ask runs a method on all candidates, within the budgets.
func (d *disruptor) ask(m disruptionMethod) (*disruption.Command, error) {
	candidates, totals, err := disruption.GetCandidatesWithTotals(d.ctx, d.cluster, d.kube, d.events, d.clock, d.cloud,
		m.ShouldDisrupt, m.Class(), d.queue, nil)
	if err != nil || len(candidates) == 0 {
		return nil, err
	}
	if scored, ok := m.Method.(disruption.NodePoolTotalsSetter); ok {
		scored.SetNodePoolTotals(totals)
	}
	budgets, err := disruption.BuildDisruptionBudgetMapping(d.ctx, d.cluster, d.clock, d.kube, d.cloud, d.events, m.Reason())
	if err != nil {
		return nil, err
	}
	commands, err := m.ComputeCommands(d.ctx, budgets, candidates...)
	if err != nil {
		return nil, err
	}
	for i := range commands {
		if commands[i].Decision() != disruption.NoOpDecision {
			return &commands[i], nil
		}
	}
	return nil, nil
}

// describeCommand converts a command. It leaves out the reason, which the method gives.
func describeCommand(command *disruption.Command, took time.Duration) scenario.Action {
	a := scenario.Action{Nodes: command.SourceNodeNames(), Replacements: []scenario.NewNodeClaim{},
		Moves: map[string]string{}, SavingsPerHour: command.EstimatedSavings(), Seconds: took.Seconds()}
	for _, n := range command.Results.ExistingNodes {
		for _, pod := range n.Pods {
			a.Moves[scenario.PodKey(pod)] = n.Name()
		}
	}
	for i, r := range command.Replacements {
		a.Replacements = append(a.Replacements, claim(r.NodeClaim))
		for _, pod := range r.NodeClaim.Pods {
			a.Moves[scenario.PodKey(pod)] = scenario.Replacement(i)
		}
	}
	return a
}
