package disruption

import (
	"errors"
	"fmt"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Command converts an action of this cluster to a command, decided at Now:
//
//   - Replace launches Action.Replacements and waits for them. For a static pool, whose actions are
//     not Simulated, it launches one node of the template for each target;
//   - Delete launches nothing and waits for nothing;
//   - TerminateFirst launches nothing either. Once the machine is gone there is room, and the next
//     plan of package provisioning launches what the pods or the static pool lack.
//
// The timeout of the command is command.Timeout of the number of nodes in Input.MarkedForDeletion
// plus the targets of the action.
//
// An action for Interrupted may concern a node that is part of another command. It then needs no
// command of its own: delete the NodeClaim with the deadline of the action, and the other command
// sees that the node is gone.
//
// The error joins all faults: an operation that is a single request and no command; a target that is no
// longer in the cluster or has no NodeClaim; a Replace for a dynamic pool that was not Simulated;
// more nodes than a command may have; and a value that is no valid action, without targets or with
// an empty replacement or move. Command does not check whether the action may begin: see Confirm.
func (f *Cluster) Command(a Action) (command.Prepared, error) {
	spec := command.Spec{Reason: v1.DisruptionReason(a.Reason), Mode: command.ReplaceFirst,
		Timeout: command.Timeout(len(f.in.MarkedForDeletion) + len(a.Targets))}
	var errs []error
	if fault := a.fault(); fault != "" {
		return command.Prepared{}, fmt.Errorf("command for %s: %s", a, fault)
	}
	switch a.Operation {
	case TerminateFirst:
		spec.Mode = command.TerminateFirst
	case Replace, Delete:
	default:
		errs = append(errs, fmt.Errorf("operation %q is not carried out by a command; only %s, %s and %s are", a.Operation, Replace, Delete, TerminateFirst))
	}
	var out command.Prepared
	if a.Operation == Replace && a.Simulated {
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
		if a.Operation != Replace || a.Simulated {
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

// source returns a node that an action removes, for a command.
func (f *Cluster) source(a Action, m *state.StateNode) command.Source {
	s := command.Source{NodeClaim: m.NodeClaim.Name, ClaimUID: m.NodeClaim.UID, Drain: a.DrainBound, DrainBy: a.DrainBy,
		Bounded: m.ClaimBound() != nil}
	if a.Reason == Empty {
		s.Pods = m.CountMovable() // zero without Options.Consolidation.FreePodsAreEmpty
	}
	if n := m.Node.Node; n != nil {
		s.Node, s.NodeUID = n.Name, n.UID
	}
	return s
}

// templateClaim returns the NodeClaim of one more node of a static pool.
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

// oneMissing returns the state of a static pool that lacks one node, without its nodes and its
// limits, with the catalogs and the vocabulary of an input.
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
