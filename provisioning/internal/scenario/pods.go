package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Namespace is the namespace of every pod that names no other.
const Namespace = "default"

func (b *builder) addPods(bl block) error {
	name, count, many, countErr := counted(bl.rest)
	if countErr != nil {
		return bl.fault("pod %s: %w", name, countErr)
	}
	pod, err := newPod(bl, name)
	b.world.Pods = append(b.world.Pods, copies(pod, count, many)...)
	return err
}

func (b *builder) addDaemon(bl block) error {
	pod, err := newPod(bl, bl.rest)
	b.world.DaemonSetPods = append(b.world.DaemonSetPods, pod)
	return err
}

// copies makes NAME-1 to NAME-COUNT of a pod, or leaves the only one as it is.
// A * in the name of a claim or disk is the number.
func copies(pod *corev1.Pod, count int, many bool) []*corev1.Pod {
	if !many {
		return []*corev1.Pod{pod}
	}
	out := make([]*corev1.Pod, count)
	for i := range out {
		one := pod.DeepCopy()
		one.Name = fmt.Sprintf("%s-%d", pod.Name, i+1)
		for j := range one.Spec.Volumes {
			if claim := one.Spec.Volumes[j].PersistentVolumeClaim; claim != nil {
				claim.ClaimName = strings.ReplaceAll(claim.ClaimName, "*", fmt.Sprint(i+1))
			}
			if disk := one.Spec.Volumes[j].GCEPersistentDisk; disk != nil {
				disk.PDName = strings.ReplaceAll(disk.PDName, "*", fmt.Sprint(i+1))
			}
		}
		for j := range one.Spec.ResourceClaims {
			if name := one.Spec.ResourceClaims[j].ResourceClaimName; name != nil {
				*name = strings.ReplaceAll(*name, "*", fmt.Sprint(i+1))
			}
		}
		out[i] = one
	}
	return out
}

func newPod(bl block, name string) (*corev1.Pod, error) {
	p := newPodBuilder(name)
	err := each(bl, p.set)
	pod, finishErr := p.finish()
	if finishErr != nil {
		err = errors.Join(err, bl.fault("%s %s: %w", bl.word, bl.rest, finishErr))
	}
	return pod, err
}

// podBuilder holds what is said of a pod until all of it is known.
type podBuilder struct {
	pod *corev1.Pod
	// own stands for the selector of the pod's own labels, wherever a
	// constraint names no other.
	own     *metav1.LabelSelector
	ownUsed bool
}

func newPodBuilder(name string) *podBuilder {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	return &podBuilder{pod: pod, own: &metav1.LabelSelector{}}
}

// finish fills in the labels that constraints select by default.
func (p *podBuilder) finish() (*corev1.Pod, error) {
	p.own.MatchLabels = p.pod.Labels
	pod := p.pod.DeepCopy()
	if p.ownUsed && len(p.pod.Labels) == 0 {
		return pod, errors.New("a constraint without a selector selects the labels of its pod, which has none; give it labels or a selector")
	}
	return pod, nil
}

func podWords() []string {
	return []string{
		"request", "init", "sidecar", "beside", "pod-request", "overhead", "select", "term", "prefer", "tolerate", "labels",
		"spread", "with", "anti", "port", "init-port", "claim", "ephemeral", "disk", "device-claim", "device-template", "priority", "preemption", "gated", "scheduler",
		"namespace", "owned", "nominated", "deleting", "uses",
	}
}

func (p *podBuilder) set(l line) error {
	if known, err := p.setContainer(l); known {
		return err
	}
	if known, err := p.setConstraint(l); known {
		return err
	}
	return p.setRest(l)
}

// setContainer reads what is said of containers and their resources.
func (p *podBuilder) setContainer(l line) (known bool, err error) {
	spec := &p.pod.Spec
	switch l.word {
	case "request":
		spec.Containers[0].Resources.Requests, err = parseAmounts(l.rest)
	case "beside":
		c := corev1.Container{Name: fmt.Sprintf("beside-%d", len(spec.Containers))}
		c.Resources.Requests, err = parseAmounts(l.rest)
		spec.Containers = append(spec.Containers, c)
	case "init", "sidecar":
		c := corev1.Container{Name: l.word}
		c.Resources.Requests, err = parseAmounts(l.rest)
		if l.word == "sidecar" {
			always := corev1.ContainerRestartPolicyAlways
			c.RestartPolicy = &always
		}
		spec.InitContainers = append(spec.InitContainers, c)
	case "pod-request":
		spec.Resources = &corev1.ResourceRequirements{}
		spec.Resources.Requests, err = parseAmounts(l.rest)
	case "overhead":
		spec.Overhead, err = parseAmounts(l.rest)
	case "port":
		return true, addPort(&spec.Containers[0], l.rest)
	case "init-port":
		if len(spec.InitContainers) == 0 {
			return true, errors.New("there is no init container yet; write a line init or sidecar above")
		}
		return true, addPort(&spec.InitContainers[len(spec.InitContainers)-1], l.rest)
	default:
		return false, nil
	}
	return true, err
}

