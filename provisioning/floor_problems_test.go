package provisioning_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// tinyProblem is small enough for all plans to be tried: up to four pods of two
// workloads, with all constraints that pods can have towards each other; up to
// two nodes that exist; one or two pools; two or three instance types in two
// zones, some of them reserved.
type tinyProblem struct {
	shuffler
	in provisioning.Input
}

func (r *tinyProblem) chance(percent int) bool { return r.below(100) < percent }

func newTinyProblem(seed uint64) *tinyProblem {
	r := &tinyProblem{shuffler: shuffler{state: seed*2654435761 + 12345}}
	r.below(2) // seeds that are neighbours drift apart
	types := r.types()
	r.in.InstanceTypes = map[string][]*cloudprovider.InstanceType{}
	for i := range 1 + r.below(2) {
		pool := scenes.Pool(fmt.Sprintf("pool-%d", i))
		if r.chance(20) {
			pool.Spec.Limits = v1.Limits(resources.MustParse(fmt.Sprintf("cpu=%d", 2+r.below(7))).ResourceList())
		}
		if i > 0 && r.chance(30) {
			weight := int32(10)
			pool.Spec.Weight = &weight
		}
		if i > 0 && r.chance(30) {
			pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
		}
		r.in.NodePools = append(r.in.NodePools, pool)
		r.in.InstanceTypes[pool.Name] = types[r.below(2):]
	}
	for i := range r.below(3) {
		r.in.Nodes = append(r.in.Nodes, r.node(fmt.Sprintf("node-%d", i)))
	}
	for w, n := range [][2]int{{1, 3}, {2, 2}, {3, 1}, {4, 0}, {2, 1}}[r.below(5)] {
		r.workload(string(rune('a'+w)), n)
	}
	return r
}

func (r *tinyProblem) types() []*cloudprovider.InstanceType {
	var out []*cloudprovider.InstanceType
	for i, cpu := range []int{2, 4, 8}[:2+r.below(2)] {
		t := scenes.Type(fmt.Sprintf("type-%d", i), fmt.Sprintf("cpu=%d, memory=%dGi, pods=%d", cpu, 2*cpu, 3+r.below(4)), 1, "linux")
		t.Offerings = nil
		for _, zone := range []string{"a", "b"} {
			price := 0.05 * float64(cpu) * float64(70+r.below(60)) / 100
			t.Offerings = append(t.Offerings, cloudprovider.Offering{Zone: zone, CapacityType: "on-demand", Price: price, Available: r.chance(85)})
			if r.chance(40) {
				t.Offerings = append(t.Offerings, cloudprovider.Offering{Zone: zone, CapacityType: "spot", Price: price * 0.6, Available: true})
			}
		}
		if r.chance(25) {
			t.Requirements = t.Requirements.Without(v1.CapacityTypeLabelKey).With(requirements.In(v1.CapacityTypeLabelKey, "on-demand", "spot", "reserved"))
			t.Offerings = append(t.Offerings, cloudprovider.Offering{
				Zone: "a", CapacityType: v1.CapacityTypeReserved, Price: 0.001 * float64(1+r.below(20)), Available: true,
				ReservationID: fmt.Sprintf("r-%d", i), ReservationCapacity: 1 + r.below(2),
			})
		}
		out = append(out, t)
	}
	return out
}

func (r *tinyProblem) node(name string) provisioning.Node {
	node := scenes.Node(name, map[string]string{
		corev1.LabelTopologyZone: string(rune('a' + r.below(2))), v1.CapacityTypeLabelKey: "on-demand",
	})
	n := provisioning.Node{Node: node}
	for i := range r.below(3) {
		pod := scenes.Pod(fmt.Sprintf("%s-bound-%d", name, i), fmt.Sprintf("%dm", 200+100*r.below(6)), "256Mi")
		pod.Labels = map[string]string{"app": string(rune('a' + r.below(2)))}
		pod.Spec.NodeName = name
		if r.chance(15) {
			r.apart(pod, corev1.LabelHostname, "a")
		}
		n.Pods = append(n.Pods, pod)
	}
	return n
}

// workload adds pods that are alike.
func (r *tinyProblem) workload(app string, n int) {
	model := scenes.Pod(app, fmt.Sprintf("%dm", 200+150*r.below(16)), fmt.Sprintf("%dMi", 256*(1+r.below(8))))
	model.Labels = map[string]string{"app": app}
	if r.chance(50) {
		r.spread(model, corev1.LabelTopologyZone, app)
	}
	if r.chance(20) {
		r.spread(model, corev1.LabelHostname, app)
	}
	if r.chance(10) {
		r.spread(model, v1.CapacityTypeLabelKey, app)
	}
	if r.chance(15) {
		r.apart(model, []string{corev1.LabelHostname, corev1.LabelTopologyZone}[r.below(2)], string(rune('a'+r.below(2))))
	}
	if r.chance(15) {
		r.together(model, []string{corev1.LabelHostname, corev1.LabelTopologyZone}[r.below(2)], string(rune('a'+r.below(2))))
	}
	if r.chance(15) {
		model.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: string(rune('a' + r.below(2)))}
	}
	if r.chance(20) {
		model.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
	if r.chance(10) {
		model.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80, Protocol: corev1.ProtocolTCP}}
	}
	if r.chance(20) {
		r.prefer(model)
	}
	for i := range n {
		pod := model.DeepCopy()
		pod.Name = fmt.Sprintf("%s-%d", app, i)
		r.in.Pods = append(r.in.Pods, pod)
	}
}

func selects(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func (r *tinyProblem) spread(pod *corev1.Pod, key, app string) {
	c := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + r.below(2)), TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selects(app)}
	if r.chance(15) {
		least := int32(2)
		c.MinDomains = &least
	}
	if r.chance(15) {
		c.WhenUnsatisfiable, c.MinDomains = corev1.ScheduleAnyway, nil
	}
	pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, c)
}

func affinityOf(pod *corev1.Pod) *corev1.Affinity {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	return pod.Spec.Affinity
}

func (r *tinyProblem) apart(pod *corev1.Pod, key, app string) {
	affinityOf(pod).PodAntiAffinity = &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: selects(app)}},
	}
}

func (r *tinyProblem) together(pod *corev1.Pod, key, app string) {
	affinityOf(pod).PodAffinity = &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: selects(app)}},
	}
}

func (r *tinyProblem) prefer(pod *corev1.Pod) {
	affinityOf(pod).NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
		Weight: 100,
		Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{string(rune('a' + r.below(2)))}},
		}},
	}}}
}
