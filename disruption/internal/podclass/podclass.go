// Package podclass groups pods that are alike in everything that a search for cheaper nodes reads,
// and computes their requirements and anti-affinity once per class. It is not safe for concurrent
// use.
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

// Classes groups pods into classes. Most pods are replicas of few workloads, and reading the
// requirements and anti-affinity of a pod takes long. It is not safe for concurrent use.
type Classes struct {
	known map[*corev1.Pod]*Class
	byKey map[string]*Class
	count int // number of classes
	key   key
}

// Class is a group of pods that are alike. Its parts are computed when they are needed.
type Class struct {
	Number int         // from 0 on, in the order of creation
	Pod    *corev1.Pod // a representative

	Requests resources.List
	Readable bool // the requests can be read

	asked        *requirements.Pod
	askedText    string // cached result of AskedText
	excludes     []Group
	excludesRead bool
	pins         map[string]*Class // classes of pods that are also pinned to labels of their nodes, by the text of these labels
}

// New returns an empty set of classes with memory for the given number of pods. With defaults, pods
// without topology spreads are alike only if their default spreads are equal.
func New(pods int, defaults bool) *Classes {
	return &Classes{known: make(map[*corev1.Pod]*Class, pods), byKey: map[string]*Class{}, key: key{defaults: defaults}}
}

// Of returns the class of a pod.
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

// Pin records that a pod is like the pods of class kind, and also requires the labels in held.
func (k *Classes) Pin(pod *corev1.Pod, kind *Class, held map[string]string) {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(held)) {
		text.WriteString(key + "=" + held[key] + "|")
	}
	pinned := kind.pins[text.String()]
	if pinned == nil {
		pinned = &Class{Number: k.count, Pod: pod, Requests: kind.Requests, Readable: kind.Readable, excludes: kind.excludes, excludesRead: kind.excludesRead}
		k.count++
		if kind.pins == nil {
			kind.pins = map[string]*Class{}
		}
		kind.pins[text.String()] = pinned
	}
	k.known[pod] = pinned
}

// Asks returns what the pods require of nodes. Invalid requirements match no node.
func (k *Class) Asks(v *requirements.Vocabulary) requirements.Pod {
	if k.asked == nil {
		asked, _ := requirements.FromPod(k.Pod, v)
		k.asked = &asked
	}
	return *k.asked
}

// AskedText returns a text that is equal for classes that require the same labels of nodes.
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

// key encodes everything that a search reads of a pod. Pods are alike if their encodings are equal.
type key struct {
	podkey.Writer
	defaults bool // pods without topology spreads get default ones
}

// of returns the encoding of a pod. It is valid until the next call.
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