func addPort(c *corev1.Container, text string) error {
	port, err := parsePort(text)
	c.Ports = append(c.Ports, port)
	return err
}

// setConstraint reads where a pod may run and would rather run.
func (p *podBuilder) setConstraint(l line) (known bool, err error) {
	spec := &p.pod.Spec
	switch l.word {
	case "select":
		spec.NodeSelector, err = parseLabels(expand(l.rest))
	case "term":
		return true, addTerm(spec, l.rest)
	case "prefer":
		return true, addPreference(spec, l.rest)
	case "tolerate":
		spec.Tolerations = parseTolerations(l.rest)
	case "spread":
		c, err := parseSpread(l.rest, p.own)
		spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, c)
		p.ownUsed = p.ownUsed || c.LabelSelector == p.own
		return true, err
	case "with", "anti":
		term, weight, err := parsePodTerm(l.rest, p.own)
		addPodAffinity(spec, l.word == "anti", term, weight)
		p.ownUsed = p.ownUsed || term.LabelSelector == p.own
		return true, err
	default:
		return false, nil
	}
	return true, err
}

func (p *podBuilder) setRest(l line) (err error) {
	pod, spec := p.pod, &p.pod.Spec
	switch l.word {
	case "labels":
		pod.Labels, err = parseLabels(l.rest)
	case "claim":
		for _, name := range list(l.rest) {
			addClaim(spec, name)
		}
	case "ephemeral":
		return addEphemeral(spec, l.rest)
	case "disk":
		return addDisk(spec, l.rest)
	case "device-claim", "device-template":
		addResourceClaims(spec, l.rest, l.word == "device-template")
	case "priority":
		var n int32
		n, err = number(l.rest, -2147483648)
		spec.Priority = &n
	case "preemption":
		preemption := corev1.PreemptionPolicy(l.rest)
		spec.PreemptionPolicy = &preemption
	case "gated":
		spec.SchedulingGates = append(spec.SchedulingGates, corev1.PodSchedulingGate{Name: "example.com/quota"})
	case "scheduler":
		spec.SchedulerName = l.rest
	case "namespace":
		pod.Namespace = l.rest
	case "owned":
		controller := true
		pod.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: l.rest, UID: types.UID(l.rest), Controller: &controller,
		}}
	case "nominated":
		pod.Status.NominatedNodeName = l.rest
	case "deleting":
		pod.DeletionTimestamp = deletedAt()
	case "uses":
		for _, feature := range list(l.rest) {
			if err := use(spec, feature); err != nil {
				return err
			}
		}
	default:
		err = unknownOf(podWords()...)
	}
	return err
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

func addClaim(spec *corev1.PodSpec, name string) {
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: fmt.Sprintf("volume-%d", len(spec.Volumes)+1), VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}})
}

// addEphemeral reads NAME CLASS: a generic ephemeral volume, whose claim is
// POD-NAME once it exists.
func addEphemeral(spec *corev1.PodSpec, text string) error {
	name, class, ok := strings.Cut(text, " ")
	if !ok {
		return fmt.Errorf("%q is not NAME CLASS", text)
	}
	template := &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
	}}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: template},
	}})
	return nil
}

// addDisk reads NAME [read-only]: a disk that the pod names itself.
func addDisk(spec *corev1.PodSpec, text string) error {
	name, how, more := strings.Cut(text, " ")
	if name == "" || more && how != "read-only" {
		return fmt.Errorf("%q is not NAME or NAME read-only", text)
	}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: fmt.Sprintf("volume-%d", len(spec.Volumes)+1), VolumeSource: corev1.VolumeSource{
		GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: more},
	}})
	return nil
}

// Features lists the words that a pod may use.
func Features() []string {
	return []string{
		"gate", "host-port", "node-preference", "pod-affinity", "pod-anti-affinity",
		"resource-claim", "restart-all-containers", "scheduling-group", "topology-spread", "user-namespace-on-host-network", "volume-claim", "volume-ephemeral",
	}
}

// use gives a pod a feature that decides where it may run, in its plainest
// form.
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
		return addPreference(spec, "1 zone = a")
	case "pod-affinity", "pod-anti-affinity":
		addPodAffinity(spec, feature == "pod-anti-affinity", term, 0)
	case "resource-claim":
		spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}}
	case "restart-all-containers":
		spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
	case "scheduling-group":
		group := "train"
		spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
	case "user-namespace-on-host-network":
		spec.HostNetwork, spec.HostUsers = true, new(bool)
	case "topology-spread":
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway,
		}}
	case "volume-claim":
		addClaim(spec, "data")
	case "volume-ephemeral":
		source := corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "scratch", VolumeSource: source})
	}
	return nil
}
