package disruption

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/podkey"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// podKinds tells which pods are alike in all that a search looks at: most are
// replicas of few workloads, and what a pod asks for and whom it keeps away from
// takes long to read. It is for one goroutine.
type podKinds struct {
	known map[*corev1.Pod]*podKind
	byKey map[string]*podKind
	count int // of kinds
	key   kindKey
}

// podKind is what is known of pods that are alike, in parts as it is asked for.
type podKind struct {
	number int
	pod    *corev1.Pod // one of them

	requests resources.List
	readable bool // what they request can be read

	asked     *requirements.Pod
	askedText string // the same, once written out
	shuns     lazily[group]
	bonds     lazily[bond]
	pins      map[string]*podKind // those that are to keep labels of their nodes, by what these are
}

// lazily is a list that is made when it is asked for first.
type lazily[T any] struct {
	known bool
	list  []T
}

func (l *lazily[T]) get(read func() []T) []T {
	if !l.known {
		l.known, l.list = true, read()
	}
	return l.list
}

// newPodKinds makes room for so many pods.
func newPodKinds(pods int) *podKinds {
	return &podKinds{known: make(map[*corev1.Pod]*podKind, pods), byKey: map[string]*podKind{}}
}

// of is the kind of a pod.
func (k *podKinds) of(p *corev1.Pod) *podKind {
	kind, known := k.known[p]
	if known {
		return kind
	}
	key := k.key.of(p)
	if kind = k.byKey[string(key)]; kind == nil {
		kind = &podKind{number: k.count, pod: p}
		k.count++
		var err error
		kind.requests, err = resources.PodRequests(p)
		kind.readable = err == nil
		k.byKey[string(key)] = kind
	}
	k.known[p] = kind
	return kind
}

// pin notes that a pod is like those of a kind, but asks for some labels more of its
// node.
func (k *podKinds) pin(pod *corev1.Pod, kind *podKind, held map[string]string) {
	var text strings.Builder
	for _, key := range sortedKeys(held) {
		text.WriteString(key + "=" + held[key] + "|")
	}
	pinned := kind.pins[text.String()]
	if pinned == nil {
		pinned = &podKind{number: k.count, pod: pod, requests: kind.requests, readable: kind.readable, shuns: kind.shuns, bonds: kind.bonds}
		k.count++
		if kind.pins == nil {
			kind.pins = map[string]*podKind{}
		}
		kind.pins[text.String()] = pinned
	}
	k.known[pod] = pinned
}

// asks is what the pods ask of nodes. What is at fault asks for nothing that is met.
func (k *podKind) asks(v *requirements.Vocabulary) requirements.Pod {
	if k.asked == nil {
		asked, _ := requirements.FromPod(k.pod, v)
		k.asked = &asked
	}
	return *k.asked
}

// kindKey writes what a search looks at in a pod as bytes: pods are alike if these
// are equal.
type kindKey struct {
	podkey.Writer
	defaults bool // pods without topology spreads get some
}

// of is good until the next call.
func (k *kindKey) of(p *corev1.Pod) []byte {
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

func (k *kindKey) affinity(p *corev1.Pod) {
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
