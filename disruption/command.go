package disruption

import (
	"errors"
	"fmt"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Command makes an action of this cluster a command, decided at Now:
//
//   - Replace launches Action.Replacements and waits for them, and one node of
//     the template for each target of a static pool, whose actions are not
//     Simulated;
//   - Delete launches nothing and waits for nothing;
//   - TerminateFirst launches nothing either. That the machine is gone makes
//     room, and what the pods or the static pool lack then is for the next plan
//     of package provisioning.
//
// The time that the command has is command.Timeout of the nodes in
// Input.MarkedForDeletion and those of the action.
//
// An action about a node that takes part in another command, as one of Interrupted
// may be, needs no command of its own: delete the NodeClaim, with the deadline of
// the action, and the other command sees that it is gone.
//
// The error joins all that speaks against it: another step, which is one request
// and no command; a target that is not in the cluster any more, or has no
// NodeClaim; a Replace for a dynamic pool that was not Simulated; and more nodes
// than a command may have. An action without targets, or with a replacement or a
// move of nothing, is none. Whether the action may begin is not asked: see Confirm.
func (f *Cluster) Command(a Action) (command.Prepared, error) {
	spec := command.Spec{Reason: v1.DisruptionReason(a.Reason), Mode: command.ReplaceFirst,
		Timeout: command.Timeout(len(f.in.MarkedForDeletion) + len(a.Targets))}
	var errs []error
	if fault := a.fault(); fault != "" {
		return command.Prepared{}, fmt.Errorf("command for %s: %s", a, fault)
	}
	switch a.Step {
	case TerminateFirst:
		spec.Mode = command.TerminateFirst
	case Replace, Delete:
	default:
		errs = append(errs, fmt.Errorf("step %q is not carried out by a command; only %s, %s and %s are", a.Step, Replace, Delete, TerminateFirst))
	}
	var out command.Prepared
	if a.Step == Replace && a.Simulated {
		for i := range a.Replacements {
			out.Claims, out.Pods = append(out.Claims, a.Replacements[i].NodeClaim()), append(out.Pods, a.Replacements[i].Pods)
			spec.NodePools = append(spec.NodePools, a.Replacements[i].Pool.Name)
		}
	}
	for _, t := range a.Targets {
		m := f.seen.ByName[t.Node]
		switch {
		case t.NodeClaim == "":
			errs = append(errs, fmt.Errorf("node %q has no NodeClaim, and only nodes with one are removed by a command", t))
			continue
		case m == nil || !isTarget(m, t):
			errs = append(errs, fmt.Errorf("node %q is not there any more, or is another; decide again", t))
			continue
		}
		spec.Sources = append(spec.Sources, f.source(a, m))
		if a.Step != Replace || a.Simulated {
			continue
		}
		claim, err := templateClaim(m.Pool)
		if err != nil {
			errs = append(errs, fmt.Errorf("node %q: %w", t, err))
			continue
		}
		out.Claims, spec.NodePools = append(out.Claims, claim), append(spec.NodePools, m.PoolName)
	}
	if err := errors.Join(errs...); err != nil {
		return command.Prepared{}, fmt.Errorf("command for %s: %w", a, err)
	}
	spec.Claims = out.Claims
	c, err := command.New(f.seen.Now, spec)
	if err != nil {
		return command.Prepared{}, fmt.Errorf("command for %s: %w", a, err)
	}
	out.Command = c
	for i, r := range c.Replacements {
		out.Claims[i].Name, out.Claims[i].GenerateName = r.Token, ""
	}
	return out, nil
}

// source is a node that an action removes.
func (f *Cluster) source(a Action, m *state.StateNode) command.Source {
	s := command.Source{NodeClaim: m.NodeClaim.Name, ClaimUID: m.NodeClaim.UID, Drain: a.DrainBound, DrainBy: a.DrainBy,
		Bounded: m.NodeClaim.Spec.TerminationGracePeriod != nil}
	if a.Reason == Empty {
		s.Pods = m.Homeless() // none, unless Options.Consolidation.FreePodsAreEmpty
	}
	if n := m.Node.Node; n != nil {
		s.Node, s.NodeUID = n.Name, n.UID
	}
	return s
}

// templateClaim is the NodeClaim of one more node of a static pool.
func templateClaim(p *state.NodePool) (*v1.NodeClaim, error) {
	if p == nil || !p.Static() {
		return nil, errors.New("what is to replace it is not known, as the action was not simulated; take it from Propose")
	}
	pool, err := oneMissing(provisioning.Input{}, p)
	if err != nil {
		return nil, err
	}
	claims := pool.NodeClaims()
	if len(claims) != 1 {
		return nil, fmt.Errorf("%s cannot launch a node: %s", state.PoolObject(p.Name), pool.Held)
	}
	return claims[0], nil
}

// oneMissing is how a static pool stands that lacks one node, apart from all that it has and
// its limits, with the catalogs and the vocabulary of an input.
func oneMissing(in provisioning.Input, p *state.NodePool) (provisioning.StaticPool, error) {
	alone := v1.NodePool{TypeMeta: p.TypeMeta, ObjectMeta: *p.ObjectMeta.DeepCopy(), Spec: p.Spec}
	alone.DeletionTimestamp = nil
	alone.Spec.Replicas, alone.Spec.Limits = new(int64(1)), nil
	pools, err := provisioning.StaticPools(provisioning.Input{NodePools: []*v1.NodePool{&alone}, InstanceTypes: in.InstanceTypes, Vocabulary: in.Vocabulary})
	if err != nil {
		return provisioning.StaticPool{}, err
	}
	return pools[0], nil
}
