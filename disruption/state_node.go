package disruption

import (
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/repair"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// stateNode is a node of the cluster and what the rules want to know of it.
type stateNode struct {
	provisioning.Node
	name        string
	labels      map[string]string // those in force; see readMetadata
	annotations map[string]string
	poolName    string
	pool        *nodePool // nil if there is none
	pods        []*podView
	underway    bool
	leaving     bool // being deleted
	buffer      bool

	instanceType *cloudprovider.InstanceType // nil if not in the catalog
	offering     *cloudprovider.Offering     // nil if not in the catalog
	cost         evictionUnits               // of the pods that need another place, none of them below zero
	allCost      evictionUnits               // of all pods
	sick         repair.Diagnosis
}

func (f *Cluster) newStateNode(n provisioning.Node, faults *faultList) *stateNode {
	m := &stateNode{Node: n, name: n.Name()}
	m.readMetadata()
	m.poolName = m.labels[v1.NodePoolLabelKey]
	if m.pool = f.pools[m.poolName]; m.pool != nil && m.managed() {
		m.instanceType = m.pool.types[m.labels[corev1.LabelInstanceTypeStable]]
		m.offering = offeringOf(m.instanceType, m.labels, f.vocabulary)
	}
	_, m.underway = f.in.MarkedForDeletion[m.name]
	m.leaving = n.NodeClaim != nil && !n.NodeClaim.DeletionTimestamp.IsZero() ||
		n.Node != nil && !n.Node.DeletionTimestamp.IsZero() || m.isTrue(v1.ConditionTypeInstanceTerminating)
	f.warnOfAge(m)
	f.warnOfAnnotations(m)
	m.pods = f.readPods(n, faults)
	for _, p := range m.pods {
		m.allCost += p.cost
		if p.reschedulable {
			m.cost += max(p.cost, 0)
		}
	}
	return m
}

// warnOfAge tells of a node that would be deleted at some age, but whose age is not
// known. The zero time would make it older than any limit.
func (f *Cluster) warnOfAge(m *stateNode) {
	if !m.managed() || m.marked() || !m.NodeClaim.CreationTimestamp.IsZero() {
		return
	}
	counts := m.hasLifetime() || f.in.Instances != nil && m.launchedAt().IsZero()
	for _, d := range nodeclaim.Deadlines(m.NodeClaim, m.Node.Node, f.timeouts()) {
		counts = counts || d.Since.IsZero()
	}
	if counts {
		f.warn(nodeObject(m.Node), "NodeClaim.metadata.creationTimestamp",
			"is not set, so the age of NodeClaim %q is not known and it is not deleted for it; set when it was created", m.NodeClaim.Name)
	}
}

// What the annotation karpenter.sh/do-not-disrupt was called before v1beta1, on pods
// and on nodes.
const (
	formerPodAnnotation  = v1.Group + "/do-not-evict"
	formerNodeAnnotation = v1.Group + "/do-not-consolidate"
)

// warnOfAnnotations tells of a node that somebody meant to protect in words that do
// not: of nodes only true counts.
func (f *Cluster) warnOfAnnotations(m *stateNode) {
	if !m.managed() {
		return
	}
	if _, found := m.annotations[formerNodeAnnotation]; found {
		f.warn(nodeObject(m.Node), annotation(formerNodeAnnotation), "counts for nothing since v1; write %s", v1.DoNotDisruptAnnotationKey)
	}
	for _, key := range []string{v1.DoNotDisruptAnnotationKey, v1.DoNotRepairAnnotationKey} {
		if text, found := m.annotations[key]; found && text != "true" && text != "false" {
			f.warn(nodeObject(m.Node), annotation(key), "%q counts for nothing; write true, or take the annotation off", text)
		}
	}
}

// readMetadata sets the labels and annotations in force: those of the NodeClaim
// until its Node is registered, and those of the Node from then on.
func (m *stateNode) readMetadata() {
	if m.registered() || m.NodeClaim == nil {
		m.labels, m.annotations = m.Node.Node.Labels, m.Node.Node.Annotations
		return
	}
	m.labels, m.annotations = m.NodeClaim.Labels, m.NodeClaim.Annotations
}

func (m *stateNode) managed() bool { return m.NodeClaim != nil }

func (m *stateNode) registered() bool {
	return m.Node.Node != nil && (m.NodeClaim == nil || m.Node.Node.Labels[v1.NodeRegisteredLabelKey] == "true" ||
		m.Node.Node.Labels[v1.NodeInitializedLabelKey] == "true")
}

func (m *stateNode) initialized() bool {
	return m.Node.Node != nil && (m.NodeClaim == nil || m.Node.Node.Labels[v1.NodeInitializedLabelKey] == "true")
}

func (m *stateNode) rebooting() bool { return m.isTrue(v1.ConditionTypeRebooting) }

func (m *stateNode) ready() bool {
	if m.Node.Node == nil {
		return false
	}
	for _, c := range m.Node.Node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// marked reports whether the node is on its way out.
func (m *stateNode) marked() bool { return m.underway || m.leaving }

// condition is one of the NodeClaim, or nil.
func (m *stateNode) condition(kind string) *metav1.Condition {
	if m.NodeClaim == nil {
		return nil
	}
	return conditionOf(m.NodeClaim.Status.Conditions, kind)
}

func (m *stateNode) isTrue(kind string) bool {
	c := m.condition(kind)
	return c != nil && c.Status == metav1.ConditionTrue
}

func conditionOf(list []metav1.Condition, kind string) *metav1.Condition {
	i := slices.IndexFunc(list, func(c metav1.Condition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// providerID is the cloud's name for the machine, empty if it has none yet.
func (m *stateNode) providerID() string {
	if m.NodeClaim != nil && m.NodeClaim.Status.ProviderID != "" {
		return m.NodeClaim.Status.ProviderID
	}
	if m.Node.Node != nil {
		return m.Node.Node.Spec.ProviderID
	}
	return ""
}

func (m *stateNode) target() Target {
	t := Target{Node: m.name, NodePool: m.poolName, ProviderID: m.providerID()}
	if m.NodeClaim != nil {
		t.NodeClaim = m.NodeClaim.Name
	}
	return t
}

// action is one about this node.
func (m *stateNode) action(r Reason, step Step) Action {
	return Action{Reason: r, Step: step, Targets: []Target{m.target()}}
}

// claimBound is the terminationGracePeriod of the NodeClaim, nil if it has none.
func (m *stateNode) claimBound() *time.Duration {
	if m.NodeClaim == nil || m.NodeClaim.Spec.TerminationGracePeriod == nil {
		return nil
	}
	d := max(m.NodeClaim.Spec.TerminationGracePeriod.Duration, 0)
	return &d
}

// state is how the node counts for budgets.
func (m *stateNode) state(reason Reason) budgets.NodeState {
	return budgets.NodeState{
		Managed:             m.managed(),
		Initialized:         m.initialized(),
		Ready:               m.ready(),
		Disrupting:          m.marked(),
		Rebooting:           m.rebooting(),
		InstanceTerminating: m.isTrue(v1.ConditionTypeInstanceTerminating),
		Reason:              reason,
	}
}

// hasLifetime reports whether the node is to be deleted at some age.
func (m *stateNode) hasLifetime() bool {
	return m.managed() && m.NodeClaim.Spec.ExpireAfter.Duration != nil
}

// lifetimeLeft is the part of expireAfter that is left, from 0 to 1; 1 if the
// node does not expire, or is of unknown age.
func (m *stateNode) lifetimeLeft(now time.Time) float64 {
	if !m.hasLifetime() {
		return 1
	}
	whole := *m.NodeClaim.Spec.ExpireAfter.Duration
	created := m.NodeClaim.CreationTimestamp.Time
	switch {
	case whole <= 0:
		return 0
	case created.IsZero():
		return 1
	}
	return min(max(float64(whole-now.Sub(created))/float64(whole), 0), 1)
}

// hasTaint reports whether a node has a taint with this key and effect.
func hasTaint(node *corev1.Node, t corev1.Taint) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(o corev1.Taint) bool { return o.MatchTaint(&t) })
}

// offeringOf is the offering by which a node was bought, whether available or
// not, judged by its labels: zone and capacity type, and of further labels those
// that the node has. Of several the first by key counts. A node of a reservation
// that is not offered any more is an on-demand machine now.
func offeringOf(t *cloudprovider.InstanceType, labels map[string]string, v *requirements.Vocabulary) *cloudprovider.Offering {
	if t == nil {
		return nil
	}
	zone, capacity := labels[corev1.LabelTopologyZone], labels[v1.CapacityTypeLabelKey]
	if zone == "" || capacity == "" {
		return nil
	}
	found := matchOffering(t, labels, zone, capacity, v)
	if found == nil && capacity == v1.CapacityTypeReserved {
		found = matchOffering(t, nil, zone, v1.CapacityTypeOnDemand, v)
	}
	return found
}

func matchOffering(t *cloudprovider.InstanceType, labels map[string]string, zone, capacity string, v *requirements.Vocabulary) *cloudprovider.Offering {
	var found *cloudprovider.Offering
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if o.Zone != zone || o.CapacityType != capacity || !agrees(o, labels, v) {
			continue
		}
		if found == nil || o.Key("").Compare(found.Key("")) < 0 {
			found = o
		}
	}
	return found
}

// agrees reports whether no label contradicts what sets an offering apart. Where the
// zone is the same, what else names it says no more: that differs from account to
// account, and a catalog may be of another.
func agrees(o *cloudprovider.Offering, labels map[string]string, v *requirements.Vocabulary) bool {
	sameZone := labels[corev1.LabelTopologyZone] == o.Zone
	for r := range o.Requirements.All() {
		if value, found := labels[r.Key()]; found && !r.Has(value) && !(sameZone && v.NamesZone(r.Key())) {
			return false
		}
	}
	return true
}

// reservation is the ID of the reservation that the machine draws on, empty if
// none is known.
func (m *stateNode) reservation() string {
	if m.offering == nil {
		return ""
	}
	return m.offering.ReservationID
}

// price is what the machine costs, in USD per hour, if that is known.
func (m *stateNode) price() (price float64, known bool) {
	if m.offering == nil || math.IsNaN(m.offering.Price) || math.IsInf(m.offering.Price, 0) || m.offering.Price < 0 {
		return 0, false
	}
	return m.offering.Price, true
}

// Leaving lists the nodes that are on their way out, by name: those whose NodeClaim
// or Node is being deleted, or whose machine is being ended. Their pods need a place
// elsewhere before they are evicted, so plan for them together with the pods that
// are pending:
//
//	problem, err := provisioning.Prepare(in.Input, nil)
//	problem, err = problem.Without(disruption.Leaving(in.Nodes)...)
//	plan, err := problem.Solve(ctx)
//
// Nodes that a command is to remove and that are not being deleted yet are not among
// them: their replacements are on their way.
func Leaving(nodes []provisioning.Node) []string {
	var names []string
	for _, n := range nodes {
		if name := n.Name(); name != "" && leaves(n) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func leaves(n provisioning.Node) bool {
	if n.Node != nil && n.Node.DeletionTimestamp != nil {
		return true
	}
	if n.NodeClaim == nil {
		return false
	}
	c := conditionOf(n.NodeClaim.Status.Conditions, v1.ConditionTypeInstanceTerminating)
	return n.NodeClaim.DeletionTimestamp != nil || c != nil && c.Status == metav1.ConditionTrue
}
