package nodestate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// State is an existing node as it will be once it is ready for pods.
type State struct {
	Name     string
	Pool     string       // "" for a node without a NodePool
	Node     *corev1.Node // name and labels only
	Taints   []corev1.Taint
	Settling bool          // it has a NodeClaim and is starting for the first time or rebooting
	Coming   *v1.NodeClaim // set if the node is not registered yet, and may get further labels when it is
	Starting bool          // it has a NodeClaim and is not initialised yet
	Deleting bool
	Declared []string // features of status.declaredFeatures

	Allocatable, Capacity       resources.List
	AllocatableErr, CapacityErr error
	Shut                        string // why it has no room at all, "" if it has some
}

// Reader reads nodes. It changes neither the nodes nor the catalogs.
type Reader struct {
	Vocabulary    *requirements.Vocabulary
	InstanceTypes map[string][]*cloudprovider.InstanceType // by pool
}

// Read returns the state of a node, completed from its NodeClaim. It returns nil if there is
// neither a Node nor a NodeClaim.
func (r *Reader) Read(in provisioning.Node) *State {
	claim := in.NodeClaim
	if in.Node == nil && claim == nil {
		return nil
	}
	node, claimed := in.Node, claim != nil
	if node == nil {
		node = &corev1.Node{}
	}
	if !claimed {
		claim = &v1.NodeClaim{}
	}
	initialized := !claimed || node.Labels[v1.NodeInitializedLabelKey] == "true"
	registered := initialized || node.Labels[v1.NodeRegisteredLabelKey] == "true"

	n := &State{Name: in.Name(), Starting: !initialized}
	if !registered {
		n.Coming = claim
	}
	n.Settling = !initialized || hasCondition(claim.Status.Conditions, v1.ConditionTypeRebooting)
	n.Deleting = Leaving(in)
	n.Node = r.standingNode(in, claim, registered)
	n.Declared = node.Status.DeclaredFeatures
	n.Pool = n.Node.Labels[v1.NodePoolLabelKey]
	n.Taints = standingTaints(node, claim, registered, n.Settling)

	if unlaunched(in) {
		r.expect(n, claim)
	} else {
		measure(n, node, claim, initialized)
	}
	return n
}

// measure sets the allocatable and the capacity that node and claim state.
func measure(n *State, node *corev1.Node, claim *v1.NodeClaim, initialized bool) {
	allocatable, capacity := node.Status.Allocatable, node.Status.Capacity
	if !initialized {
		allocatable = filled(allocatable, claim.Status.Allocatable)
		capacity = filled(capacity, claim.Status.Capacity)
	}
	n.Allocatable, n.AllocatableErr = resources.FromResourceList(allocatable)
	n.Capacity, n.CapacityErr = resources.FromResourceList(capacity)
}

// Leaving says whether a node is being deleted: its Node or its NodeClaim is, or its machine is
// being terminated.
func Leaving(in provisioning.Node) bool {
	return in.Node != nil && in.Node.DeletionTimestamp != nil ||
		in.NodeClaim != nil && (in.NodeClaim.DeletionTimestamp != nil || hasCondition(in.NodeClaim.Status.Conditions, v1.ConditionTypeInstanceTerminating))
}

func hasCondition(conditions []metav1.Condition, kind string) bool {
	for _, condition := range conditions {
		if condition.Type == kind && condition.Status == metav1.ConditionTrue {
			return true
		}
	}
	return false
}

// standingNode returns the node with the labels that it will have: when it registers it gets those
// of the NodeClaim and, for an unlaunched claim, those that follow from its requirements.
func (r *Reader) standingNode(in provisioning.Node, claim *v1.NodeClaim, registered bool) *corev1.Node {
	standing := &corev1.Node{}
	standing.Name = claim.Status.NodeName
	labels := map[string]string{}
	if in.Node != nil {
		standing.Name = in.Node.Name
		maps.Copy(labels, in.Node.Labels)
	}
	if standing.Name == "" {
		standing.Name = nodefit.NewNodeName
	}
	if !registered {
		maps.Copy(labels, claim.Labels)
	}
	if unlaunched(in) {
		for key, value := range r.settledLabels(claim) {
			if _, given := claim.Labels[key]; !given {
				labels[key] = value
			}
		}
	}
	if _, named := labels[corev1.LabelHostname]; !named && in.Node == nil {
		labels[corev1.LabelHostname] = standing.Name
	}
	standing.Labels = labels
	return standing
}

