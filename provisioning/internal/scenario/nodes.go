package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// nodeBuilder holds what is said of a node until all of it is known.
type nodeBuilder struct {
	node          corev1.Node
	claim         v1.NodeClaim
	pool, stage   string
	claimTaints   []corev1.Taint
	startupTaints []corev1.Taint
	pods          []*corev1.Pod
}

func (b *builder) addNode(bl block) error {
	n := &nodeBuilder{stage: "initialized"}
	n.node.Name = bl.rest
	n.node.Labels = map[string]string{}
	err := each(bl, n.set)
	if err == nil && !slices.Contains([]string{"launched", "joined", "registered", "initialized"}, n.stage) {
		err = bl.fault("node %s: stage %q is not known", bl.rest, n.stage)
	}
	b.world.Nodes = append(b.world.Nodes, n.finish())
	return err
}

func (n *nodeBuilder) set(l line) (err error) {
	switch l.word {
	case "of":
		n.pool = l.rest
	case "stage":
		n.stage = l.rest
	case "allocatable":
		n.node.Status.Allocatable, err = parseAmounts(l.rest)
	case "capacity":
		n.node.Status.Capacity, err = parseAmounts(l.rest)
	case "labels":
		var labels map[string]string
		labels, err = parseLabels(l.rest)
		maps.Copy(n.node.Labels, labels)
	case "taints":
		n.node.Spec.Taints, err = parseTaints(l.rest)
	case "claim-taints":
		n.claimTaints, err = parseTaints(l.rest)
	case "startup-taints":
		n.startupTaints, err = parseTaints(l.rest)
	case "require":
		n.claim.Spec.Requirements, err = clauses(l.rest)
	case "runs":
		return n.run(l.rest)
	case "cordoned":
		n.node.Spec.Unschedulable = true
	case "deleting":
		n.node.DeletionTimestamp, n.claim.DeletionTimestamp = deletedAt(), deletedAt()
	case "terminating":
		n.condition(v1.ConditionTypeInstanceTerminating)
	case "rebooting":
		n.condition(v1.ConditionTypeRebooting)
		n.node.Spec.Taints = append(n.node.Spec.Taints, v1.RebootingNoScheduleTaint())
	default:
		err = errUnknown
	}
	return err
}

func (n *nodeBuilder) condition(kind string) {
	n.claim.Status.Conditions = append(n.claim.Status.Conditions,
		metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind})
}

// finish makes Node and NodeClaim as they stand at the node's stage. Labels are
// those of the claim until the Node is registered.
func (n *nodeBuilder) finish() Node {
	if n.node.Status.Capacity == nil {
		n.node.Status.Capacity = n.node.Status.Allocatable.DeepCopy()
	}
	if n.pool == "" {
		n.node.Labels[corev1.LabelHostname] = n.node.Name
		return Node{Node: &n.node, Pods: n.pods}
	}
	n.node.Labels[v1.NodePoolLabelKey] = n.pool
	n.claim.Name = "claim-" + n.node.Name
	n.claim.Labels = maps.Clone(n.node.Labels)
	n.claim.Spec.NodeClassRef = nodeClass()
	n.claim.Spec.StartupTaints = n.startupTaints
	n.claim.Spec.Taints = n.claimTaints
	n.claim.Status.Allocatable = n.node.Status.Allocatable.DeepCopy()
	n.claim.Status.Capacity = n.node.Status.Capacity.DeepCopy()
	switch n.stage {
	case "launched":
		n.claim.Name = n.node.Name
		return Node{NodeClaim: &n.claim, Pods: n.pods}
	case "joined":
		n.node.Labels = map[string]string{}
		n.node.Spec.Taints = append(n.node.Spec.Taints, v1.UnregisteredNoExecuteTaint())
	case "registered":
		n.node.Labels[v1.NodeRegisteredLabelKey] = "true"
	case "initialized":
		n.node.Labels[v1.NodeRegisteredLabelKey] = "true"
		n.node.Labels[v1.NodeInitializedLabelKey] = "true"
	}
	n.node.Labels[corev1.LabelHostname] = n.node.Name
	return Node{Node: &n.node, NodeClaim: &n.claim, Pods: n.pods}
}

// run binds a pod: NAME AMOUNTS [of DAEMON] [finished] [repels LABELS within KEY].
func (n *nodeBuilder) run(text string) error {
	text, repels, repelling := strings.Cut(text, " repels ")
	text, finished := strings.CutSuffix(text, " finished")
	text, daemon, owned := strings.Cut(text, " of ")
	name, amounts, _ := strings.Cut(text, " ")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}
	pod.Spec.NodeName = n.node.Name
	requests, err := parseAmounts(amounts)
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}
	if finished {
		pod.Status.Phase = corev1.PodSucceeded
	}
	if owned {
		controller := true
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: daemon, Controller: &controller}}
	}
	if repelling && err == nil {
		err = repel(pod, repels)
	}
	n.pods = append(n.pods, pod)
	return err
}

// repel gives a bound pod a required anti-affinity.
func repel(pod *corev1.Pod, text string) error {
	labels, key, ok := strings.Cut(text, " within ")
	if !ok {
		return fmt.Errorf("%q is not LABELS within KEY", text)
	}
	match, err := parseLabels(labels)
	pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: match}, TopologyKey: key,
		}},
	}}
	return err
}
