package disruption

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// member is a node of the fleet and what the rules want to know of it.
type member struct {
	provisioning.Node
	name        string
	labels      map[string]string // those in force; see readMetadata
	annotations map[string]string
	poolName    string
	pool        *poolView // nil if there is none
	pods        []*podView
	underway    bool
	leaving     bool // being deleted
	buffer      bool

	instanceType *cloudprovider.InstanceType // nil if not in the catalog
	offering     *cloudprovider.Offering     // nil if not in the catalog
	cost         evictionUnits               // of the pods that need another place, none of them below zero
	allCost      evictionUnits               // of all pods
	sick         sickness
}

func (f *Fleet) newMember(n provisioning.Node, faults *faultList) *member {
	m := &member{Node: n, name: n.Name()}
	m.readMetadata()
	m.poolName = m.labels[v1.NodePoolLabelKey]
	if m.pool = f.pools[m.poolName]; m.pool != nil && m.managed() {
		m.instanceType = m.pool.types[m.labels[corev1.LabelInstanceTypeStable]]
		m.offering = offeringOf(m.instanceType, m.labels)
	}
	_, m.underway = f.in.Underway[m.name]
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
func (f *Fleet) warnOfAge(m *member) {
	if !m.managed() || m.marked() || !m.NodeClaim.CreationTimestamp.IsZero() {
		return
	}
	counts := m.hasLifetime() || f.in.Instances != nil && m.launchedAt().IsZero()
	for _, limit := range f.limits(m) {
		counts = counts || limit.since.IsZero()
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
func (f *Fleet) warnOfAnnotations(m *member) {
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
func (m *member) readMetadata() {
	if m.registered() || m.NodeClaim == nil {
		m.labels, m.annotations = m.Node.Node.Labels, m.Node.Node.Annotations
		return
	}
	m.labels, m.annotations = m.NodeClaim.Labels, m.NodeClaim.Annotations
}

func (m *member) managed() bool { return m.NodeClaim != nil }

func (m *member) registered() bool {
	return m.Node.Node != nil && (m.NodeClaim == nil || m.Node.Node.Labels[v1.NodeRegisteredLabelKey] == "true" ||
		m.Node.Node.Labels[v1.NodeInitializedLabelKey] == "true")
}

func (m *member) initialized() bool {
	return m.Node.Node != nil && (m.NodeClaim == nil || m.Node.Node.Labels[v1.NodeInitializedLabelKey] == "true")
}

func (m *member) rebooting() bool { return m.isTrue(v1.ConditionTypeRebooting) }

func (m *member) ready() bool {
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
func (m *member) marked() bool { return m.underway || m.leaving }

// condition is one of the NodeClaim, or nil.
func (m *member) condition(kind string) *metav1.Condition {
	if m.NodeClaim == nil {
		return nil
	}
	return conditionOf(m.NodeClaim.Status.Conditions, kind)
}

func (m *member) isTrue(kind string) bool {
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
func (m *member) providerID() string {
	if m.NodeClaim != nil && m.NodeClaim.Status.ProviderID != "" {
		return m.NodeClaim.Status.ProviderID
	}
	if m.Node.Node != nil {
		return m.Node.Node.Spec.ProviderID
	}
	return ""
}

func (m *member) target() Target {
	t := Target{Node: m.name, NodePool: m.poolName, ProviderID: m.providerID()}
	if m.NodeClaim != nil {
		t.NodeClaim = m.NodeClaim.Name
	}
	return t
}

// action is one about this node.
func (m *member) action(r Reason, step Step) Action {
	return Action{Reason: r, Step: step, Targets: []Target{m.target()}}
}

// claimBound is the terminationGracePeriod of the NodeClaim, nil if it has none.
func (m *member) claimBound() *time.Duration {
	if m.NodeClaim == nil || m.NodeClaim.Spec.TerminationGracePeriod == nil {
		return nil
	}
	d := max(m.NodeClaim.Spec.TerminationGracePeriod.Duration, 0)
	return &d
}

// state is how the node counts for budgets.
func (m *member) state(reason Reason) budgets.NodeState {
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
func (m *member) hasLifetime() bool {
	return m.managed() && m.NodeClaim.Spec.ExpireAfter.Duration != nil
}

// lifetimeLeft is the part of expireAfter that is left, from 0 to 1; 1 if the
// node does not expire, or is of unknown age.
func (m *member) lifetimeLeft(now time.Time) float64 {
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
