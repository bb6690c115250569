package family

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// The mixes of Karpenter's benchmark use these label keys. One is misspelt there; all that matters
// is that the keys differ.
const (
	mixLabel      = "my-label"
	mixAffinity   = "my-affininity"
	mixNamespace  = "default"
	mixImage      = "registry.k8s.io/pause:3.10"
	mixPodsWaited = 15 * time.Second
)

// generic makes pods that have requests and nothing else.
func generic(m *maker) {
	m.openPool()
	for range m.spec.Pods {
		m.mixPod(m.letter(mixLabel), corev1.PodSpec{}, m.requests())
	}
}

// generic10 makes ten distinct pods, as ten Deployments would.
func generic10(m *maker) {
	const shapes = 10
	m.openPool()
	var requests [shapes]corev1.ResourceList
	for i := range requests {
		requests[i] = m.requests()
	}
	for i := range m.spec.Pods {
		labels := map[string]string{"app": fmt.Sprintf("app-%d", i%shapes)}
		m.mixPod(labels, corev1.PodSpec{}, requests[i%shapes])
	}
}

// diverse makes five kinds of pods in equal parts. The remainder of the division by five is
// generic.
func diverse(m *maker) {
	m.openPool()
	kinds := []func() (map[string]string, corev1.PodSpec){
		func() (map[string]string, corev1.PodSpec) { return m.letter(mixLabel), corev1.PodSpec{} },
		func() (map[string]string, corev1.PodSpec) { return m.spreading(corev1.LabelTopologyZone) },
		func() (map[string]string, corev1.PodSpec) { return m.spreading(corev1.LabelHostname) },
		m.clinging,
		m.aloof,
	}
	each := m.spec.Pods / len(kinds)
	for _, kind := range kinds {
		for range each {
			labels, spec := kind()
			m.mixPod(labels, spec, m.requests())
		}
	}
	for range m.spec.Pods - each*len(kinds) {
		m.mixPod(m.letter(mixLabel), corev1.PodSpec{}, m.requests())
	}
}

// spreading returns a pod with a spread over the pods of a random letter, which may differ from its
// own.
func (m *maker) spreading(key string) (map[string]string, corev1.PodSpec) {
	labels := m.letter(mixLabel)
	return labels, corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{
		spread(key, corev1.DoNotSchedule, m.letter(mixLabel)),
	}}
}

// clinging returns a pod with affinity to the pods of its own letter in a zone.
func (m *maker) clinging() (map[string]string, corev1.PodSpec) {
	labels := m.letter(mixAffinity)
	return labels, corev1.PodSpec{Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{near(corev1.LabelTopologyZone, labels)},
	}}}
}

// aloof returns the labels and the spec of a pod that cannot share a node with its replicas.
func (m *maker) aloof() (map[string]string, corev1.PodSpec) {
	labels := map[string]string{"app": "nginx"}
	return labels, corev1.PodSpec{Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{near(corev1.LabelHostname, labels)},
	}}}
}

// preferences makes equal pods with preferences that contradict each other.
func preferences(m *maker) {
	m.openPool()
	labels := map[string]string{"app": "nginx"}
	requests := m.requests()
	for range m.spec.Pods {
		m.mixPod(labels, corev1.PodSpec{Affinity: &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Weight: 1, Preference: labelIn(corev1.LabelTopologyZone, m.zones[0])},
			}},
			PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 10, PodAffinityTerm: near(corev1.LabelTopologyZone, labels)},
				{Weight: 1, PodAffinityTerm: near(corev1.LabelHostname, labels)},
			}},
		}}, requests)
	}
}

// openPool adds a pool that accepts every type, with limits that no scenario reaches.
func (m *maker) openPool() {
	m.addPool("default", v1.NodePoolSpec{Limits: v1.Limits{
		corev1.ResourceCPU:    resource.MustParse("10M"),
		corev1.ResourceMemory: resource.MustParse("10Pi"),
	}})
}

// letter returns a label with one of seven values.
func (m *maker) letter(key string) map[string]string {
	return map[string]string{key: oneOf(m.dice, "a", "b", "c", "d", "e", "f", "g")}
}

func (m *maker) requests() corev1.ResourceList {
	milli := oneOf[int64](m.dice, 100, 250, 500, 1000, 1500)
	mebi := oneOf[int64](m.dice, 100, 256, 512, 1024, 2048, 4096)
	return amounts(milli, mebi)
}

// mixPod adds a pending pod of one container.
func (m *maker) mixPod(labels map[string]string, spec corev1.PodSpec, requests corev1.ResourceList) {
	spec.Containers = []corev1.Container{{Name: "main", Image: mixImage, Resources: corev1.ResourceRequirements{Requests: requests}}}
	name := fmt.Sprintf("pod-%05d", len(m.out.Pods))
	m.out.Pods = append(m.out.Pods, m.pending(metav1.ObjectMeta{Namespace: mixNamespace, Name: name, Labels: labels}, spec, mixPodsWaited))
}
