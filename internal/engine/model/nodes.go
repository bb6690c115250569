package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/nodeindex"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// SortedNodes returns the nodes sorted by name, without those at fault. It reports nodes that are
// empty, nameless or listed twice.
func SortedNodes(nodes []Node, f *Faults) []Node {
	sorted := make([]Node, 0, len(nodes))
	for i, n := range nodes {
		switch {
		case n.Node == nil && n.NodeClaim == nil:
			f.Add(fmt.Sprintf("Nodes[%d]", i), "", "has neither a Node nor a NodeClaim; set at least one")
		case n.Name() == "":
			f.Add(fmt.Sprintf("Nodes[%d]", i), "metadata.name", "is empty; nodes are told apart by name")
		default:
			sorted = append(sorted, n)
		}
	}
	byName := func(a, b Node) int { return strings.Compare(a.Name(), b.Name()) }
	if !slices.IsSortedFunc(sorted, byName) { // the nodes of a what-if are sorted already
		slices.SortStableFunc(sorted, byName)
	}
	checkNodes(sorted, f)
	return slices.CompactFunc(sorted, func(a, b Node) bool {
		if a.Name() != b.Name() {
			return false
		}
		f.Add(NodeObject(b), "", "is listed twice; list each node once, with its NodeClaim beside it")
		return true
	})
}

// checkNodes reports nil pods on nodes, and NodeClaims that are listed apart from their Node: their
// capacity would count twice.
func checkNodes(nodes []Node, f *Faults) {
	coming := false
	for _, n := range nodes {
		for i, pod := range n.Pods {
			if pod == nil {
				f.Add(NodeObject(n), fmt.Sprintf("Pods[%d]", i), "is nil; leave it out")
			}
		}
		coming = coming || n.Node == nil
	}
	if !coming {
		return
	}
	claimed, named := map[string]bool{}, map[string]*corev1.Node{}
	for _, n := range nodes {
		if n.Node == nil {
			continue
		}
		named[n.Node.Name] = n.Node
		if n.NodeClaim != nil {
			claimed[n.NodeClaim.Name] = true
		}
	}
	for _, n := range nodes {
		if n.Node != nil {
			continue
		}
		of := named[n.NodeClaim.Status.NodeName]
		if claimed[n.NodeClaim.Name] || of != nil && !nodeindex.OtherMachine(n.NodeClaim, of) {
			f.Add(NodeObject(n), "", "is listed apart from its Node; list both in one entry")
		}
	}
}

// CheckBound reports pods listed on a node whose spec.nodeName is another node. It passes over pods
// that have finished, and NodeClaims without a Node, because the name of the Node is not known yet.
func CheckBound(n Node, f *Faults) {
	if n.Node == nil {
		return
	}
	for _, pod := range n.Pods {
		if pod == nil || podlife.Finished(pod) {
			continue
		}
		if on := pod.Spec.NodeName; on != "" && on != n.Node.Name {
			f.Add(PodObject(pod), "spec.nodeName", "is %q, but the pod is listed under %s; list it under the node that it is bound to", on, NodeObject(n))
		}
	}
}

// CheckPair reports a NodeClaim that belongs to another machine than the Node with which it is
// listed, and returns false then. A Node that has come back under another name, with the same
// provider ID, is the same machine.
func CheckPair(n Node, add func(object, field, format string, args ...any)) bool {
	if n.Node == nil || n.NodeClaim == nil {
		return true
	}
	own, other := n.NodeClaim.Status.ProviderID, n.Node.Spec.ProviderID
	sound := !nodeindex.OtherMachine(n.NodeClaim, n.Node)
	if !sound {
		add(claimObject(n), "status.providerID", "is %q, but that of %s, with which it is listed, is %q; list the NodeClaim with its own Node", own, NodeObject(n), other)
	}
	if name := n.NodeClaim.Status.NodeName; name != "" && name != n.Node.Name && (own == "" || own != other) {
		sound = false
		add(claimObject(n), "status.nodeName", "is %q, but the NodeClaim is listed with %s; list it with its own Node", name, NodeObject(n))
	}
	return sound
}

// providerIDs returns the IDs of the machine that the NodeClaim and the Node state: at most one if
// they agree.
func (n *Node) providerIDs() []string {
	var out []string
	if n.NodeClaim != nil && n.NodeClaim.Status.ProviderID != "" {
		out = append(out, n.NodeClaim.Status.ProviderID)
	}
	if n.Node != nil && n.Node.Spec.ProviderID != "" && !slices.Contains(out, n.Node.Spec.ProviderID) {
		out = append(out, n.Node.Spec.ProviderID)
	}
	return out
}

