package state

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/repair"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/internal/status"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// StateNode is a node of the cluster, with the properties that rules use.
type StateNode struct {
	provisioning.Node
	Name        string
	Labels      map[string]string // labels in force; see readMetadata
	Annotations map[string]string
	PoolName    string
	Pool        *NodePool // nil if there is none
	PodViews    []*PodView
	Underway    bool
	Leaving     bool // being deleted
	Buffer      bool

	InstanceType *cloudprovider.InstanceType // nil if not in the catalog
	Offering     *cloudprovider.Offering     // nil if not in the catalog
	Cost         podlife.EvictionUnits       // of the pods that need another place; negative costs count as zero
	AllCost      podlife.EvictionUnits       // of all pods
	Sick         repair.Diagnosis
}

func (f *Cluster) newStateNode(n provisioning.Node, faults *Faults) *StateNode {
	m := &StateNode{Node: n, Name: n.Name()}
	m.readMetadata()
	m.PoolName = m.Labels[v1.NodePoolLabelKey]
	if m.Pool = f.Pools[m.PoolName]; m.Pool != nil && m.Managed() {
		m.InstanceType = m.Pool.Types[m.Labels[corev1.LabelInstanceTypeStable]]
		m.Offering = offeringOf(m.InstanceType, m.Labels, f.Vocabulary)
	}
	_, m.Underway = f.In.MarkedForDeletion[m.Name]
	m.Leaving = Leaves(n)
	if m.Managed() {
		if d := m.NodeClaim.Spec.ExpireAfter.Duration; d != nil && *d < 0 {
			faults.Add(nodeObject(n), "NodeClaim.spec.expireAfter", "is %s; use a duration such as 720h, or Never", *d)
		}
		if d := m.NodeClaim.Spec.TerminationGracePeriod; d != nil && d.Duration < 0 {
			faults.Add(nodeObject(n), "NodeClaim.spec.terminationGracePeriod", "is %s; use a duration such as 1h, or leave it out for no limit", d.Duration)
		}
	}
	f.warnOfAge(m)
	f.warnOfAnnotations(m)
	m.PodViews = f.readPods(n, faults)
	for _, p := range m.PodViews {
		m.AllCost += p.cost
		if p.Reschedulable {
			m.Cost += max(p.cost, 0)
		}
	}
	return m
}

// Leaves reports whether a node is being deleted: its NodeClaim or Node is, or its machine is being terminated.
func Leaves(n provisioning.Node) bool {
	m := &StateNode{Node: n}
	return m.Managed() && !m.NodeClaim.DeletionTimestamp.IsZero() ||
		n.Node != nil && !n.Node.DeletionTimestamp.IsZero() || m.IsTrue(v1.ConditionTypeInstanceTerminating)
}

// warnOfAge warns of a node that is to be deleted at some age if its age is unknown. The zero time
// would make the node older than any limit.
func (f *Cluster) warnOfAge(m *StateNode) {
	if !m.Managed() || m.Marked() || !m.NodeClaim.CreationTimestamp.IsZero() {
		return
	}
	counts := m.HasLifetime() || f.In.Instances != nil && m.LaunchedAt().IsZero()
	for _, d := range nodeclaim.Deadlines(m.NodeClaim, m.Node.Node, &f.In.Timeouts) {
		counts = counts || d.Since.IsZero()
	}
	if counts {
		f.Warnings.Add(nodeObject(m.Node), "NodeClaim.metadata.creationTimestamp",
			"is not set, so the age of NodeClaim %q is not known and it is not deleted for it; set when it was created", m.NodeClaim.Name)
	}
}

// The names of the annotation karpenter.sh/do-not-disrupt before v1beta1, on pods and on nodes.
const (
	formerPodAnnotation  = v1.Group + "/do-not-evict"
	formerNodeAnnotation = v1.Group + "/do-not-consolidate"
)

// warnOfAnnotations warns of a protective annotation of a node that has no effect: an old name, or
// another value than true.
func (f *Cluster) warnOfAnnotations(m *StateNode) {
	if !m.Managed() {
		return
	}
	if _, found := m.Annotations[formerNodeAnnotation]; found {
		f.Warnings.Add(nodeObject(m.Node), annotation(formerNodeAnnotation), "counts for nothing since v1; write %s", v1.DoNotDisruptAnnotationKey)
	}
	for _, key := range []string{v1.DoNotDisruptAnnotationKey, v1.DoNotRepairAnnotationKey} {
		if text, found := m.Annotations[key]; found && text != "true" && text != "false" {
			f.Warnings.Add(nodeObject(m.Node), annotation(key), "%q counts for nothing; write true, or take the annotation off", text)
		}
	}
}

