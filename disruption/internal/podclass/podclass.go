// Package podclass tells which pods are alike in all that a search for cheaper nodes
// looks at, and says once for each class what its pods ask for and keep away from. All
// of it is for one goroutine.
package podclass

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/podkey"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Classes tells which pods are alike in all that a search looks at: most are
// replicas of few workloads, and what a pod asks for and whom it keeps away from
// takes long to read. It is for one goroutine.
type Classes struct {
	known map[*corev1.Pod]*Class
	byKey map[string]*Class
	count int // of kinds
	key   key
}

// Class is what is known of pods that are alike, in parts as it is asked for.
type Class struct {
	Number int         // from 0 on, in the order in which they were met
	Pod    *corev1.Pod // one of them

	Requests resources.List
	Readable bool // what they request can be read

	asked     *requirements.Pod
	askedText string // the same, once written out
	shuns     []Group
	shunsRead bool
	pins      map[string]*Class // those that are to keep labels of their nodes, by what these are
}

// New makes room for so many pods. With defaults, pods without topology spreads are
// alike only if what gives them default ones is.
func New(pods int, defaults bool) *Classes {
	return &Classes{known: make(map[*corev1.Pod]*Class, pods), byKey: map[string]*Class{}, key: key{defaults: defaults}}
}

// Of is the class of a pod.
func (k *Classes) Of(p *corev1.Pod) *Class {
	kind, known := k.known[p]
	if known {
		return kind
	}
	key := k.key.of(p)
	if kind = k.byKey[string(key)]; kind == nil {
		kind = &Class{Number: k.count, Pod: p}
		k.count++
		var err error
		kind.Requests, err = resources.PodRequests(p)
		kind.Readable = err == nil
		k.byKey[string(key)] = kind
	}
	k.known[p] = kind
	return kind
}

// Pin notes that a pod is like those of a kind, but asks for some labels more of its
// node.
func (k *Classes) Pin(pod *corev1.Pod, kind *Class, held map[string]string) {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(held)) {
		text.WriteString(key + "=" + held[key] + "|")
	}
	pinned := kind.pins[text.String()]
	if pinned == nil {
		pinned = &Class{Number: k.count, Pod: pod, Requests: kind.Requests, Readable: kind.Readable, shuns: kind.shuns, shunsRead: kind.shunsRead}
		k.count++
		if kind.pins == nil {
			kind.pins = map[string]*Class{}
		}
		kind.pins[text.String()] = pinned
	}
	k.known[pod] = pinned
}

// Asks is what the pods ask of nodes. What is at fault asks for nothing that is met.
func (k *Class) Asks(v *requirements.Vocabulary) requirements.Pod {
	if k.asked == nil {
		asked, _ := requirements.FromPod(k.Pod, v)
		k.asked = &asked
	}
	return *k.asked
}

// AskedText is the same for classes that ask for the same labels of nodes.
func (k *Class) AskedText(v *requirements.Vocabulary) string {
	if k.askedText == "" {
		var b strings.Builder
		for _, a := range k.Asks(v).Alternatives {
			b.WriteString(a.Set.String() + "|")
		}
		k.askedText = b.String()
	}
	return k.askedText
}

// key writes what a search looks at in a pod as bytes: pods are alike if these
// are equal.
type key struct {
	podkey.Writer
	defaults bool // pods without topology spreads get some
}

// of is good until the next call.
func (k *key) of(p *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Text(p.Namespace)
	k.Labels(p.Labels)
	k.Labels(p.Spec.NodeSelector)
	k.Requests(p)
	k.Tolerations(p.Spec.Tolerations)
	k.Spreads(p, k.defaults)
	k.affinity(p)
	return k.Buf
}

func (k *key) affinity(p *corev1.Pod) {
	a := p.Spec.Affinity
	k.NodeAffinity(a)
	if a == nil {
		return
	}
	if n := a.PodAffinity; n != nil {
		k.Text("with")
		k.AffinityTerms(p, n.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if n := a.PodAntiAffinity; n != nil {
		k.Text("apart")
		k.AffinityTerms(p, n.RequiredDuringSchedulingIgnoredDuringExecution)
	}
}
