package disruption

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	buf       []byte
	names     []string
	resources []corev1.ResourceName
}

// of is good until the next call.
func (k *kindKey) of(p *corev1.Pod) []byte {
	k.buf = k.buf[:0]
	k.text(p.Namespace)
	k.labels(p.Labels)
	k.labels(p.Spec.NodeSelector)
	k.requests(p)
	k.number(len(p.Spec.Tolerations))
	for i := range p.Spec.Tolerations {
		t := &p.Spec.Tolerations[i]
		k.text(t.Key)
		k.text(string(t.Operator))
		k.text(t.Value)
		k.text(string(t.Effect))
	}
	k.number(len(p.Spec.TopologySpreadConstraints))
	for i := range p.Spec.TopologySpreadConstraints {
		k.spread(&p.Spec.TopologySpreadConstraints[i])
	}
	k.affinity(p.Spec.Affinity)
	return k.buf
}

// requests writes what a pod may request. Where its status has a say, as it is
// resized, it is alike to no other.
func (k *kindKey) requests(p *corev1.Pod) {
	own := func(s corev1.ContainerStatus) bool { return s.Resources != nil || s.AllocatedResources != nil }
	if p.Status.Resources != nil || p.Status.AllocatedResources != nil || slices.ContainsFunc(p.Status.ContainerStatuses, own) ||
		slices.ContainsFunc(p.Status.InitContainerStatuses, own) {
		k.text(p.Name)
	} else {
		k.text("")
	}
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		k.number(len(list))
		for i := range list {
			k.list(list[i].Resources.Requests)
			if r := list[i].RestartPolicy; r != nil {
				k.text(string(*r))
			} else {
				k.text("")
			}
		}
	}
	k.list(p.Spec.Overhead)
	if p.Spec.Resources != nil {
		k.list(p.Spec.Resources.Requests)
	} else {
		k.number(-1)
	}
}

func (k *kindKey) list(list corev1.ResourceList) {
	k.resources = k.resources[:0]
	for name := range list { // sorted below
		k.resources = append(k.resources, name)
	}
	slices.SortFunc(k.resources, func(a, b corev1.ResourceName) int { return cmp.Compare(a, b) })
	k.number(len(list))
	for _, name := range k.resources {
		k.text(string(name))
		k.quantity(list[name])
	}
}

// quantity writes an amount: in thousandths, or as text where that is not exact.
func (k *kindKey) quantity(q resource.Quantity) {
	milli := q.MilliValue()
	k.buf = binary.AppendVarint(k.buf, milli)
	if resource.NewMilliQuantity(milli, q.Format).Cmp(q) == 0 {
		k.text("")
	} else {
		k.text(q.String())
	}
}

func (k *kindKey) spread(t *corev1.TopologySpreadConstraint) {
	k.text(t.TopologyKey)
	k.text(string(t.WhenUnsatisfiable))
	k.number(int(t.MaxSkew))
	if t.MinDomains != nil {
		k.number(int(*t.MinDomains))
	} else {
		k.number(-1)
	}
	for _, policy := range []*corev1.NodeInclusionPolicy{t.NodeAffinityPolicy, t.NodeTaintsPolicy} {
		if policy != nil {
			k.text(string(*policy))
		} else {
			k.text("")
		}
	}
	k.selector(t.LabelSelector)
	k.texts(t.MatchLabelKeys)
}

func (k *kindKey) affinity(a *corev1.Affinity) {
	if a == nil {
		return
	}
	if n := a.NodeAffinity; n != nil {
		k.text("node")
		if required := n.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			k.number(len(required.NodeSelectorTerms))
			for i := range required.NodeSelectorTerms {
				k.term(&required.NodeSelectorTerms[i])
			}
		}
		k.number(-1)
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			t := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			k.number(int(t.Weight))
			k.term(&t.Preference)
		}
	}
	if n := a.PodAffinity; n != nil {
		k.text("with")
		k.terms(n.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if n := a.PodAntiAffinity; n != nil {
		k.text("apart")
		k.terms(n.RequiredDuringSchedulingIgnoredDuringExecution)
	}
}

func (k *kindKey) term(t *corev1.NodeSelectorTerm) {
	k.expressions(t.MatchExpressions)
	k.expressions(t.MatchFields)
}

func (k *kindKey) expressions(list []corev1.NodeSelectorRequirement) {
	k.number(len(list))
	for i := range list {
		k.text(list[i].Key)
		k.text(string(list[i].Operator))
		k.texts(list[i].Values)
	}
}

func (k *kindKey) terms(list []corev1.PodAffinityTerm) {
	k.number(len(list))
	for i := range list {
		t := &list[i]
		k.text(t.TopologyKey)
		k.texts(t.Namespaces)
		k.selector(t.NamespaceSelector)
		k.selector(t.LabelSelector)
		k.texts(t.MatchLabelKeys)
		k.texts(t.MismatchLabelKeys)
	}
}

func (k *kindKey) selector(s *metav1.LabelSelector) {
	if s == nil {
		k.number(-1)
		return
	}
	k.labels(s.MatchLabels)
	k.number(len(s.MatchExpressions))
	for i := range s.MatchExpressions {
		k.text(s.MatchExpressions[i].Key)
		k.text(string(s.MatchExpressions[i].Operator))
		k.texts(s.MatchExpressions[i].Values)
	}
}

func (k *kindKey) labels(labels map[string]string) {
	k.names = k.names[:0]
	for name := range labels { // sorted below
		k.names = append(k.names, name)
	}
	slices.Sort(k.names)
	k.number(len(k.names))
	for _, name := range k.names {
		k.text(name)
		k.text(labels[name])
	}
}

func (k *kindKey) texts(list []string) {
	k.number(len(list))
	for _, s := range list {
		k.text(s)
	}
}

func (k *kindKey) text(s string) {
	k.number(len(s))
	k.buf = append(k.buf, s...)
}

func (k *kindKey) number(n int) { k.buf = binary.AppendVarint(k.buf, int64(n)) }
