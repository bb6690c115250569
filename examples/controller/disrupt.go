package main

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/metrics"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// decision is a voluntary action, and since when it was foreseen.
type decision struct {
	action disruption.Action
	since  time.Time
}

// proposed is the answer of a Propose that ran concurrently with the passes.
type proposed struct {
	at       time.Time
	notices  []cloudprovider.Interruption
	proposal *disruption.Proposal
	unneeded []string
	faults   []*provisioning.InputError
	took     time.Duration
	err      error
}

// propose computes a proposal for the present nodes in a goroutine, because it can take seconds.
// Forced actions begin at once; voluntary ones are confirmed first.
func (a *autoscaler) propose(ctx context.Context, s *snapshot) error {
	if a.proposing != nil {
		select {
		case answer := <-a.proposing:
			a.proposing = nil
			return a.onProposal(ctx, s, answer)
		default:
			return nil
		}
	}
	changed := a.changes.Load() != a.proposedAt && !s.Now.Before(a.nextPropose)
	due := !a.nextChange.IsZero() && !s.Now.Before(a.nextChange)
	if !changed && !due && len(a.notices) == 0 || len(a.decided) > 0 && len(a.notices) == 0 {
		return nil
	}
	a.proposedAt, a.nextPropose, a.nextChange = a.changes.Load(), s.Now.Add(a.proposeEvery), time.Time{}
	answers := make(chan proposed, 1)
	a.proposing = answers
	now, in, options := s.Now, s.Input, a.options()
	go func() {
		answer := proposed{at: now, notices: in.Interruptions}
		answer.err = safely(func() (err error) {
			answer.proposal, answer.faults, err = disruption.Propose(ctx, now, in, options)
			answer.took = time.Since(now)
			if err != nil || len(in.Interruptions) > 0 || len(answer.proposal.Actions) == 0 {
				return err // an interruption does not wait for what saves money, and without actions no pod is evicted
			}
			cluster, _ := disruption.Observe(now, in, options) // Propose has reported the faults
			answer.unneeded, err = cluster.Unneeded(ctx)
			return err
		})
		answers <- answer
	}()
	return nil
}

