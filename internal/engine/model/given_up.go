package model

import corev1 "k8s.io/api/core/v1"

// GivenUpPreference is provisioning.GivenUpPreference, whose comments describe the fields.
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

// The causes for which a plan gives a preference up. Package provisioning describes each.
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
