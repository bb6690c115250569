package disruption

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// nodeKinds tells nodes apart by what the classes of an estimate ask about.
type nodeKinds struct {
	keys       []string // of labels
	known      map[string]int32
	nodes      []*corev1.Node // one of each kind
	labels     []requirements.Set
	vocabulary *requirements.Vocabulary
}

// selectorKeys are the labels that some class asks about.
func (e *estimate) selectorKeys() []string {
	seen := map[string]string{}
	for _, kind := range e.classes {
		for _, a := range kind.asks(e.w.f.vocabulary).Alternatives {
			for r := range a.Set.All() {
				seen[r.Key()] = ""
			}
		}
	}
	return sortedKeys(seen)
}

// of is the kind of a node.
func (k *nodeKinds) of(n provisioning.Node) int32 {
	node := n.Node
	if node == nil {
		node = &corev1.Node{}
	}
	labels := requirements.FromLabels(node.Labels, k.vocabulary)
	var b strings.Builder
	for _, key := range k.keys {
		value, _ := labels.Get(key)
		fmt.Fprintf(&b, "%s|", value)
	}
	for _, t := range node.Spec.Taints {
		fmt.Fprintf(&b, "%s=%s:%s|", t.Key, t.Value, t.Effect)
	}
	kind, found := k.known[b.String()]
	if !found {
		kind = int32(len(k.nodes))
		k.known[b.String()] = kind
		k.nodes, k.labels = append(k.nodes, node), append(k.labels, labels)
	}
	return kind
}

// admit says which kinds admit pods of a kind.
func (k *nodeKinds) admit(kind *podKind) []bool {
	out := make([]bool, len(k.nodes))
	asked := kind.asks(k.vocabulary)
	for i, node := range k.nodes {
		out[i] = admits(node, k.labels[i], kind.pod, asked)
	}
	return out
}

// admits reports whether the labels and taints of a node let a pod run there.
func admits(node *corev1.Node, labels requirements.Set, p *corev1.Pod, asked requirements.Pod) bool {
	return tolerates(p, node.Spec.Taints) && slices.ContainsFunc(asked.Alternatives, func(a requirements.Alternative) bool {
		return labels.Compatible(a.Set, nil)
	})
}

// tolerates reports whether a pod tolerates all taints that keep pods out.
func tolerates(p *corev1.Pod, taints []corev1.Taint) bool {
	for _, t := range taints {
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(p.Spec.Tolerations, func(o corev1.Toleration) bool {
			return covers(o, t)
		}) {
			return false
		}
	}
	return true
}

// covers reports whether a toleration is for a taint. Comparisons of numbers are
// left to the engine.
func covers(o corev1.Toleration, t corev1.Taint) bool {
	if o.Effect != "" && o.Effect != t.Effect || o.Key != "" && o.Key != t.Key {
		return false
	}
	switch o.Operator {
	case corev1.TolerationOpExists:
		return true
	case corev1.TolerationOpEqual, "":
		return o.Key != "" && o.Value == t.Value
	}
	return false
}
