package randproblem

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// drawSelector draws a nodeSelector, empty more often than not.
func (p *problem) drawSelector() map[string]string {
	if !p.chance(30) {
		return nil
	}
	selector := map[string]string{}
	for range pick(p.source, []int{1, 1, 2}) {
		key, values := p.drawLabel()
		selector[key] = pick(p.source, values)
	}
	return selector
}

// drawLabel draws a label key and the values that make sense for it.
func (p *problem) drawLabel() (string, []string) {
	switch p.below(16) {
	case 0, 1:
		return corev1.LabelArchStable, []string{v1.ArchitectureAmd64, v1.ArchitectureArm64}
	case 2:
		return "beta.kubernetes.io/arch", []string{v1.ArchitectureAmd64, v1.ArchitectureArm64}
	case 3, 4:
		return corev1.LabelTopologyZone, zones()
	case 5:
		if p.in.Vocabulary != nil {
			return zoneAlias, zones()
		}
		return corev1.LabelFailureDomainBetaZone, zones()
	case 6:
		return corev1.LabelOSStable, []string{"linux", "linux", "windows"}
	case 7:
		return v1.CapacityTypeLabelKey, v1.CapacityTypes()
	case 8:
		return FamilyLabel, []string{"general", "compute", "gpu"}
	case 9:
		return CPULabel, []string{"2", "4", "8"}
	case 10, 11:
		return teamLabel, teams()
	case 12:
		return tierLabel, []string{"gold", "silver"}
	case 13:
		return rankLabel, []string{"1", "3", "5"}
	case 14:
		return FlavorLabel, []string{"blue", "red"}
	}
	return p.drawRareLabel()
}

func (p *problem) drawRareLabel() (string, []string) {
	switch p.below(6) {
	case 0:
		return v1.NodePoolLabelKey, []string{"pool-a", "pool-b", "pool-z"}
	case 1:
		return corev1.LabelInstanceTypeStable, []string{pick(p.source, p.catalog).Name, "no-such.type"}
	case 2:
		return GPULabel, []string{"l4", "h100"}
	case 3:
		return ZoneIDLabel, []string{"id-zone-a", "id-zone-b"}
	case 4:
		return "example.com/nodeclass", []string{"default", "other"}
	}
	return "nobody.example.org/knows", []string{"this"}
}

// drawAffinity draws the terms of a required node affinity, mostly none.
func (p *problem) drawAffinity() *corev1.NodeSelector {
	if !p.chance(30) {
		return nil
	}
	selector := &corev1.NodeSelector{}
	for range pick(p.source, []int{1, 1, 2, 2, 3}) {
		term := corev1.NodeSelectorTerm{}
		for range pick(p.source, []int{1, 1, 2}) {
			term.MatchExpressions = append(term.MatchExpressions, p.drawExpression())
		}
		switch {
		case p.chance(3):
			// A term without anything in it matches no node.
			term = corev1.NodeSelectorTerm{}
		case p.chance(4):
			term.MatchFields = p.drawFields()
			if p.chance(50) {
				term.MatchExpressions = nil
			}
		}
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
	}
	return selector
}

func (p *problem) drawExpression() corev1.NodeSelectorRequirement {
	key, values := p.drawLabel()
	if numeric := key == CPULabel || key == rankLabel; numeric && p.chance(60) {
		op := pick(p.source, []corev1.NodeSelectorOperator{corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt})
		return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: []string{strconv.Itoa(p.below(10))}}
	}
	switch n := p.below(100); {
	case n < 55:
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: some(p.source, 1, values)}
	case n < 75:
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: some(p.source, 1, values)}
	case n < 88:
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpExists}
	}
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpDoesNotExist}
}

// drawFields selects a node by its name. Nodes are drawn before pods.
func (p *problem) drawFields() []corev1.NodeSelectorRequirement {
	name := "no-such-node"
	if len(p.in.Nodes) > 0 && p.chance(80) {
		name = pick(p.source, p.in.Nodes).Name()
	}
	op := pick(p.source, []corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn})
	return []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: op, Values: []string{name}}}
}

// drawTolerations draws tolerations that often, but not always, meet a taint of
// the table.
func (p *problem) drawTolerations(percent int) []corev1.Toleration {
	var tolerations []corev1.Toleration
	for p.chance(percent) && len(tolerations) < 4 {
		taint := pick(p.source, taintTable())
		switch p.below(6) {
		case 0:
			tolerations = append(tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
		case 1:
			tolerations = append(tolerations, corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpExists})
		case 2:
			tolerations = append(tolerations, corev1.Toleration{Key: taint.Key, Value: taint.Value, Effect: taint.Effect})
		case 3:
			tolerations = append(tolerations, corev1.Toleration{Key: taint.Key, Value: "other", Operator: corev1.TolerationOpEqual})
		case 4:
			tolerations = append(tolerations, corev1.Toleration{
				Key: "priority", Operator: pick(p.source, []corev1.TolerationOperator{corev1.TolerationOpLt, corev1.TolerationOpGt}),
				Value: strconv.Itoa(p.between(5, 9)),
			})
		case 5:
			tolerations = append(tolerations, corev1.Toleration{
				Key: taint.Key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
			})
		}
	}
	return tolerations
}
