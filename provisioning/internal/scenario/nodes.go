package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// nodeBuilder holds what is said of a node until all of it is known.
type nodeBuilder struct {
	node          corev1.Node
	claim         v1.NodeClaim
	pool, stage   string
	claimTaints   []corev1.Taint
	startupTaints []corev1.Taint
	pods          []*corev1.Pod
	drivers       []storagev1.CSINodeDriver // nil of a node that publishes none
	devices       []cloudprovider.InstanceDevice
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
	if n.drivers != nil {
		b.world.Volumes.CSINodes = append(b.world.Volumes.CSINodes, &storagev1.CSINode{
			ObjectMeta: metav1.ObjectMeta{Name: n.node.Name}, Spec: storagev1.CSINodeSpec{Drivers: n.drivers},
		})
	}
	b.world.Devices.Slices = append(b.world.Devices.Slices, publish(n.node.Name, n.devices)...)
	return err
}

func nodeWords() []string {
	return []string{
		"of", "stage", "allocatable", "capacity", "labels", "taints", "claim-taints", "startup-taints", "require", "runs",
		"attaches", "device", "cordoned", "deleting", "terminating", "rebooting",
	}
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
		labels, err = parseLabels(expand(l.rest))
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
		return n.run(l)
	case "attaches":
		n.drivers, err = parseDrivers(l.rest)
	case "device":
		var d cloudprovider.InstanceDevice
		d, err = parseDevices(l.rest)
		n.devices = append(n.devices, d)
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
		err = unknownOf(nodeWords()...)
	}
	return err
}

func (n *nodeBuilder) condition(kind string) {
	n.claim.Status.Conditions = append(n.claim.Status.Conditions,
		metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind})
}

// finish makes the Node and the NodeClaim of the node's stage. Until the Node is registered, its
// labels are those of the claim.
func (n *nodeBuilder) finish() Node {
	if n.node.Status.Capacity == nil {
		n.node.Status.Capacity = n.node.Status.Allocatable.DeepCopy()
	}
	if n.pool == "" {
		if n.node.Labels[corev1.LabelHostname] == "" {
			n.node.Labels[corev1.LabelHostname] = n.node.Name
		}
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

// run binds pods: NAME [xCOUNT] AMOUNTS [of DAEMON] [finished]
// [repels LABELS within KEY] [; LINE]..., where each LINE is one that a pod
// may have below it.
func (n *nodeBuilder) run(l line) error {
	parts := split(l.rest, ';')
	if len(parts) == 0 {
		return errors.New("the name is missing; write NAME AMOUNTS")
	}
	text, repels, repelling := strings.Cut(parts[0], " repels ")
	text, finished := strings.CutSuffix(text, " finished")
	text, daemon, owned := strings.Cut(text, " of ")
	name, amounts, _ := strings.Cut(text, " ")
	count, many := 1, false
	if word, rest, _ := strings.Cut(amounts, " "); strings.HasPrefix(word, "x") && !strings.Contains(word, "=") {
		var err error
		if _, count, many, err = counted(name + " " + word); err != nil {
			return err
		}
		amounts = rest
	}
	p := newPodBuilder(name)
	pod := p.pod
	pod.Spec.NodeName = n.node.Name
	requests, err := parseAmounts(amounts)
	pod.Spec.Containers[0].Resources.Requests = requests
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
	for _, part := range parts[1:] {
		own := newLine(l.number, part)
		if setErr := p.set(own); setErr != nil && err == nil {
			err = fmt.Errorf("%s: %w", own.word, setErr)
		}
	}
	pod, finishErr := p.finish()
	if err == nil {
		err = finishErr
	}
	n.pods = append(n.pods, copies(pod, count, many)...)
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
			LabelSelector: &metav1.LabelSelector{MatchLabels: match}, TopologyKey: longKey(key),
		}},
	}}
	return err
}

// parseDrivers reads DRIVER=N of drivers that attach at most N volumes, and DRIVER of those that
// set no limit.
func parseDrivers(text string) ([]storagev1.CSINodeDriver, error) {
	drivers := []storagev1.CSINodeDriver{}
	for _, part := range list(text) {
		name, count, limited := strings.Cut(part, "=")
		d := storagev1.CSINodeDriver{Name: name, NodeID: "id"}
		if limited {
			n, err := number(count, 0)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			d.Allocatable = &storagev1.VolumeNodeResources{Count: &n}
		}
		drivers = append(drivers, d)
	}
	return drivers, nil
}