// standingTaints returns the taints that are not removed when the node becomes ready.
func standingTaints(node *corev1.Node, claim *v1.NodeClaim, registered, settling bool) []corev1.Taint {
	taints := slices.Clone(node.Spec.Taints)
	if !registered {
		taints = append(taints, claim.Spec.Taints...)
	}
	if settling {
		taints = slices.DeleteFunc(taints, func(taint corev1.Taint) bool {
			return passing(taint) || slices.ContainsFunc(claim.Spec.StartupTaints, func(s corev1.Taint) bool {
				return s.MatchTaint(&taint)
			})
		})
	}
	if node.Spec.Unschedulable {
		taints = append(taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	return taints
}

// passing says whether every node has a taint while it starts or reboots.
func passing(taint corev1.Taint) bool {
	hard := taint.Effect == corev1.TaintEffectNoSchedule
	switch taint.Key {
	case corev1.TaintNodeNotReady:
		return hard || taint.Effect == corev1.TaintEffectNoExecute
	case corev1.TaintNodeUnreachable, "node.cloudprovider.kubernetes.io/uninitialized", v1.RebootingTaintKey:
		return hard
	case v1.UnregisteredTaintKey:
		return taint.Effect == corev1.TaintEffectNoExecute
	}
	return strings.HasPrefix(taint.Key, "readiness.k8s.io/")
}

// filled returns a list with its missing and zero entries taken from another: until a device plugin
// reports, the kubelet reports zero or nothing.
func filled(list, from corev1.ResourceList) corev1.ResourceList {
	full := corev1.ResourceList{}
	maps.Copy(full, list)
	for name, quantity := range from {
		if have := full[name]; have.IsZero() {
			full[name] = quantity
		}
	}
	return full
}

// unlaunched says whether a node is only a NodeClaim whose instance does not exist yet.
func unlaunched(in provisioning.Node) bool {
	return in.Node == nil && in.NodeClaim != nil &&
		in.NodeClaim.Status.ProviderID == "" && len(in.NodeClaim.Status.Allocatable) == 0
}

// settledLabels returns the labels for which the requirements of a claim allow one value only. A
// label with several values counts as absent until there is a Node.
func (r *Reader) settledLabels(claim *v1.NodeClaim) map[string]string {
	asked, err := requirements.FromRequirements(claim.Spec.Requirements, r.Vocabulary)
	if err != nil {
		return nil // expect reports it
	}
	settled := map[string]string{}
	for want := range asked.All() {
		if values, finite := want.Values(); finite && len(values) == 1 && !want.AllowsAbsent() {
			settled[want.Key()] = values[0]
		}
	}
	return settled
}

// expect sets the certain size of an unlaunched claim. It may become any instance type of its pool
// that its requirements admit, so pods get the least room of these types, and limits count the
// largest capacity.
func (r *Reader) expect(n *State, claim *v1.NodeClaim) {
	asked, err := requirements.FromNodeClaim(claim, r.Vocabulary)
	if err != nil {
		n.AllocatableErr, n.CapacityErr = err, err
		return
	}
	admitted := 0
	for _, t := range r.InstanceTypes[n.Pool] {
		if t == nil || !mayBecome(asked, t) {
			continue
		}
		_, room, err := Room(t, nil)
		if err != nil {
			n.AllocatableErr = errors.Join(n.AllocatableErr, fmt.Errorf("instance type %s: %w", t.Name, err))
		}
		if admitted++; admitted == 1 {
			n.Allocatable, n.Capacity = room, t.Capacity
			continue
		}
		n.Allocatable, n.Capacity = n.Allocatable.Min(room), n.Capacity.Max(t.Capacity)
	}
	switch debts := n.Allocatable.Negative(); {
	case n.AllocatableErr != nil:
	case n.Pool == "":
		n.Shut = "its NodeClaim is not launched, and names no NodePool"
	case admitted == 0:
		n.Shut = fmt.Sprintf("its NodeClaim is not launched, and its requirements admit no instance type of NodePool %s", n.Pool)
	case len(debts) > 0:
		n.Shut = fmt.Sprintf("its NodeClaim is not launched, and an instance type it may become has less %s than it holds back", debts[0])
	}
}

// mayBecome says whether a claim admits an instance type: for each label that both name, they have
// a state in common.
func mayBecome(asked requirements.Set, t *cloudprovider.InstanceType) bool {
	if asked.Impossible() {
		return false
	}
	have := t.Requirements.With(requirements.In(corev1.LabelInstanceTypeStable, t.Name))
	for want := range asked.All() {
		if label, named := have.Get(want.Key()); named && !label.Overlaps(want) {
			return false
		}
	}
	return true
}

// Room returns what an instance type has, and what it leaves for pods. An offering may change both;
// nil means whichever offering is launched.
func Room(t *cloudprovider.InstanceType, offering *cloudprovider.Offering) (capacity, allocatable resources.List, err error) {
	capacity = t.Capacity
	overhead, err := t.Overhead.Total()
	if offering != nil && offering.Capacity != nil {
		capacity = capacity.Merge(*offering.Capacity)
	}
	if offering != nil && offering.Overhead != nil {
		overhead = overhead.Merge(*offering.Overhead)
	}
	if err == nil {
		allocatable, err = left(capacity, overhead)
	}
	return capacity, allocatable, err
}

// left returns what a capacity minus an overhead leaves for pods. Huge pages are taken from the
// memory at boot.
func left(capacity, overhead resources.List) (resources.List, error) {
	list, err := capacity.Sub(overhead)
	if err != nil {
		return list, err
	}
	// An overhead of a resource that the type does not have leaves none, and not a negative amount.
	for name := range overhead.All() {
		if _, listed := capacity.Lookup(name); !listed {
			list = list.Without(name)
		}
	}
	for name, size := range capacity.All() {
		if !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			continue
		}
		list = list.With(corev1.ResourceMemory, max(0, list.Get(corev1.ResourceMemory)-size))
	}
	return list, nil
}
