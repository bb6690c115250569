package randproblem

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// drawRequest draws a NodeClaim that is not launched yet, so that only its requirements and
// requests are known.
func (p *problem) drawRequest(name string) provisioning.Node {
	pool := pick(p.source, p.in.NodePools)
	template := &pool.Spec.Template
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim-" + name, Labels: map[string]string{}}}
	maps.Copy(claim.Labels, template.Labels)
	claim.Labels[v1.NodePoolLabelKey] = pool.Name
	claim.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "NodeClass", Name: "default"}
	if p.chance(70) {
		claim.Labels["example.com/nodeclass"] = "default"
	}
	claim.Spec.Taints = slices.Clone(template.Spec.Taints)
	if p.chance(20) {
		claim.Spec.Taints = p.drawTaints(50)
	}
	if p.chance(30) {
		claim.Spec.StartupTaints = []corev1.Taint{startupTaint()}
	}
	claim.Spec.Requirements = p.drawClaimRequirements(pool.Name)
	if p.chance(6) {
		claim.DeletionTimestamp = deletedAt()
	}
	return provisioning.Node{NodeClaim: claim}
}

// drawClaimRequirements draws the requirements of a NodeClaim of a pool: usually a few instance
// types of the pool, and further labels. Some of these require one value, some allow several, and
// some exclude all of those types. Sometimes they contradict the labels of the NodeClaim.
func (p *problem) drawClaimRequirements(pool string) []v1.NodeSelectorRequirementWithMinValues {
	reqs := []v1.NodeSelectorRequirementWithMinValues{}
	require := func(percent int, key string, op corev1.NodeSelectorOperator, values ...string) {
		if p.chance(percent) {
			reqs = append(reqs, v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: op, Values: values})
		}
	}
	in := corev1.NodeSelectorOpIn
	require(90, corev1.LabelInstanceTypeStable, in, p.drawTypeNames(pool)...)
	require(50, corev1.LabelTopologyZone, in, some(p.source, 1, zones())...)
	require(20, corev1.LabelTopologyZone, corev1.NodeSelectorOpNotIn, some(p.source, 1, zones())...)
	require(40, v1.CapacityTypeLabelKey, in, some(p.source, 1, v1.CapacityTypes())...)
	require(30, corev1.LabelArchStable, in, some(p.source, 1, []string{v1.ArchitectureAmd64, v1.ArchitectureArm64})...)
	require(40, corev1.LabelOSStable, in, "linux")
	require(15, teamLabel, in, some(p.source, 1, teams())...)
	require(10, tierLabel, pick(p.source, []corev1.NodeSelectorOperator{
		corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist,
	}))
	require(10, CPULabel, pick(p.source, []corev1.NodeSelectorOperator{v1.NodeSelectorOpGte, corev1.NodeSelectorOpLt}),
		strconv.Itoa(pick(p.source, []int{2, 4, 8})))
	require(8, FlavorLabel, corev1.NodeSelectorOpNotIn, "red")
	return reqs
}

// drawTypeNames draws up to three instance types. Most are in the catalog of the
// pool; a few are no longer sold.
func (p *problem) drawTypeNames(pool string) []string {
	var names []string
	for range p.between(1, 3) {
		if types := p.in.InstanceTypes[pool]; len(types) > 0 && !p.chance(8) {
			names = append(names, pick(p.source, types).Name)
		} else {
			names = append(names, "no-such.type")
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
