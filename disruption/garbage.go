package disruption

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Garbage compares the nodes with the machines that the cloud has, and wants to
// do away with what is left of either. It finds nothing if Input.Instances is
// nil. In this order:
//
//  1. Delete of a NodeClaim that is registered and not being deleted, and whose
//     machine the cloud does not list, not even as going down. If its Node is
//     Ready it is left alone: a kubelet that runs knows better. Claims that are
//     not registered are the affair of Liveness.
//  2. DeleteNode of a Node that has the label karpenter.sh/nodepool, but no
//     NodeClaim, is not Ready, and whose machine is not listed.
//  3. Terminate of a machine that is listed and not going down, and that no
//     NodeClaim speaks for: none has its ID, and none without an ID its name.
//
// Each must have been as old as Options.GarbageGrace at Input.InstancesAt, by when
// it was created, and a claim also by the last transition of its condition
// Launched. What is of unknown age is left alone; of claims see Fleet.Warnings.
// Within each kind the order is by name or ID. Nothing is ever Blocked.
//
// One look is enough here. For a provider whose lists are not to be trusted,
// cloudprovider/garbage asks to have found something twice.
func (f *Fleet) Garbage() Result {
	var r Result
	if f.in.Instances == nil {
		return r
	}
	for _, m := range f.members {
		if m.managed() && f.lost(m) && f.aged(&r, m.NodeClaim.CreationTimestamp.Time, m.launchedAt()) {
			a := m.action(GarbageCollected, Delete)
			a.Detail = fmt.Sprintf("the cloud has no machine %s any more", m.providerID())
			r.Actions = append(r.Actions, a)
		}
	}
	for _, m := range f.members {
		if !m.managed() && f.lost(m) && f.aged(&r, m.Node.Node.CreationTimestamp.Time) {
			a := m.action(GarbageCollected, DeleteNode)
			a.Detail = fmt.Sprintf("it has no NodeClaim, and the cloud no machine %s any more", m.providerID())
			r.Actions = append(r.Actions, a)
		}
	}
	for _, instance := range f.orphans() {
		if f.aged(&r, instance.CreatedAt) {
			r.Actions = append(r.Actions, Action{Reason: GarbageCollected, Step: Terminate,
				Targets: []Target{{NodePool: instance.NodePool, ProviderID: instance.ID}},
				Detail:  "no NodeClaim speaks for the machine"})
		}
	}
	return r
}

// lost reports whether a node has lost its machine.
func (f *Fleet) lost(m *member) bool {
	if m.marked() || m.ready() || m.providerID() == "" || f.instances[m.providerID()] != nil {
		return false
	}
	if m.managed() {
		return m.isTrue(v1.ConditionTypeRegistered) || m.registered()
	}
	return m.poolName != ""
}

func (m *member) launchedAt() time.Time {
	if c := m.condition(v1.ConditionTypeLaunched); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// aged reports whether the grace has passed since each of the instants that are
// known, of which there must be one, and notes in r when it will have.
func (f *Fleet) aged(r *Result, instants ...time.Time) bool {
	var last time.Time
	for _, t := range instants {
		if t.After(last) {
			last = t
		}
	}
	if last.IsZero() {
		return false
	}
	due := last.Add(f.opts.GarbageGrace)
	if at := f.in.InstancesAt; !at.IsZero() && at.Before(f.now) {
		return !due.After(at) // until there is a newer list, time makes no difference
	}
	if due.After(f.now) {
		r.Next = sooner(r.Next, due)
		return false
	}
	return true
}

// orphans are the machines that no claim speaks for, by ID.
func (f *Fleet) orphans() []*cloudprovider.Instance {
	ids, names := map[string]bool{}, map[string]bool{}
	// Entries with a fault speak for their machines all the same.
	for _, n := range f.in.Nodes {
		switch {
		case n.NodeClaim == nil:
		case n.NodeClaim.Status.ProviderID != "":
			ids[n.NodeClaim.Status.ProviderID] = true
		default:
			names[n.NodeClaim.Name] = true
			if n.Node != nil && n.Node.Spec.ProviderID != "" {
				ids[n.Node.Spec.ProviderID] = true
			}
		}
	}
	var out []*cloudprovider.Instance
	for id, instance := range f.instances { // sorted below
		if !instance.Deleting && !ids[id] && (instance.Name == "" || !names[instance.Name]) {
			out = append(out, instance)
		}
	}
	slices.SortFunc(out, func(a, b *cloudprovider.Instance) int { return strings.Compare(a.ID, b.ID) })
	return out
}