// readMetadata sets the labels and annotations in force: those of the NodeClaim until its Node is
// registered, and those of the Node afterwards.
func (m *StateNode) readMetadata() {
	if m.Registered() || m.NodeClaim == nil {
		m.Labels, m.Annotations = m.Node.Node.Labels, m.Node.Node.Annotations
		return
	}
	m.Labels, m.Annotations = m.NodeClaim.Labels, m.NodeClaim.Annotations
}

// Managed reports whether the node has a NodeClaim.
func (m *StateNode) Managed() bool { return m.NodeClaim != nil }

// Registered reports whether the Node was matched with its NodeClaim.
func (m *StateNode) Registered() bool {
	return m.Node.Node != nil && (m.NodeClaim == nil || m.Node.Node.Labels[v1.NodeRegisteredLabelKey] == "true" ||
		m.Node.Node.Labels[v1.NodeInitializedLabelKey] == "true")
}

// Initialized reports whether the node is ready for pods.
func (m *StateNode) Initialized() bool {
	return m.Node.Node != nil && (m.NodeClaim == nil || m.Node.Node.Labels[v1.NodeInitializedLabelKey] == "true")
}

// Rebooting reports whether the node is being rebooted.
func (m *StateNode) Rebooting() bool { return m.IsTrue(v1.ConditionTypeRebooting) }

// Closed reports whether the node takes no pod that is moved to save money, because it is not
// initialized yet or is being rebooted.
func (m *StateNode) Closed() bool { return m.Managed() && (!m.Initialized() || m.Rebooting()) }

// Ready reports whether the condition Ready of the Node is True.
func (m *StateNode) Ready() bool { return status.Ready(m.Node.Node) }

// Marked reports whether the node is on its way out.
func (m *StateNode) Marked() bool { return m.Underway || m.Leaving }

// Condition returns a condition of the NodeClaim, or nil if it has none of that type.
func (m *StateNode) Condition(kind string) *metav1.Condition {
	if m.NodeClaim == nil {
		return nil
	}
	return status.Find(m.NodeClaim.Status.Conditions, kind)
}

// IsTrue reports whether a condition of the NodeClaim is True.
func (m *StateNode) IsTrue(kind string) bool {
	c := m.Condition(kind)
	return c != nil && c.Status == metav1.ConditionTrue
}

// ProviderID returns the cloud's ID of the machine; empty if it has none yet.
func (m *StateNode) ProviderID() string {
	if m.NodeClaim != nil && m.NodeClaim.Status.ProviderID != "" {
		return m.NodeClaim.Status.ProviderID
	}
	if m.Node.Node != nil {
		return m.Node.Node.Spec.ProviderID
	}
	return ""
}

// ClaimBound returns the terminationGracePeriod of the NodeClaim; nil if it has none, or one below zero,
// which is a fault.
func (m *StateNode) ClaimBound() *time.Duration {
	if m.NodeClaim == nil || m.NodeClaim.Spec.TerminationGracePeriod == nil || m.NodeClaim.Spec.TerminationGracePeriod.Duration < 0 {
		return nil
	}
	return new(m.NodeClaim.Spec.TerminationGracePeriod.Duration)
}

// Bounded reports whether something limits the drain of the node if it is removed for a reason, so that
// do-not-disrupt of its pods and PodDisruptionBudgets do not count.
func (m *StateNode) Bounded(r budgets.Reason) bool {
	return (r == budgets.Drifted || r == budgets.Unhealthy) && m.ClaimBound() != nil || r == budgets.Unhealthy && m.Sick.Bound != nil
}

// BudgetState returns the state of the node that budgets count.
func (m *StateNode) BudgetState(reason budgets.Reason) budgets.NodeState {
	return budgets.NodeState{
		Managed:             m.Managed(),
		Initialized:         m.Initialized(),
		Ready:               m.Ready(),
		Disrupting:          m.Marked(),
		Rebooting:           m.Rebooting(),
		InstanceTerminating: m.IsTrue(v1.ConditionTypeInstanceTerminating),
		Reason:              reason,
	}
}

// HasLifetime reports whether the node has an expireAfter. One below zero is a fault, and counts as none.
func (m *StateNode) HasLifetime() bool {
	return m.Managed() && m.NodeClaim.Spec.ExpireAfter.Duration != nil && *m.NodeClaim.Spec.ExpireAfter.Duration >= 0
}