// onProposal receives a proposal. Forced actions begin at once, even if a command has the node.
func (a *autoscaler) onProposal(ctx context.Context, s *snapshot, answer proposed) error {
	if answer.err != nil {
		return answer.err
	}
	p := answer.proposal
	a.figures.take("proposal", metrics.Proposed(p, answer.took))
	a.catalogs, a.nextChange = p.CatalogCache, p.Next
	if len(answer.notices) == 0 && (len(p.Actions) > 0 || len(s.Commands.Commands) == 0) {
		a.unneeded, a.nextSteer = answer.unneeded, s.Now // evicted pods find the taints
	}
	if len(p.Actions) > 0 {
		a.log.Info("proposed", "actions", len(p.Actions), "waiting", len(p.Waiting), "before", p.CostBefore, "after", p.CostAfter, "took", time.Since(answer.at).String())
	}
	for _, b := range p.Blocked {
		a.log.Debug("left alone", "node", b.Node, "because", b.String())
	}
	for _, b := range s.News(p.Blocked) {
		a.tell(s.Node(b.Node), corev1.EventTypeNormal, b.Event(), "Disrupt", "%s", b.Detail)
	}
	a.decided = nil
	var errs []error
	since := s.Foreseen(p, a.unneeded...)
	for i, action := range p.Actions {
		if disruption.Voluntary(action.Reason) {
			a.decided = append(a.decided, decision{action, since[i]})
		} else {
			errs = append(errs, a.force(ctx, s, action))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // the notices come again
	}
	if len(answer.notices) > 0 {
		a.figures.take("notices", metrics.Noticed(answer.notices))
		errs = append(errs, cloudprovider.Acknowledge(ctx, a.cloud, answer.notices...))
	}
	for _, fault := range answer.faults {
		errs = append(errs, fault)
	}
	return errors.Join(errs...)
}

// steer makes the nodes empty that would be removed next, without evictions: when a ReplicaSet is
// scaled down, its pods on these nodes are deleted first, and new pods go to other nodes if there
// is room.
func (a *autoscaler) steer(ctx context.Context, s *snapshot) error {
	if s.Now.Before(a.nextSteer) {
		return nil
	}
	a.nextSteer = s.Now.Add(steerEvery)
	cluster, _ := disruption.Observe(s.Now, s.Input, a.options()) // propose reports the faults
	costs, taints := cluster.PodDeletionCosts(), cluster.SoftTaints(a.unneeded...)
	costs = costs[:min(len(costs), steerAtOnce)] // the most urgent come first
	return errors.Join(
		a.some(len(costs), func(i int) error { return store(ctx, a, costs[i].Pod, costs[i].EditPod()) }),
		a.some(len(taints), func(i int) error { return store(ctx, a, taints[i].Node, taints[i].EditNode()) }))
}

// force removes nodes that must go, with one request for each.
func (a *autoscaler) force(ctx context.Context, s *snapshot, action disruption.Action) (errs error) {
	a.log.Info("forced", "action", action.String())
	a.figures.take("forced", metrics.Begun(action, s.Input.Nodes, s.Input.NodePools))
	for _, t := range action.Targets {
		switch claim := s.Claim(t.NodeClaim); {
		case action.Operation == disruption.Terminate:
			errs = errors.Join(errs, ignoreGone(a.cloud.Delete(ctx, t.ProviderID)))
		case action.Operation == disruption.DeleteNode && s.Node(t.Node) != nil:
			errs = errors.Join(errs, a.remove(ctx, s.Node(t.Node)))
		case action.Operation == disruption.Delete && claim != nil:
			a.tell(claim, corev1.EventTypeWarning, string(action.Reason), "Disrupt", "%s", action)
			errs = errors.Join(errs, store(ctx, a, claim, action.EditClaim(s.Now, claim)), a.remove(ctx, claim))
		}
	}
	return errs
}

// confirm checks decisions again, one in each pass, so that each sees the effects of the one
// before. An obstacle that may be temporary is tolerated for a short time.
func (a *autoscaler) confirm(ctx context.Context, s *snapshot) error {
	if len(a.decided) == 0 {
		return nil
	}
	action := a.decided[0].action
	if disruption.Transient(action.Reason) && s.Now.Sub(a.decided[0].since) < a.confirmAfter {
		return nil
	}
	a.decided = a.decided[1:]
	prepared, objections, err := s.Confirm(ctx, action, a.options())
	if err != nil {
		return err
	}
	if len(objections) > 0 {
		a.figures.take("objections", metrics.NotConfirmed(action))
		a.log.Info("not after all", "action", action.String(), "objection", objections[0].String(), "objections", len(objections))
		return nil
	}
	writes, err := a.commands.Begin(s.Now, prepared, s.CommandInput())
	if err != nil {
		return err
	}
	a.figures.take("begun", metrics.Begun(action, s.Input.Nodes, s.Input.NodePools))
	a.log.Info("begun", "command", prepared.Command.ID, "action", action.String(), "savings", action.Savings)
	for _, t := range action.Targets {
		if node := s.Node(t.Node); node != nil {
			a.tell(node, corev1.EventTypeNormal, "Disrupt"+string(action.Reason), "Disrupt", "%s", action)
		}
	}
	return a.carryOut(ctx, s, writes)
}

// advance carries out the next step of every command. Commands are read from the objects, so those
// of an earlier process are included.
func (a *autoscaler) advance(ctx context.Context, s *snapshot) error {
	round := a.commands.Advance(s.Now, s.Commands.Commands, s.CommandInput())
	for _, u := range round.Undone {
		a.log.Warn("undoing", "command", u.Command.ID, "because", u.Why)
		a.figures.take("undone", metrics.Undone(u.Command))
	}
	for _, id := range round.Finished {
		a.log.Info("finished", "command", id)
		a.nextPropose, a.proposedAt = s.Now, -1 // there may be room for the next
	}
	return errors.Join(s.Commands.Faults, a.carryOut(ctx, s, s.Commands.Writes), a.carryOut(ctx, s, round.Writes))
}

func (a *autoscaler) carryOut(ctx context.Context, s *snapshot, writes []command.Write) error {
	return each(len(writes), func(i int) error {
		write := writes[i]
		claim := s.Claim(write.Object)
		switch {
		case write.OnNode():
			node := s.Node(write.Object)
			return store(ctx, a, node, write.EditNode(node))
		case write.Kind == command.WriteCreate:
			return a.createReplacement(ctx, s, write)
		case claim == nil:
			return nil
		case write.Kind == command.WriteDelete:
			return a.remove(ctx, claim)
		}
		return store(ctx, a, claim, write.EditClaim(s.Now, claim))
	})
}

// createReplacement stores the NodeClaim that a command launches, reserved for the pods of the
// nodes that the command removes.
func (a *autoscaler) createReplacement(ctx context.Context, s *snapshot, write command.Write) error {
	claim, pods, c := a.commands.Claim(s.Now, write, s.Commands.Commands)
	if claim == nil {
		return nil
	}
	_, err := a.create(ctx, s, claim, pods, string(c.Reason))
	if err == nil {
		a.log.Info("created", "claim", write.Object, "for", c.ID, "pods", len(pods))
	}
	return client.IgnoreAlreadyExists(err)
}
