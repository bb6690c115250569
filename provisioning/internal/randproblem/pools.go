package randproblem

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func (p *problem) drawPools() {
	p.in.InstanceTypes = map[string][]*cloudprovider.InstanceType{}
	for i := range p.below(p.size.pools) + 1 {
		pool := p.drawPool(fmt.Sprintf("pool-%c", 'a'+i))
		p.in.NodePools = append(p.in.NodePools, pool)
		switch {
		case p.chance(3): // no catalog at all
		case p.chance(40):
			p.in.InstanceTypes[pool.Name] = p.catalog
		default:
			p.in.InstanceTypes[pool.Name] = p.viewOf(p.catalog)
		}
	}
}

func (p *problem) drawPool(name string) *v1.NodePool {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	template := &pool.Spec.Template
	template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "NodeClass", Name: "default"}
	template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	p.drawPoolRequirements(template)
	if p.chance(35) {
		template.Labels = map[string]string{}
		if p.chance(70) {
			template.Labels[teamLabel] = pick(p.source, teams())
		} else {
			template.Labels[tierLabel] = pick(p.source, []string{"gold", "silver"})
		}
	}
	template.Spec.Taints = append(template.Spec.Taints, p.drawTaints(20)...)
	if p.chance(15) {
		template.Spec.StartupTaints = []corev1.Taint{startupTaint()}
	}
	if p.chance(40) {
		weight := pick(p.source, []int32{1, 10, 10, 50, 100})
		pool.Spec.Weight = &weight
	}
	if p.chance(30) {
		pool.Spec.Limits = p.drawLimits()
	}
	p.closePool(pool)
	return pool
}

// closePool makes some pools launch nothing.
func (p *problem) closePool(pool *v1.NodePool) {
	switch n := p.below(100); {
	case n < 2:
		pool.DeletionTimestamp = deletedAt()
	case n < 4:
		replicas := int64(p.below(3))
		pool.Spec.Replicas = &replicas
		pool.Spec.Weight = nil
		pool.Spec.Limits = nil
	case n < 6:
		pool.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeReady, Status: metav1.ConditionFalse, Reason: "NotReady"}}
	case n < 7:
		pool.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeReady, Status: metav1.ConditionUnknown, Reason: "Unknown"}}
	case n < 40:
		pool.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeReady, Status: metav1.ConditionTrue, Reason: "Ready"}}
	}
}

func deletedAt() *metav1.Time {
	return &metav1.Time{Time: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func startupTaint() corev1.Taint {
	return corev1.Taint{Key: "example.com/starting", Value: "yes", Effect: corev1.TaintEffectNoSchedule}
}

func taintTable() []corev1.Taint {
	return []corev1.Taint{
		{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule},
		{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoExecute},
		{Key: "example.com/gpu", Effect: corev1.TaintEffectNoSchedule},
		{Key: "priority", Value: "7", Effect: corev1.TaintEffectNoSchedule},
		{Key: "crowded", Value: "yes", Effect: corev1.TaintEffectPreferNoSchedule},
	}
}

// drawTaints draws up to two taints, or none.
func (p *problem) drawTaints(percent int) []corev1.Taint {
	if !p.chance(percent) {
		return nil
	}
	first := p.below(len(taintTable()))
	taints := []corev1.Taint{taintTable()[first]}
	if second := p.below(len(taintTable())); second != first && p.chance(30) {
		taints = append(taints, taintTable()[second])
	}
	return taints
}

func (p *problem) drawLimits() v1.Limits {
	limits := v1.Limits{}
	for range p.between(1, 2) {
		switch p.below(4) {
		case 0:
			limits[corev1.ResourceCPU] = quantity(pick(p.source, []string{"0", "3", "8", "20", "64", "1500m"}))
		case 1:
			limits[corev1.ResourceMemory] = quantity(pick(p.source, []string{"4Gi", "17Gi", "100Gi"}))
		case 2:
			limits[v1.ResourceNodes] = quantity(pick(p.source, []string{"0", "1", "2", "5"}))
		case 3:
			limits[gpuResource] = quantity(pick(p.source, []string{"0", "1", "4"}))
		}
	}
	return limits
}

// drawPoolRequirements draws up to four requirements on different keys, rather
// few, as a pool that admits no instance type is a dull one.
func (p *problem) drawPoolRequirements(template *v1.NodeClaimTemplate) {
	seen := map[string]bool{}
	for range pick(p.source, []int{0, 0, 1, 1, 2, 2, 4}) {
		r := p.drawPoolRequirement()
		if seen[r.Key] {
			continue
		}
		seen[r.Key] = true
		template.Spec.Requirements = append(template.Spec.Requirements, r)
	}
}

func (p *problem) drawPoolRequirement() v1.NodeSelectorRequirementWithMinValues {
	require := func(key string, op corev1.NodeSelectorOperator, values ...string) v1.NodeSelectorRequirementWithMinValues {
		return v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: op, Values: values}
	}
	in, notIn, exists := corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists
	switch p.below(14) {
	case 0:
		return require(corev1.LabelArchStable, in, pick(p.source, []string{v1.ArchitectureAmd64, v1.ArchitectureArm64}))
	case 1:
		return require(corev1.LabelArchStable, in, v1.ArchitectureAmd64, v1.ArchitectureArm64)
	case 2:
		return require(corev1.LabelTopologyZone, in, some(p.source, 1, zones())...)
	case 3:
		return require(corev1.LabelTopologyZone, notIn, pick(p.source, zones()))
	case 4:
		return require(v1.CapacityTypeLabelKey, in, some(p.source, 1, v1.CapacityTypes())...)
	case 5:
		return require(FamilyLabel, pick(p.source, []corev1.NodeSelectorOperator{in, notIn}), pick(p.source, families()).name)
	case 6:
		return require(CPULabel, pick(p.source, []corev1.NodeSelectorOperator{
			corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, v1.NodeSelectorOpGte, v1.NodeSelectorOpLte,
		}), strconv.Itoa(pick(p.source, []int{1, 2, 4, 8})))
	case 7:
		return require(teamLabel, in, some(p.source, 1, teams())...)
	case 8:
		return require(pick(p.source, []string{teamLabel, tierLabel, rankLabel}), exists)
	case 9:
		return require(teamLabel, notIn, pick(p.source, teams()))
	case 10:
		return require(corev1.LabelOSStable, in, "linux")
	case 11:
		return require(corev1.LabelOSStable, in, "linux", "windows")
	case 12:
		return require(rankLabel, corev1.NodeSelectorOpGt, strconv.Itoa(p.below(5)))
	}
	return p.drawMinValues(require)
}

func (p *problem) drawMinValues(
	require func(string, corev1.NodeSelectorOperator, ...string) v1.NodeSelectorRequirementWithMinValues,
) v1.NodeSelectorRequirementWithMinValues {
	r := require(pick(p.source, []string{
		corev1.LabelInstanceTypeStable, FamilyLabel, corev1.LabelTopologyZone, corev1.LabelArchStable, FlavorLabel,
	}), corev1.NodeSelectorOpExists)
	if r.Key == corev1.LabelTopologyZone && p.chance(50) {
		r.Operator, r.Values = corev1.NodeSelectorOpIn, zones()
	}
	least := p.between(1, 3)
	r.MinValues = &least
	return r
}