// offeringOf returns the offering with which a node was bought, whether available or not. It is
// found by the node's labels: zone, capacity type, and further labels of the offering that the node
// has. Of several the first by key is returned. A node of a reservation that is no longer offered
// counts as on-demand.
func offeringOf(t *cloudprovider.InstanceType, labels map[string]string, v *requirements.Vocabulary) *cloudprovider.Offering {
	if t == nil {
		return nil
	}
	zone, capacity := labels[corev1.LabelTopologyZone], labels[v1.CapacityTypeLabelKey]
	if zone == "" || capacity == "" {
		return nil
	}
	found := MatchOffering(t, labels, zone, capacity, v)
	if found == nil && capacity == v1.CapacityTypeReserved {
		found = MatchOffering(t, nil, zone, v1.CapacityTypeOnDemand, v)
	}
	return found
}

// MatchOffering returns the first offering by key with a zone and capacity type that no label
// contradicts.
func MatchOffering(t *cloudprovider.InstanceType, labels map[string]string, zone, capacity string, v *requirements.Vocabulary) *cloudprovider.Offering {
	var found *cloudprovider.Offering
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if o.Zone != zone || o.CapacityType != capacity || !Agrees(o, labels, v) {
			continue
		}
		if found == nil || o.Key("").Compare(found.Key("")) < 0 {
			found = o
		}
	}
	return found
}

// Agrees reports whether no label contradicts the requirements of an offering. If the zone is the
// same, other names of the zone are ignored: they differ between accounts, and a catalog may be
// from another account.
func Agrees(o *cloudprovider.Offering, labels map[string]string, v *requirements.Vocabulary) bool {
	sameZone := labels[corev1.LabelTopologyZone] == o.Zone
	for r := range o.Requirements.All() {
		if value, found := labels[r.Key()]; found && !r.Has(value) && !(sameZone && v.NamesZone(r.Key())) {
			return false
		}
	}
	return true
}

// Reservation returns the ID of the reservation that the machine uses; empty if none is known.
func (m *StateNode) Reservation() string {
	if m.Offering == nil {
		return ""
	}
	return m.Offering.ReservationID
}

// Price returns the price of the machine, in USD per hour, and false if it is unknown.
func (m *StateNode) Price() (price float64, known bool) {
	if m.Offering == nil || math.IsNaN(m.Offering.Price) || math.IsInf(m.Offering.Price, 0) || m.Offering.Price < 0 {
		return 0, false
	}
	return m.Offering.Price, true
}

// Active reports whether the node is neither on its way out nor marked to be removed.
func (m *StateNode) Active() bool {
	return !m.Marked() && !m.IsTrue(v1.ConditionTypeDisruptionReason) &&
		(m.Node.Node == nil || !status.HasTaint(m.Node.Node, v1.DisruptedNoScheduleTaint()))
}

// CountMovable returns the number of pods that need another place when the node is removed.
func (m *StateNode) CountMovable() int { return len(m.Movable()) }

// Movable lists the pods that need another place when the node is removed. Pods of StatefulSets
// that are being deleted are among them; podlife.Moved returns such a pod as it will be recreated.
func (m *StateNode) Movable() []*corev1.Pod { return m.pods(true) }

// Staying lists the other pods of the node.
func (m *StateNode) Staying() []*corev1.Pod { return m.pods(false) }

func (m *StateNode) pods(reschedulable bool) []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range m.PodViews {
		if p.Reschedulable == reschedulable {
			out = append(out, p.Pod)
		}
	}
	return out
}

// LaunchedAt returns when the machine was launched; zero if that is unknown.
func (m *StateNode) LaunchedAt() time.Time {
	if c := m.Condition(v1.ConditionTypeLaunched); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// PriceOf returns the total price of nodes, in USD per hour; nodes of unknown price count as 0.
func PriceOf(members []*StateNode) float64 {
	sum := 0.0
	for _, m := range members {
		p, _ := m.Price()
		sum += p
	}
	return sum
}

// DisruptionCost returns the cost of disrupting nodes: one for each node, plus the eviction costs
// of their pods.
func DisruptionCost(nodes ...*StateNode) float64 {
	units := podlife.EvictionUnits(0)
	for _, m := range nodes {
		units += podlife.OneEviction + m.Cost
	}
	return units.Float()
}

// LifetimeLeft returns the share of expireAfter that is left, from 0 to 1. It is 1 if the node does
// not expire, or if its age is unknown.
func (m *StateNode) LifetimeLeft(now time.Time) float64 {
	if !m.HasLifetime() {
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

// Asks reports whether an annotation of the Node or the NodeClaim is "true".
func (m *StateNode) Asks(annotation string) bool {
	return m.Node.Node != nil && m.Node.Node.Annotations[annotation] == "true" ||
		m.NodeClaim != nil && m.NodeClaim.Annotations[annotation] == "true"
}

// Rebooted returns when the last reboot of the node ended; zero if there was none.
func (m *StateNode) Rebooted() time.Time {
	if c := m.Condition(v1.ConditionTypeRebooting); c != nil && c.Status == metav1.ConditionFalse {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}
