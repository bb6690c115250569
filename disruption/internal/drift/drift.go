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

// These reasons are found without a provider. Package disruption documents them.
const (
	NodePoolDrifted      = "NodePoolDrifted"
	RequirementsDrifted  = "RequirementsDrifted"
	InstanceTypeNotFound = "InstanceTypeNotFound"
)

// Status says how a node has drifted. Package disruption has it as DriftStatus.
type Status struct {
	Reason, Detail string
	Since, Next    time.Time
}

// Judge judges one node by the cluster and by the provider's answer. It reports false for a node to
// which drift does not apply.
func Judge(f *state.Cluster, m *state.StateNode, said cloudprovider.Drift) (Status, bool) {
	if m.Pool == nil || !m.Managed() || !m.NodeClaim.DeletionTimestamp.IsZero() || !m.IsTrue(v1.ConditionTypeLaunched) {
		return Status{}, false
	}
	s := Status{}
	if m.IsTrue(v1.ConditionTypeDrifted) {
		s.Since = m.Condition(v1.ConditionTypeDrifted).LastTransitionTime.Time
	}
	old := m.NodeClaim.CreationTimestamp.Add(catalogGrace)
	pastGrace := !old.After(f.Now)
	if !pastGrace {
		s.Next = old
	}
	if s.Detail = hashDrift(m); s.Detail != "" {
		// This reason comes first, whatever the time.
		s.Reason, s.Next = NodePoolDrifted, time.Time{}
		return s, true
	}
	if s.Detail = requirementDrift(f, m, pastGrace); s.Detail != "" {
		s.Reason = RequirementsDrifted
		return s, true
	}
	if s.Detail = catalogDrift(m, f.Vocabulary); pastGrace && s.Detail != "" {
		s.Reason = InstanceTypeNotFound
		return s, true
	}
	if s.Reason, s.Detail = said.Reason, said.Detail; s.Reason != "" && s.Detail == "" {
		s.Detail = "the provider says so: " + s.Reason
	}
	return s, true
}

// hashDrift describes how the hashes differ; empty if they are equal or one is missing.
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

// requirementDrift describes the requirements that the labels do not satisfy; empty if there are
// none.
func requirementDrift(f *state.Cluster, m *state.StateNode, pastGrace bool) string {
	if m.Pool.Unreadable {
		return ""
	}
	labels := requirements.FromLabels(m.NodeClaim.Labels, f.Vocabulary)
	note := ""
	if pastGrace && outlivedReservation(m, f.Vocabulary) {
		labels = labels.Without(v1.CapacityTypeLabelKey).With(requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
		note = "its reservation is not offered any more, so it is on-demand; "
	}
	var texts []string
	for _, c := range labels.Conflicts(m.Pool.Requirements, requirements.EmptyVocabulary()) {
		texts = append(texts, c.String())
	}
	if len(texts) == 0 {
		return ""
	}
	return note + strings.Join(texts, "; ")
}

// outlivedReservation reports whether a machine was launched into a reservation that is no longer
// in the catalog.
func outlivedReservation(m *state.StateNode, v *requirements.Vocabulary) bool {
	labels := m.NodeClaim.Labels
	if labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeReserved {
		return false
	}
	t := m.Pool.Types[labels[corev1.LabelInstanceTypeStable]]
	return t != nil && state.MatchOffering(t, labels, labels[corev1.LabelTopologyZone], v1.CapacityTypeReserved, v) == nil
}

// catalogDrift says what the catalog lacks of the machine's type and offering; empty if it has
// both.
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

// offered reports whether a machine with these labels may have been bought with an offering.
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

// catalogGrace is the age from which a NodeClaim is compared with the catalog. Right after a launch
// the catalog may be out of date.
const catalogGrace = time.Hour