// ReportShared calls add for each NodeClaim that is listed with two Nodes, and for each machine, by
// its provider ID, that two nodes with a NodeClaim have. With either, one NodeClaim is enough: it is no
// fault of a plan that a Node which has come back under another name is still there under the old
// one, but to end its machine ends both. It returns the names of the nodes concerned. Two nodes of
// one name are passed over: SortedNodes reports them.
func ReportShared(nodes []Node, either bool, add func(object, field, format string, args ...any)) map[string]bool {
	found := map[string]bool{}
	ofClaim, ofID := map[string]int{}, map[string]int{}
	for i, n := range nodes {
		if n.Node != nil && n.NodeClaim != nil {
			at, shared := ofClaim[n.NodeClaim.Name]
			if shared && nodes[at].Name() != n.Name() {
				found[nodes[at].Name()], found[n.Name()] = true, true
				add(claimObject(n), "", "is listed with %s and with %s; list it with its own Node only", NodeObject(nodes[at]), NodeObject(n))
			} else {
				ofClaim[n.NodeClaim.Name] = i
			}
		}
		for _, id := range n.providerIDs() {
			at, shared := ofID[id]
			if !shared {
				ofID[id] = i
				continue
			}
			other := nodes[at]
			switch {
			case n.Name() == other.Name(), n.NodeClaim == nil && other.NodeClaim == nil, !either && (n.NodeClaim == nil || other.NodeClaim == nil),
				n.NodeClaim != nil && other.NodeClaim != nil && n.NodeClaim.Name == other.NodeClaim.Name:
				continue // harmless, or reported otherwise
			}
			found[other.Name()], found[n.Name()] = true, true
			field := "spec.providerID"
			if n.Node == nil || n.Node.Spec.ProviderID != id {
				field = "status.providerID"
			}
			add(NodeObject(n), field, "is %q, as for %s; a machine is one node, so leave one of the two out", id, NodeObject(other))
		}
	}
	return found
}

// unique names what one node alone may have: its NodeClaim by name, or its machine by provider ID.
type unique struct {
	machine bool
	text    string
}

// uniques lists what a node alone may have.
func (n *Node) uniques() (out []unique) {
	if n.NodeClaim != nil {
		out = append(out, unique{text: n.NodeClaim.Name})
	}
	for _, id := range n.providerIDs() {
		out = append(out, unique{true, id})
	}
	return out
}

// MayShare says whether two nodes may have one NodeClaim or one machine, which ReportShared then decides. It
// reads unchanged nodes only if a changed one has a NodeClaim or a machine that no node had before, so it
// takes O(changes) for a what-if.
func (r *Rooms) MayShare() bool {
	fresh := map[unique]bool{}
	for _, i := range r.Changed {
		for _, id := range r.Of[i].Node.uniques() {
			if fresh[id] {
				return true
			}
			fresh[id] = true
		}
	}
	for _, room := range r.gone {
		for _, id := range room.Node.uniques() {
			delete(fresh, id)
		}
	}
	if len(fresh) == 0 {
		return false
	}
	for _, k := range r.kept {
		for _, room := range r.Of[k.at : k.at+k.count] {
			if slices.ContainsFunc(room.Node.uniques(), func(id unique) bool { return fresh[id] }) {
				return true
			}
		}
	}
	return false
}

func claimObject(n Node) string { return fmt.Sprintf("NodeClaim %q", n.NodeClaim.Name) }

// NodeObject returns the name that faults give a node.
func NodeObject(n Node) string {
	if n.Node == nil {
		return fmt.Sprintf("NodeClaim %q", n.Name())
	}
	return fmt.Sprintf("Node %q", n.Name())
}

// Leaving says whether the node is being deleted, so that no pod should be placed there.
func (n Node) Leaving() bool {
	return n.Node != nil && !n.Node.DeletionTimestamp.IsZero() ||
		n.NodeClaim != nil && !n.NodeClaim.DeletionTimestamp.IsZero() ||
		n.HasCondition(v1.ConditionTypeInstanceTerminating)
}

// Registered says whether the Node has its own labels and taints already.
func (n Node) Registered() bool {
	return n.Initialized() || n.Node != nil && n.Node.Labels[v1.NodeRegisteredLabelKey] == "true"
}

// Launched says whether the instance of the node is known. Of a NodeClaim whose instance is not
// known, only the requirements are certain.
func (n Node) Launched() bool {
	return n.Node != nil || n.NodeClaim.Status.ProviderID != "" || len(n.NodeClaim.Status.Allocatable) > 0
}

// Initialized says whether the node has started completely. A Node without a NodeClaim counts as
// initialised.
func (n Node) Initialized() bool {
	return n.Node != nil && (n.NodeClaim == nil || n.Node.Labels[v1.NodeInitializedLabelKey] == "true")
}

// PoolName returns the name of the node's pool, "" if it has none.
func (n Node) PoolName() string { return n.Labels()[v1.NodePoolLabelKey] }

