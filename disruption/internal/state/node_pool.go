package state

import (
	"fmt"
	"math"
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/internal/nodelimit"
	"github.com/dovetail-sdk/dovetail/internal/status"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// NodePool is a NodePool with values derived from it.
type NodePool struct {
	*v1.NodePool
	TemplateHash     string
	Types            map[string]*cloudprovider.InstanceType
	Requirements     requirements.Set // requirements of the template
	Unreadable       bool             // the requirements cannot be read
	LimitFault       error            // fault of the limit of nodes; nil if there is none
	ConsolidateAfter v1.NillableDuration
	Policy           v1.ConsolidationPolicy
	PolicyUnknown    bool         // the policy is not one of those that Karpenter has
	Members          []*StateNode // nodes with a NodeClaim, sorted by name
	Count            headcount    // of Members
	Nodes, Sick      int          // numbers of Members with a Node, and of the unhealthy ones among them
}

// Static reports whether the pool has a fixed number of nodes.
func (p *NodePool) Static() bool { return p.Spec.Replicas != nil }

// Ready reports whether the pool launches nodes.
func (p *NodePool) Ready() bool {
	c := status.Find(p.Status.Conditions, v1.ConditionTypeReady)
	return p.DeletionTimestamp.IsZero() && (c == nil || c.Status == "True")
}

func (f *Cluster) readPools(faults *Faults) {
	f.Pools = map[string]*NodePool{}
	count := map[string]int{}
	for _, p := range f.In.NodePools {
		if p != nil {
			count[p.Name]++
		}
	}
	catalogs := f.catalogs(faults)
	for i, p := range f.In.NodePools {
		switch {
		case p == nil:
			faults.Add(fmt.Sprintf("NodePools[%d]", i), "", "is nil; leave it out")
		case p.Name == "":
			faults.Add(fmt.Sprintf("NodePools[%d]", i), "metadata.name", "is empty; pools are told apart by name")
		case count[p.Name] > 1:
			faults.Add(PoolObject(p.Name), "", "is listed twice; list each pool once")
		default:
			f.Pools[p.Name] = f.newPoolView(p, catalogs[p.Name], faults)
			f.PoolNames = append(f.PoolNames, p.Name)
		}
	}
	slices.Sort(f.PoolNames)
}

// catalogs returns the catalogs of the input with the overlays applied.
func (f *Cluster) catalogs(faults *Faults) map[string][]*cloudprovider.InstanceType {
	types, _, err := overlay.Apply(f.In.Overlays, f.In.NodePools, f.In.InstanceTypes, f.Vocabulary)
	if err != nil {
		faults.InField("Overlays", err)
		return f.In.InstanceTypes
	}
	return types
}

func (f *Cluster) newPoolView(p *v1.NodePool, types []*cloudprovider.InstanceType, faults *Faults) *NodePool {
	v := &NodePool{NodePool: p, TemplateHash: p.Hash(), Types: map[string]*cloudprovider.InstanceType{},
		ConsolidateAfter: p.Spec.Disruption.ConsolidateAfter, Policy: p.Spec.Disruption.ConsolidationPolicy}
	if v.ConsolidateAfter.IsZero() {
		v.ConsolidateAfter = v1.NewDuration(v1.DefaultConsolidateAfter)
	}
	if d := v.ConsolidateAfter.Duration; d != nil && *d < 0 {
		faults.Add(PoolObject(p.Name), "spec.disruption.consolidateAfter", "is %s; use a duration such as 30s, or Never", *d)
		v.ConsolidateAfter.Duration = nil
	}
	v.readPolicy(faults)
	v.readTypes(types, faults)
	set, err := requirements.FromRequirements(p.Spec.Template.Spec.Requirements, f.Vocabulary)
	if err != nil {
		faults.Split(PoolObject(p.Name), "spec.template.spec.requirements", err)
		v.Unreadable = true
	}
	v.Requirements = set
	if r := p.Spec.Replicas; r != nil && *r < 0 {
		faults.Add(PoolObject(p.Name), "spec.replicas", "is %d; use zero or more", *r)
	}
	if _, _, v.LimitFault = nodelimit.Of(p.Spec.Limits); v.Static() && v.LimitFault != nil {
		faults.Wrap(PoolObject(p.Name), "spec.limits[nodes]", v.LimitFault)
	}
	return v
}

// readPolicy sets the default policy, and adds a fault for an unknown one.
func (p *NodePool) readPolicy(faults *Faults) {
	switch p.Policy {
	case "":
		p.Policy = v1.DefaultConsolidationPolicy
	case v1.ConsolidationPolicyWhenEmpty, v1.ConsolidationPolicyWhenEmptyOrUnderutilized, v1.ConsolidationPolicyBalanced:
	default:
		p.PolicyUnknown = true
		faults.Add(PoolObject(p.Name), "spec.disruption.consolidationPolicy", "is %q; use %s, %s or %s", p.Policy,
			v1.ConsolidationPolicyWhenEmpty, v1.ConsolidationPolicyWhenEmptyOrUnderutilized, v1.ConsolidationPolicyBalanced)
	}
}

// readTypes indexes a catalog by name. Two different types with one name are a fault, and both are
// left out.
func (p *NodePool) readTypes(types []*cloudprovider.InstanceType, faults *Faults) {
	twice := map[string]bool{}
	for i, t := range types {
		switch {
		case t == nil:
			faults.Add(PoolObject(p.Name), fmt.Sprintf("InstanceTypes[%d]", i), "is nil; leave it out")
		case p.Types[t.Name] != nil && p.Types[t.Name] != t:
			twice[t.Name] = true
		default:
			p.Types[t.Name] = t
		}
	}
	for name := range twice { // faults are sorted later
		faults.Add(PoolObject(p.Name), "InstanceTypes", "%s is listed twice; list each type once", name)
		delete(p.Types, name)
	}
}

// headcount counts the nodes of a static pool by state, like provisioning.StaticPool. Nodes with
// which a decision deals are pending.
type headcount struct{ Active, Pending, deleting int }

func (h *headcount) add(m *StateNode) {
	switch {
	case m.Leaving:
		h.deleting++
	case m.Active():
		h.Active++
	default:
		h.Pending++
	}
}

// Room returns how many nodes the pool may have in addition to those it has, whatever their state.
// A limit that cannot be read leaves no room.
func (p *NodePool) Room() int {
	limit, limited, _ := nodelimit.Of(p.Spec.Limits)
	if !limited {
		return math.MaxInt
	}
	h := p.Count
	return int(min(max(0, limit-int64(h.Active+h.Pending+h.deleting)), math.MaxInt))
}
