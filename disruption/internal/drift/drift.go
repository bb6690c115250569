package drift

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// The reasons that are seen without a provider: see package disruption.
const (
	NodePoolDrifted      = "NodePoolDrifted"
	RequirementsDrifted  = "RequirementsDrifted"
	InstanceTypeNotFound = "InstanceTypeNotFound"
)

// Status is how a node has drifted, as disruption.DriftStatus has it.
type Status struct {
	Reason, Detail string
	Since, Next    time.Time
}

// Judge judges one node by the cluster and by what the provider says of it, and reports
// false if there is nothing to judge.
func Judge(f *state.Cluster, m *state.StateNode, said cloudprovider.Drift) (Status, bool) {
	if m.Pool == nil || !m.Managed() || !m.NodeClaim.DeletionTimestamp.IsZero() || !m.IsTrue(v1.ConditionTypeLaunched) {
		return Status{}, false
	}
	s := Status{}
	if m.IsTrue(v1.ConditionTypeDrifted) {
		s.Since = m.Condition(v1.ConditionTypeDrifted).LastTransitionTime.Time
	}
	old := m.NodeClaim.CreationTimestamp.Add(catalogGrace)
	settled := !old.After(f.Now)
	if !settled {
		s.Next = old
	}
	if s.Detail = hashDrift(m); s.Detail != "" {
		// Comes first whatever the time.
		s.Reason, s.Next = NodePoolDrifted, time.Time{}
		return s, true
	}
	if s.Detail = requirementDrift(f, m, settled); s.Detail != "" {
		s.Reason = RequirementsDrifted
		return s, true
	}
	if s.Detail = catalogDrift(m, f.Vocabulary); settled && s.Detail != "" {
		s.Reason = InstanceTypeNotFound
		return s, true
	}
	if s.Reason, s.Detail = said.Reason, said.Detail; s.Reason != "" && s.Detail == "" {
		s.Detail = "the provider says so: " + s.Reason
	}
	return s, true
}

// hashDrift says that the hashes differ, or nothing.
func hashDrift(m *state.StateNode) string {
	version, hash, ok := hashOf(m.NodeClaim.Annotations)
	if !ok {
		return ""
	}
	wantVersion, want, ok := hashOf(m.Pool.Annotations)
	if !ok || wantVersion == v1.NodePoolHashVersion {
		wantVersion, want = v1.NodePoolHashVersion, m.Pool.TemplateHash
	}
	if version != wantVersion || hash == want {
		return ""
	}
	return fmt.Sprintf("the template of %s has changed since: its hash is %s, and was %s", state.PoolObject(m.PoolName), want, hash)
}

func hashOf(annotations map[string]string) (version, hash string, ok bool) {
	version, ok = annotations[v1.NodePoolHashVersionAnnotationKey]
	hash, found := annotations[v1.NodePoolHashAnnotationKey]
	return version, hash, ok && found
}

// requirementDrift says what the labels do not satisfy, or nothing.
func requirementDrift(f *state.Cluster, m *state.StateNode, settled bool) string {
	if m.Pool.Unreadable {
		return ""
	}
	labels := requirements.FromLabels(m.NodeClaim.Labels, f.Vocabulary)
	note := ""
	if settled && outlivedReservation(m, f.Vocabulary) {
		labels = labels.Without(v1.CapacityTypeLabelKey).With(requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
		note = "its reservation is not offered any more, so it is on-demand; "
	}
	var texts []string
	for _, c := range labels.Conflicts(m.Pool.Requirements, nil) {
		texts = append(texts, c.String())
	}
	if len(texts) == 0 {
		return ""
	}
	return note + strings.Join(texts, "; ")
}

// outlivedReservation reports whether a machine was launched into a reservation
// that the catalog does not have any more.
func outlivedReservation(m *state.StateNode, v *requirements.Vocabulary) bool {
	labels := m.NodeClaim.Labels
	if labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeReserved {
		return false
	}
	t := m.Pool.Types[labels[corev1.LabelInstanceTypeStable]]
	return t != nil && state.MatchOffering(t, labels, labels[corev1.LabelTopologyZone], v1.CapacityTypeReserved, v) == nil
}

// catalogDrift says that the catalog does not have what the machine is, or
// nothing.
func catalogDrift(m *state.StateNode, v *requirements.Vocabulary) string {
	labels := m.NodeClaim.Labels
	name, found := labels[corev1.LabelInstanceTypeStable]
	if !found || len(m.Pool.Types) == 0 {
		return ""
	}
	t := m.Pool.Types[name]
	if t == nil {
		return fmt.Sprintf("instance type %s is not in the catalog of %s", name, state.PoolObject(m.PoolName))
	}
	for i := range t.Offerings {
		if offered(&t.Offerings[i], labels, v) {
			return ""
		}
	}
	return fmt.Sprintf("instance type %s is not offered as %s in %s any more", name,
		cmp.Or(labels[v1.CapacityTypeLabelKey], "any capacity type"), cmp.Or(labels[corev1.LabelTopologyZone], "any zone"))
}

// offered reports whether a machine with such labels can be of an offering.
func offered(o *cloudprovider.Offering, labels map[string]string, v *requirements.Vocabulary) bool {
	zone, capacity := labels[corev1.LabelTopologyZone], labels[v1.CapacityTypeLabelKey]
	if zone != "" && o.Zone != zone {
		return false
	}
	if capacity == v1.CapacityTypeReserved {
		return o.CapacityType == v1.CapacityTypeReserved || o.CapacityType == v1.CapacityTypeOnDemand
	}
	return (capacity == "" || o.CapacityType == capacity) && state.Agrees(o, labels, v)
}

// catalogGrace is how old a NodeClaim must be before the catalog is held against
// it: right after a launch, catalogs may be behind.
const catalogGrace = time.Hour
