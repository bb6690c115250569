package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace is the namespace of every pod.
const Namespace = "default"

func (b *builder) addPods(bl block) error {
	name, count, many := strings.Cut(bl.rest, " x")
	pod, err := newPod(bl, name)
	if !many {
		b.world.Pods = append(b.world.Pods, pod)
		return err
	}
	n, atoiErr := strconv.Atoi(count)
	if atoiErr != nil || n < 1 || n > 100_000 {
		return bl.fault("pod %s: %q is not a count", name, count)
	}
	for i := range n {
		one := pod.DeepCopy()
		one.Name = fmt.Sprintf("%s-%d", name, i+1)
		b.world.Pods = append(b.world.Pods, one)
	}
	return err
}

func (b *builder) addDaemon(bl block) error {
	pod, err := newPod(bl, bl.rest)
	b.world.DaemonSetPods = append(b.world.DaemonSetPods, pod)
	return err
}

func newPod(bl block, name string) (*corev1.Pod, error) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	spec := &pod.Spec
	return pod, each(bl, func(l line) (err error) {
		switch l.word {
		case "request":
			spec.Containers[0].Resources.Requests, err = parseAmounts(l.rest)
		case "init":
			c := corev1.Container{Name: "init"}
			c.Resources.Requests, err = parseAmounts(l.rest)
			spec.InitContainers = append(spec.InitContainers, c)
		case "select":
			spec.NodeSelector, err = parseLabels(l.rest)
		case "term":
			return addTerm(spec, l.rest)
		case "tolerate":
			spec.Tolerations = parseTolerations(l.rest)
		case "labels":
			pod.Labels, err = parseLabels(l.rest)
		case "uses":
			for _, feature := range list(l.rest) {
				if err := use(spec, feature); err != nil {
					return err
				}
			}
		default:
			err = errUnknown
		}
		return err
	})
}

// nodeAffinity returns the node affinity of a pod, made if there is none.
func nodeAffinity(spec *corev1.PodSpec) *corev1.NodeAffinity {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	return spec.Affinity.NodeAffinity
}

func addTerm(spec *corev1.PodSpec, text string) error {
	term, err := parseTerm(text)
	affinity := nodeAffinity(spec)
	if affinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
	}
	required := affinity.RequiredDuringSchedulingIgnoredDuringExecution
	required.NodeSelectorTerms = append(required.NodeSelectorTerms, term)
	return err
}

// Features lists the words that a pod may use.
func Features() []string {
	return []string{
		"gate", "host-port", "node-preference", "pod-affinity", "pod-anti-affinity",
		"resource-claim", "topology-spread", "volume-claim", "volume-ephemeral",
	}
}

// use gives a pod a feature that decides where it may run.
func use(spec *corev1.PodSpec, feature string) error {
	if !slices.Contains(Features(), feature) {
		return fmt.Errorf("there is no feature %q; use one of %s", feature, strings.Join(Features(), ", "))
	}
	term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{}}
	switch feature {
	case "gate":
		spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
	case "host-port":
		spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
	case "node-preference":
		affinity := nodeAffinity(spec)
		preferred, err := parseTerm(corev1.LabelTopologyZone + " = a")
		affinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: preferred}}
		return err
	case "pod-affinity":
		nodeAffinity(spec)
		spec.Affinity.PodAffinity = &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term},
		}
	case "pod-anti-affinity":
		nodeAffinity(spec)
		spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term},
		}
	case "resource-claim":
		spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}}
	case "topology-spread":
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway,
		}}
	case "volume-claim":
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "data", VolumeSource: source})
	case "volume-ephemeral":
		source := corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "scratch", VolumeSource: source})
	}
	return nil
}
