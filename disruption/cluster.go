package disruption

import (
	"fmt"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/admission"
	"github.com/dovetail-sdk/dovetail/disruption/internal/repair"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// Cluster is an Input read at one instant. It is read-only, points into the input, and is safe for
// concurrent use.
type Cluster struct {
	seen   *state.Cluster
	in     Input
	opts   Options
	bounds []*admission.Bound
}

// Observe reads an input at an instant. Nil options mean the defaults.
//
// The Cluster can always be used. A non-nil error lists every fault of the input and the options,
// each an InputError of package provisioning (see its Faults). Rules treat objects at fault as
// follows:
//
//   - a node that is listed twice or has no name is left out, and so is one whose NodeClaim or
//     machine belongs to another node: to delete the NodeClaim would end the other machine;
//   - a pod that is bound to another node, or that several nodes list, counts on each node that
//     lists it, and consolidation, which has to plan, moves nothing;
//   - a pool that is listed twice counts as missing;
//   - malformed budgets allow no disruption;
//   - only empty nodes of a pool with an unknown consolidationPolicy are removed;
//   - a consolidateAfter or expireAfter below zero counts as Never, and a terminationGracePeriod below
//     zero as none;
//   - options out of range count as Options.Validate says;
//   - repair policies with a fault repair nothing, and overlays with a fault change
//     nothing;
//   - a PodDisruptionBudget that cannot be read selects nothing.
func Observe(now time.Time, in Input, opts *Options) (*Cluster, error) {
	f, faults := observe(now, in, opts.withDefaults())
	if err := opts.Validate(); err != nil {
		faults.InField("Options", err)
	}
	slices.SortStableFunc(f.seen.Warnings.List, state.CompareFaults)
	return f, faults.Err()
}

// observe reads an input, by options that have their defaults, and returns the faults of the input.
func observe(now time.Time, in Input, opts Options) (*Cluster, state.Faults) {
	f := &Cluster{in: in, opts: opts}
	var faults state.Faults
	f.seen = state.Read(f.snapshotOf(now), &faults)
	policies, err := repair.Read(in.RepairPolicies)
	if err != nil {
		faults.Wrap("RepairPolicies", "", err)
	}
	f.diagnose(policies)
	f.bounds = admission.ReadBounds(f.seen, f.opts.Policies, f.opts.Groups, &faults)
	f.warnOfNames()
	return f, faults
}

// warnOfNames warns of names that nothing in the input has, where a typing error would go unnoticed. A
// pool or a claim may be gone while a setting for it is kept, so this is no fault.
func (f *Cluster) warnOfNames() {
	noPool := func(field, pool string) {
		if f.seen.Pools[pool] == nil {
			f.seen.Warnings.Add("Options", field, "there is no NodePool %q, so it has no effect; write the name of a NodePool of the input", pool)
		}
	}
	for pool := range f.opts.Policies {
		noPool(fmt.Sprintf("Policies[%q]", pool), pool)
	}
	for i, g := range f.opts.Groups {
		for j, pool := range g.Pools {
			noPool(fmt.Sprintf("Groups[%d].Pools[%d]", i, j), pool)
		}
	}
	for name := range f.in.Drift {
		if m := f.seen.ByName[name]; m != nil && m.NodeClaim != nil && m.NodeClaim.Name != name {
			f.seen.Warnings.Add("Input", fmt.Sprintf("Drift[%q]", name), "is the name of a Node, so it has no effect; write the name of its NodeClaim, %q", m.NodeClaim.Name)
		}
	}
}

// snapshotOf returns the part of the input that every rule reads.
func (f *Cluster) snapshotOf(now time.Time) state.Snapshot {
	start := &f.opts.Lifecycle
	s := state.Snapshot{Input: f.in.Input, Now: now, PodDisruptionBudgets: f.in.PodDisruptionBudgets, MarkedForDeletion: f.in.MarkedForDeletion,
		PodEvents: f.in.PodEvents, BufferNodes: f.in.BufferNodes, Instances: f.in.Instances,
		IgnorePodDeletionCost: f.opts.IgnorePodDeletionCost, Unavailable: map[cloudprovider.OfferingKey]bool{},
		Timeouts: nodeclaim.Timeouts{Launch: start.LaunchTimeout, Registration: start.RegistrationTimeout, Initialization: start.InitializationTimeout}}
	for _, u := range f.in.UnavailableOfferings {
		if u.At.Add(UnavailableHold).After(now) {
			s.Unavailable[u.Offering] = true
		}
	}
	return s
}

// Now returns the instant given to Observe.
func (f *Cluster) Now() time.Time { return f.seen.Now }

// Warnings lists values of nodes and pods that cannot be read and were ignored, such as a
// karpenter.sh/do-not-disrupt that is neither true nor a duration, or annotations with names from
// before v1beta1. It also lists NodeClaims whose age matters and is not known, NodePools of
// Options.Policies and Groups that the input lacks, and Nodes in Input.Drift in place of their
// NodeClaims. It is sorted by object, field and detail.
func (f *Cluster) Warnings() []*provisioning.InputError { return slices.Clone(f.seen.Warnings.List) }

// Price returns the price of a node in USD per hour, by the offering that its labels name in the
// catalog of its pool after overlays, available or not. known is false for a node that has no
// NodeClaim, is not in the input, or whose offering is not in the catalog.
func (f *Cluster) Price(node string) (price float64, known bool) {
	m := f.seen.ByName[node]
	if m == nil || !m.Managed() {
		return 0, false
	}
	return m.Price()
}