// Labels returns the labels of the Node. Until the node is registered they include those of its
// NodeClaim, which the Node will be given.
func (n Node) Labels() map[string]string {
	if n.Registered() {
		return n.Node.Labels
	}
	out := map[string]string{}
	if n.Node != nil {
		maps.Copy(out, n.Node.Labels)
	}
	maps.Copy(out, n.NodeClaim.Labels)
	if !n.Launched() {
		addEstimated(out, n.NodeClaim)
	}
	if n.Node == nil && out[corev1.LabelHostname] == "" {
		out[corev1.LabelHostname] = n.HostName()
	}
	return out
}

// addEstimated adds the labels for which the requirements of a claim allow exactly one value. A
// claim with invalid requirements adds none.
func addEstimated(labels map[string]string, claim *v1.NodeClaim) {
	asked, err := requirements.FromRequirements(claim.Spec.Requirements, nil)
	if err != nil {
		return
	}
	for r := range asked.All() {
		values, finite := r.Values()
		if _, set := labels[r.Key()]; !set && finite && len(values) == 1 && !r.AllowsAbsent() {
			labels[r.Key()] = values[0]
		}
	}
}

// HostName returns the name of the Node, or NewHostname for a NodeClaim whose Node has no known
// name yet.
func (n Node) HostName() string {
	switch {
	case n.Node != nil:
		return n.Node.Name
	case n.NodeClaim.Status.NodeName != "":
		return n.NodeClaim.Status.NodeName
	}
	return NewHostname
}

// Taints returns the hard taints that pods must tolerate, including that of a cordon. Taints that
// are removed while a node starts are left out until it has started.
func (n Node) Taints() []corev1.Taint {
	var all []corev1.Taint
	if n.Node != nil {
		all = slices.Clone(n.Node.Spec.Taints)
	}
	if !n.Registered() {
		all = append(all, n.NodeClaim.Spec.Taints...)
	}
	starting := !n.Initialized() || n.rebooting()
	var out []corev1.Taint
	for _, t := range HardTaints(all) {
		if starting && (startingTaint(&t) || isStartupTaint(n.NodeClaim, &t)) {
			continue
		}
		out = append(out, t)
	}
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if n.Node != nil && n.Node.Spec.Unschedulable && !slices.ContainsFunc(out, func(t corev1.Taint) bool { return t.MatchTaint(&cordon) }) {
		out = append(out, cordon)
	}
	return out
}

// softTaints returns the PreferNoSchedule taints of the node.
func (n Node) softTaints() []corev1.Taint {
	if n.Node != nil {
		return SoftTaints(n.Node.Spec.Taints)
	}
	return SoftTaints(n.NodeClaim.Spec.Taints)
}

func isStartupTaint(claim *v1.NodeClaim, t *corev1.Taint) bool {
	return slices.ContainsFunc(claim.Spec.StartupTaints, func(s corev1.Taint) bool { return s.MatchTaint(t) })
}

// rebooting says whether the node is being rebooted and will return.
func (n Node) rebooting() bool { return n.HasCondition(v1.ConditionTypeRebooting) }

// HasCondition says whether a condition of the NodeClaim is True.
func (n Node) HasCondition(kind string) bool {
	if n.NodeClaim == nil {
		return false
	}
	for _, c := range n.NodeClaim.Status.Conditions {
		if c.Type == kind {
			return c.Status == metav1.ConditionTrue
		}
	}
	return false
}

// Capacity returns the whole capacity of the node.
func (n Node) Capacity() (resources.List, error) {
	return n.merged(func(s *corev1.NodeStatus) corev1.ResourceList { return s.Capacity },
		func(s *v1.NodeClaimStatus) corev1.ResourceList { return s.Capacity })
}

// Allocatable returns what pods may use of the node.
func (n Node) Allocatable() (resources.List, error) {
	return n.merged(func(s *corev1.NodeStatus) corev1.ResourceList { return s.Allocatable },
		func(s *v1.NodeClaimStatus) corev1.ResourceList { return s.Allocatable })
}

// merged reads a resource list of the Node. Until the node is initialised, entries that are missing
// or zero come from the NodeClaim, because kubelets publish extended resources late.
func (n Node) merged(ofNode func(*corev1.NodeStatus) corev1.ResourceList, ofClaim func(*v1.NodeClaimStatus) corev1.ResourceList) (resources.List, error) {
	var own, claimed resources.List
	var err error
	if n.Node != nil {
		if own, err = resources.FromResourceList(ofNode(&n.Node.Status)); err != nil || n.Initialized() {
			return own, err
		}
	}
	if claimed, err = resources.FromResourceList(ofClaim(&n.NodeClaim.Status)); err != nil {
		return resources.List{}, err
	}
	out := claimed
	for name, amount := range own.All() {
		if amount != 0 {
			out = out.With(name, amount)
		}
	}
	return out, nil
}
