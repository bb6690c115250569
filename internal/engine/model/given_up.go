package model

import corev1 "k8s.io/api/core/v1"

// GivenUpPreference is a provisioning.GivenUpPreference, which says what the fields mean.
type GivenUpPreference struct {
	Pods           []*corev1.Pod
	Kind           PreferenceKind
	Key            string
	Preferred      string
	Weight         int
	Cause          GivenUpCause
	Extra, Allowed float64
	Nodes, Wanted  int
	Reason         *Reason
}

// PreferenceKind is a provisioning.PreferenceKind.
type PreferenceKind string

// The kinds, as package provisioning explains them.
const (
	NodeAffinity    PreferenceKind = "NodeAffinity"
	PodAffinity     PreferenceKind = "PodAffinity"
	PodAntiAffinity PreferenceKind = "PodAntiAffinity"
	TopologySpread  PreferenceKind = "TopologySpread"
	Taint           PreferenceKind = "Taint"
)

// GivenUpCause is a provisioning.GivenUpCause.
type GivenUpCause string

// The causes, as package provisioning explains them.
const (
	GivenUpNoPods        GivenUpCause = "NoPods"
	GivenUpExistingNodes GivenUpCause = "ExistingNodes"
	GivenUpNewNode       GivenUpCause = "NewNode"
	GivenUpUnavailable   GivenUpCause = "Unavailable"
	GivenUpCost          GivenUpCause = "Cost"
	GivenUpFewNodes      GivenUpCause = "FewNodes"
	GivenUpOutweighed    GivenUpCause = "Outweighed"
	GivenUpPlanCost      GivenUpCause = "PlanCost"
	GivenUpConstraints   GivenUpCause = "Constraints"
)
