package provisioning

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/static"
	"github.com/dovetail-sdk/dovetail/internal/nodelimit"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// StaticPool says how a NodePool with spec.replicas stands: how many nodes it
// has, how many to launch and which to remove.
//
// Its nodes are those of Input.Nodes with the label karpenter.sh/nodepool and
// its name, with a NodeClaim or without, launched or not. Each is in one of
// three states: deleting, if its Node or NodeClaim has a deletion timestamp or
// the cloud is ending the machine; pending disruption, if somebody has marked it
// to be removed (taint karpenter.sh/disrupted, or condition DisruptionReason)
// and has not done so yet; or active.
//
// Zones are not balanced: a NodeClaim allows all zones of the template, and the
// provider picks. A pool for each zone gives a fixed number in each. Budgets do
// not apply to a change of spec.replicas, as in Karpenter.
type StaticPool struct {
	// Pool is the NodePool.
	Pool *v1.NodePool

	// Active, PendingDisruption and Deleting count its nodes by state.
	Active, PendingDisruption, Deleting int

	// Missing is the number of nodes to launch now: spec.replicas less Active
	// and PendingDisruption, where nothing holds some back. A node that is
	// pending disruption counts because whoever marked it replaces it.
	Missing int

	// HeldBack is how many more nodes the pool is short of that are not to be
	// launched now, and Held says why, empty if there are none. The pool may be
	// on its way out, not ready, without a node that its template allows, without
	// an offering that is available, at its limit of nodes, or short of more than
	// 10,000 nodes. All nodes count
	// for the limit, also those on their way out.
	HeldBack int
	Held     string

	// Excess is the number of active nodes above spec.replicas.
	Excess int

	// Remove names the Excess nodes to remove, the first first; see Node.Name.
	// In this order it takes
	//
	//  1. NodeClaims that have no machine yet: no Node and no provider ID;
	//  2. nodes with no pods but those of DaemonSets and static pods, unless
	//     one of these, or the node, asks not to be disrupted;
	//  3. other nodes where nothing asks so;
	//  4. the rest;
	//
	// within each the one whose pods cost the least to evict, then the oldest,
	// then the first by name. Pods that have finished or are being deleted
	// count for nothing. A pod costs 1 + c/2^27 + p/2^25, within -10 and 10,
	// where p is its priority and c the integer in its annotation
	// karpenter.sh/disruption-cost, or else in
	// controller.kubernetes.io/pod-deletion-cost. A duration in
	// karpenter.sh/do-not-disrupt counts for as long as the pod lives, as no
	// clock is read. Package disruption reads one: there such a duration ends,
	// and the costs are less the closer a node is to its expireAfter, so that
	// what it takes for the reason ScaledDown can be others.
	//
	// Budgets, pod disruption budgets and the drain are for whoever removes the
	// nodes.
	Remove []string

	// Requirements are what the template asks of the nodes: requirements,
	// labels, pool and node class.
	Requirements requirements.Set

	// Labels are the labels to give each new node, as in NewNode.Labels.
	Labels map[string]string

	// Pods are the pods of the plan that have a place on Missing nodes: an entry for each node
	// with pods, in the order of NodeClaims, sorted by namespace and name. A missing node takes
	// pods as a NodeClaim that has not been launched does: as many as its smallest instance type
	// holds, and none that must know its zone. It is nil in what StaticPools returns.
	Pods [][]*corev1.Pod

	// Options are the ways to launch a node of the pool, cheapest first: every
	// launchable offering of its catalog that the template allows. Empty if
	// nothing is Missing, or if Input.InstanceTypes has no catalog for the
	// pool: then a NodeClaim says what is wanted all the same.
	Options []cloudprovider.LaunchOption
}

// StaticPools says how each NodePool with spec.replicas stands, sorted by name.
// It is the part of Solve that concerns them, without Pods, for callers who want no more. Of
// the input it looks at NodePools, InstanceTypes, Nodes, Overlays and Vocabulary;
// other pools are passed over. The input is not changed, and its order has no
// influence on the result, which points back into it.
//
// The error joins an *InputError for each fault; see Faults. There is no result
// then.
func StaticPools(in Input) ([]StaticPool, error) {
	var f model.Faults
	v := in.Vocabulary
	if v == nil {
		v = requirements.DefaultVocabulary()
	}
	nodes := model.SortedNodes(forModel(in.Nodes), &f)
	types, _, err := overlay.Apply(in.Overlays, in.NodePools, in.InstanceTypes, v)
	if err != nil {
		f.Split("Overlays", err)
	} else {
		in.InstanceTypes = types
	}
	pools := slices.DeleteFunc(catalog.NewPools(in.NodePools, in.InstanceTypes, v, &f), func(p catalog.Pool) bool { return p.Object.Spec.Replicas == nil })
	catalog.CheckTypes(pools, map[*cloudprovider.InstanceType]bool{}, &f)
	for i := range pools {
		if _, _, err := nodelimit.Of(pools[i].Object.Spec.Limits); err != nil {
			f.Wrap(catalog.PoolObject(pools[i].Object), "spec.limits[nodes]", err)
		}
	}
	standing := static.Pools(pools, nodes, v, &f)
	if err := f.Err(); err != nil {
		return nil, inputErrors(err)
	}
	return publishStatic(standing), nil
}

// NodeClaims returns the Missing nodes as karpenter.sh/v1 objects to create:
// made from the template with nothing narrowed, named by generateName, owned by
// the pool, with the hash of the pool for drift. They ask for no resources, as
// they are for no pods in particular. They differ in nothing; the API server
// names them. The objects are the caller's own.
func (s StaticPool) NodeClaims() []*v1.NodeClaim {
	if s.Missing <= 0 || s.Pool == nil {
		return nil
	}
	n := s.node()
	claim := n.claim(n.annotations(n.Options))
	claim.Spec.Requirements = s.Requirements.NodeSelectorRequirements()
	out := make([]*v1.NodeClaim, s.Missing)
	out[0] = claim
	for i := 1; i < len(out); i++ {
		out[i] = claim.DeepCopy()
	}
	return out
}

// Request is the order for one node of the pool as a CloudProvider takes it,
// with all Options. The token is unique to the node: see
// cloudprovider.LaunchRequest. Slices and maps are shared with s.
func (s StaticPool) Request(token string) cloudprovider.LaunchRequest {
	if s.Pool == nil {
		return cloudprovider.LaunchRequest{Token: token}
	}
	return s.node().Request(token)
}

// node is one node to launch, for no pods.
func (s *StaticPool) node() *NewNode {
	return &NewNode{Pool: s.Pool, Requirements: s.Requirements, Labels: s.Labels, Options: s.Options}
}
