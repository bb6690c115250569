package randproblem

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func (p *problem) drawPods() {
	shapes := p.between(1, p.size.shapes)
	if p.chance(3) {
		shapes = 0
	}
	for i := range shapes {
		shape := p.drawShape(i)
		for copy := range p.between(1, p.size.copies) {
			pod := shape.DeepCopy()
			pod.Name = fmt.Sprintf("%s-%d", shape.Name, copy)
			pod.UID = types.UID(pod.Namespace + "/" + pod.Name)
			p.in.Pods = append(p.in.Pods, pod)
		}
	}
	// The order of the input means nothing, so any will do.
	for i := len(p.in.Pods) - 1; i > 0; i-- {
		j := p.below(i + 1)
		p.in.Pods[i], p.in.Pods[j] = p.in.Pods[j], p.in.Pods[i]
	}
}

// drawShape draws what the pods of one workload have in common.
func (p *problem) drawShape(i int) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pick(p.source, namespaces()),
		Name:      fmt.Sprintf("app-%d", i),
		Labels:    map[string]string{"app": pick(p.source, apps())},
	}}
	pod.Status.Phase = corev1.PodPending
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: p.drawRequests()}}
	if p.chance(12) {
		pod.Spec.InitContainers = []corev1.Container{{Name: "init", Resources: p.drawRequests()}}
		if p.chance(40) {
			always := corev1.ContainerRestartPolicyAlways
			pod.Spec.InitContainers[0].RestartPolicy = &always
		}
	}
	if p.chance(8) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "side", Resources: p.drawRequests()})
	}
	if p.chance(4) {
		pod.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: quantity("250m")}
	}
	pod.Spec.NodeSelector = p.drawSelector()
	if required := p.drawAffinity(); required != nil {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: required,
		}}
	}
	pod.Spec.Tolerations = p.drawTolerations(45)
	if p.chance(7) {
		p.useUnsupported(pod)
	}
	return pod
}

func namespaces() []string { return []string{"default", "batch", "web"} }
func apps() []string       { return []string{"cart", "search", "train"} }

// drawRequests draws from amounts that fit types exactly, nearly, or not at
// all.
func (p *problem) drawRequests() corev1.ResourceRequirements {
	requests := corev1.ResourceList{}
	if p.chance(90) {
		requests[corev1.ResourceCPU] = quantity(pick(p.source, []string{
			"0", "10m", "100m", "100m", "100m", "250m", "250m", "500m", "500m", "500m", "750m", "920m",
			"1", "1", "1500m", "1920m", "2", "3", "3920m", "7", "12", "500",
		}))
	}
	if p.chance(85) {
		requests[corev1.ResourceMemory] = quantity(pick(p.source, []string{
			"1", "64Mi", "64Mi", "128Mi", "256Mi", "256Mi", "500M", "512Mi", "512Mi", "1Gi", "1Gi", "1Gi", "2Gi", "2Gi",
			"3696Mi", "4Gi", "7Gi", "15Gi", "60Gi", "2Ti",
		}))
	}
	if p.chance(8) {
		requests[gpuResource] = quantity(pick(p.source, []string{"0", "1", "1", "2", "3"}))
	}
	if p.chance(8) {
		requests[corev1.ResourceEphemeralStorage] = quantity(pick(p.source, []string{"100Mi", "5Gi", "19Gi"}))
	}
	if p.chance(2) {
		requests[hugePages] = quantity("128Mi")
	}
	if p.chance(1) {
		requests[fpgaOnly] = quantity(pick(p.source, []string{"0", "1"}))
	}
	return corev1.ResourceRequirements{Requests: requests}
}

// useUnsupported gives a pod one feature that plans do not model.
func (p *problem) useUnsupported(pod *corev1.Pod) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	term := corev1.PodAffinityTerm{
		TopologyKey:   pick(p.source, []string{corev1.LabelHostname, corev1.LabelTopologyZone}),
		LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels},
	}
	switch p.below(8) {
	case 0:
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: term.TopologyKey, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: term.LabelSelector,
		}}
	case 1:
		pod.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}
	case 2:
		pod.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}
	case 3:
		pod.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 10, PodAffinityTerm: term},
		}}
	case 4:
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 8080, ContainerPort: 8080, Protocol: corev1.ProtocolTCP}}
	case 5:
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
		}}}
	case 6:
		if pod.Spec.Affinity.NodeAffinity == nil {
			pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
		}
		pod.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{
			Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{p.drawExpression()}},
		}}
	case 7:
		name := "template"
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device", ResourceClaimTemplateName: &name}}
	}
}

// drawDaemons draws one representative pod for each DaemonSet.
func (p *problem) drawDaemons() {
	for i := range p.between(0, p.size.daemons) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: fmt.Sprintf("agent-%d", i)}}
		if p.chance(50) {
			// A live pod instead of one made from the template.
			pod.OwnerReferences = ownedByDaemonSet(pod.Name)
			pod.Name += "-live"
		}
		pod.Spec.Containers = []corev1.Container{{Name: "agent", Resources: p.drawDaemonRequests()}}
		switch n := p.below(100); {
		case n < 25:
			pod.Spec.NodeSelector = map[string]string{corev1.LabelOSStable: pick(p.source, []string{"linux", "windows"})}
		case n < 40:
			key, values := p.drawLabel()
			pod.Spec.NodeSelector = map[string]string{key: pick(p.source, values)}
		case n < 50:
			pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
					{MatchExpressions: []corev1.NodeSelectorRequirement{p.drawExpression()}},
					{MatchExpressions: []corev1.NodeSelectorRequirement{p.drawExpression()}},
				}},
			}}
		}
		pod.Spec.HostNetwork = p.chance(40)
		if p.chance(60) {
			pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		} else {
			pod.Spec.Tolerations = p.drawTolerations(30)
		}
		p.in.DaemonSetPods = append(p.in.DaemonSetPods, pod)
	}
	if p.chance(50) {
		slices.Reverse(p.in.DaemonSetPods)
	}
}

func (p *problem) drawDaemonRequests() corev1.ResourceRequirements {
	requests := corev1.ResourceList{}
	if p.chance(80) {
		requests[corev1.ResourceCPU] = quantity(pick(p.source, []string{"10m", "50m", "100m", "500m", "1"}))
	}
	if p.chance(80) {
		requests[corev1.ResourceMemory] = quantity(pick(p.source, []string{"32Mi", "64Mi", "200Mi", "1Gi"}))
	}
	if p.chance(3) {
		requests[gpuResource] = quantity("1")
	}
	return corev1.ResourceRequirements{Requests: requests}
}

func ownedByDaemonSet(name string) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: name, UID: types.UID("ds-" + name), Controller: &yes}}
}
