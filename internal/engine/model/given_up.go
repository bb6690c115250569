package model

import corev1 "k8s.io/api/core/v1"

// GivenUpPreference is a provisioning.GivenUpPreference, which says what the fields mean.
type GivenUpPreference struct {
	Pods           []*corev1.Pod
	Kind           Cause
	Key            string
	Preferred      string
	Weight         int
	Cause          Cause
	Extra, Allowed float64
	Nodes, Wanted  int
	Reason         *Reason
}

// Why a plan gives a preference up, as package provisioning explains it.
const (
	GivenUpNoPods        Cause = "NoPods"
	GivenUpExistingNodes Cause = "ExistingNodes"
	GivenUpUnavailable   Cause = "Unavailable"
	GivenUpCost          Cause = "Cost"
	GivenUpOutweighed    Cause = "Outweighed"
	GivenUpNewNode       Cause = "NewNode"
	GivenUpFewNodes      Cause = "FewNodes"
	GivenUpPlanCost      Cause = "PlanCost"
	GivenUpConstraints   Cause = "Constraints"
)
