package estimate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	engine "github.com/dovetail-sdk/dovetail/internal/engine/state"
)

// Pin restricts pods to some values of labels of their node, by label.
type Pin map[string][]string

// Kinds numbers pods by their class in the engine and by their Pin. It is not safe for concurrent
// use.
type Kinds struct {
	state *engine.State
	known map[*corev1.Pod]int32
	loose map[*corev1.Pod]int32 // kinds of pods that may change their domain: see Loosen
	byKey map[kindKey]int32
	list  []kind
}

// kind is a kind of pods.
type kind struct {
	class int // in the problem of the state
	pin   Pin
}

type kindKey struct {
	class int
	pin   string
}

// NewKinds returns the kinds of the pods of a state.
func NewKinds(s *engine.State) *Kinds {
	return &Kinds{state: s, known: map[*corev1.Pod]int32{}, loose: map[*corev1.Pod]int32{}, byKey: map[kindKey]int32{}}
}

// of returns the kind of a pod, -1 for a pod that the state does not move.
func (k *Kinds) of(p *corev1.Pod) int32 {
	n, known := k.known[p]
	if !known {
		n = k.number(k.state.Class(p), nil)
		k.known[p] = n
	}
	return n
}

// Pin restricts a pod to some labels.
func (k *Kinds) Pin(p *corev1.Pod, to Pin) { k.known[p] = k.number(k.state.Class(p), to) }

// Loosen records the Pin that a pod has instead when it may change its domain.
func (k *Kinds) Loosen(p *corev1.Pod, to Pin) { k.loose[p] = k.number(k.state.Class(p), to) }

func (k *Kinds) number(class int, pin Pin) int32 {
	if class < 0 {
		return -1
	}
	key := kindKey{class, pin.text()}
	n, known := k.byKey[key]
	if !known {
		n = int32(len(k.list))
		k.byKey[key] = n
		k.list = append(k.list, kind{class, pin})
	}
	return n
}

// text returns a text that is equal for equal pins.
func (p Pin) text() string {
	if len(p) == 0 {
		return ""
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&b, "%s=%q|", key, p[key])
	}
	return b.String()
}
