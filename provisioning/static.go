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

// StaticPool is the state of a NodePool with spec.replicas: how many nodes it has, how many to
// launch and which to remove.
//
// Its nodes are those of Input.Nodes with the label karpenter.sh/nodepool and its name, with a
// NodeClaim or without, launched or not. Each is in one of three states: deleting, if its Node or
// NodeClaim has a deletion timestamp or the cloud is terminating the machine; pending disruption,
// if it is marked for removal (taint karpenter.sh/disrupted, or condition DisruptionReason) and not
// removed yet; or active.
//
// Zones are not balanced: a NodeClaim allows all zones of the template, and the provider chooses.
// For a fixed number of nodes in each zone use one pool for each zone. As in Karpenter, budgets do
// not apply to a change of spec.replicas.
type StaticPool struct {
	// Pool is the NodePool.
	Pool *v1.NodePool

	// Active, PendingDisruption and Deleting count its nodes by state.
	Active, PendingDisruption, Deleting int

	// Missing is the number of nodes to launch now: spec.replicas minus Active and
	// PendingDisruption, minus HeldBack. A node pending disruption counts, because the controller
	// that marked it replaces it.
	Missing int

	// HeldBack is the number of missing nodes that are not launched now, and Held the reason, empty
	// if there are none. Reasons are: the pool is being deleted or not ready, its template allows
	// no node, no offering is available, the pool is at its limit of nodes, or more than 10,000
	// nodes are missing at once. All nodes count for the limit, terminating ones included.
	HeldBack int
	Held     string

	// Excess is the number of active nodes above spec.replicas.
	Excess int

	// Remove names the Excess nodes in the order in which to remove them; see Node.Name. The order
	// is
	//
	//  1. NodeClaims without a machine: no Node and no provider ID;
	//  2. nodes whose only pods are of DaemonSets or static, unless one of these pods or the node
	//     has the do-not-disrupt annotation;
	//  3. other nodes without that annotation on the node or a pod;
	//  4. all other nodes;
	//
	// within each group first those whose pods cost least to evict, then the oldest, then by name.
	// Pods that have finished or are being deleted do not count. A pod costs 1 + c/2^27 + p/2^25,
	// limited to the range -10 to 10, where p is its priority and c the integer in its annotation
	// karpenter.sh/disruption-cost, or else in controller.kubernetes.io/pod-deletion-cost. A
	// duration in karpenter.sh/do-not-disrupt counts as long as the pod lives, because no clock is
	// read. Package disruption reads one: there such a duration ends, and costs fall as a node
	// approaches its expireAfter, so it may choose other nodes for the reason ScaledDown.
	//
	// The program that removes the nodes is responsible for budgets, pod disruption budgets and the
	// drain.
	Remove []string

	// Requirements are those of the template for its nodes: requirements, labels, pool and node
	// class.
	Requirements requirements.Set

	// Labels are the labels to give each new node, as in NewNode.Labels.
	Labels map[string]string

	// Pods are the pods of the plan on Missing nodes: an entry for each node with pods, in the
	// order of NodeClaims, sorted by namespace and name. A missing node takes pods as a NodeClaim
	// that has not been launched does: as many as its smallest instance type holds, and none whose
	// constraints need to know its zone. StaticPools leaves it nil.
	Pods [][]*corev1.Pod

	// Options are the ways to launch a node of the pool, cheapest first: every available offering
	// of its instance types that the template allows. It is empty if no node is Missing, or if
	// Input.InstanceTypes has no entry for the pool; a NodeClaim can be created even then.
	Options []cloudprovider.LaunchOption
}

// StaticPools returns the state of each NodePool with spec.replicas, sorted by name. It is the part
// of Solve that concerns static pools, without Pods. It reads only NodePools, InstanceTypes, Nodes,
// Overlays and Vocabulary of the input, and ignores other pools. The input is not changed, its
// order has no influence, and the result points into it.
//
// The error joins an *InputError for each fault; see Faults. With an error there is no result.
func StaticPools(in Input) ([]StaticPool, error) {
	var f model.Faults
	v := in.Vocabulary
	if v == nil {
		v = requirements.DefaultVocabulary()
	}
	nodes := model.SortedNodes(forModel(in.Nodes), &f)
	types, _, err := overlay.Apply(in.Overlays, in.NodePools, in.InstanceTypes, v)
	if err != nil {
		f.InField("Overlays", " is ", err)
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

// NodeClaims returns the Missing nodes as karpenter.sh/v1 objects to create: made from the template
// unchanged, named by generateName, owned by the pool, with the hash of the pool for drift. They
// have no resource requests, because they are for no particular pods. They are equal; the API
// server names them. They share nothing with s.
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

// Request returns the launch request for one node of the pool, with all Options. The token must be
// unique to the node: see cloudprovider.LaunchRequest. Slices and maps are shared with s.
func (s StaticPool) Request(token string) cloudprovider.LaunchRequest {
	if s.Pool == nil {
		return cloudprovider.LaunchRequest{Token: token}
	}
	return s.node().Request(token)
}

// node returns a node to launch without pods.
func (s *StaticPool) node() *NewNode {
	return &NewNode{Pool: s.Pool, Requirements: s.Requirements, Labels: s.Labels, Options: s.Options}
}
