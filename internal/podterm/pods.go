package podterm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// Pods is a set of pods: those with some labels in some namespaces.
type Pods struct {
	// Selector says which labels they have.
	Selector labels.Selector
	// Namespaces are where they are, sorted, each once; nil is everywhere, and an
	// empty list nowhere.
	Namespaces []string
}

// Select reports whether a pod in a namespace with some labels is one of them.
func (p *Pods) Select(namespace string, set labels.Set) bool {
	return p.in(namespace) && p.Selector.Matches(set)
}

func (p *Pods) in(namespace string) bool {
	if p.Namespaces == nil {
		return true
	}
	if len(p.Namespaces) == 1 { // as nearly always
		return p.Namespaces[0] == namespace
	}
	_, found := slices.BinarySearch(p.Namespaces, namespace)
	return found
}

// String says which pods they are, such as "app=web in namespace shop".
func (p *Pods) String() string {
	which := p.Selector.String()
	if _, selectable := p.Selector.Requirements(); !selectable {
		which = "no pods"
	} else if which == "" {
		which = "all pods"
	}
	switch len(p.Namespaces) {
	case 0:
		if p.Namespaces == nil {
			return which + " in all namespaces"
		}
		return which + " in no namespace"
	case 1:
		return which + " in namespace " + p.Namespaces[0]
	}
	return which + " in namespaces " + strings.Join(p.Namespaces, ", ")
}

// Text returns a text that is equal for two values if and only if they describe the same pods.
func (p *Pods) Text() string {
	var b strings.Builder
	b.WriteString(p.Selector.String())
	if _, selectable := p.Selector.Requirements(); !selectable {
		b.WriteByte('!') // nothing and everything read the same
	}
	b.WriteByte(0)
	if p.Namespaces == nil {
		b.WriteByte('*')
	}
	for _, name := range p.Namespaces {
		b.WriteString(name)
		b.WriteByte(',')
	}
	b.WriteByte(1)
	return b.String()
}

// Fault is a field of a constraint that cannot be used.
type Fault struct {
	// Field is its path below the constraint, such as labelSelector.
	Field string
	// Message says what is wrong. It continues a sentence that begins with the field.
	Message string
}

// Error returns the field and the message.
func (f *Fault) Error() string { return f.Field + " " + f.Message }

// Faults returns the faults that an error of this package joins.
func Faults(err error) []*Fault {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*Fault
		for _, e := range joined.Unwrap() {
			out = append(out, Faults(e)...)
		}
		return out
	}
	if f, ok := err.(*Fault); ok {
		return []*Fault{f}
	}
	return nil
}

// Affinity returns the pods that a term of a pod's affinity or anti-affinity selects. The error
// joins all its faults.
func (n *Namespaces) Affinity(pod *corev1.Pod, t *corev1.PodAffinityTerm) (Pods, error) {
	var faults []error
	if t.TopologyKey == "" {
		faults = append(faults, &Fault{"topologyKey", "is empty; name a node label"})
	}
	selector, err := read(t.LabelSelector)
	if err == nil {
		selector, err = narrow(selector, pod, t.MatchLabelKeys, selection.In, "matchLabelKeys")
	}
	if err == nil {
		selector, err = narrow(selector, pod, t.MismatchLabelKeys, selection.NotIn, "mismatchLabelKeys")
	}
	if err != nil {
		faults = append(faults, err)
	}
	names, err := n.of(t, pod.Namespace)
	if err != nil {
		faults = append(faults, &Fault{"namespaceSelector", fmt.Sprintf("cannot be read: %v", err)})
	}
	if len(faults) > 0 {
		return Pods{}, errors.Join(faults...)
	}
	return Pods{selector, names}, nil
}

// Reading returns the pods that a term of a pod's affinity or anti-affinity selects. The error
// joins all its faults.
type Reading func(pod *corev1.Pod, t *corev1.PodAffinityTerm) (Pods, error)

// Readings returns the ways in which the kube-schedulers of some versions of Kubernetes read a
// required term of a pod while they place the pod. The last reading selects all pods that the
// others select, and all have the same faults.
func (n *Namespaces) Readings(kubernetes minors.Range) (out []Reading) {
	if kubernetes.After(minors.NamespaceSelectors) {
		out = append(out, n.Affinity)
	}
	if kubernetes.Before(minors.NamespaceSelectors) {
		out = append(out, n.Incoming)
	}
	return out
}

// Incoming returns the pods that a required term selects while its pod is being scheduled, as
// kube-scheduler reads it before minors.NamespaceSelectors: a namespaceSelector that matches no
// labels at all, as NotIn and DoesNotExist do, selects every namespace. The result includes that of
// Affinity, which other kube-schedulers use, and which these use too once the pod is bound. The
// error is that of Affinity.
func (n *Namespaces) Incoming(pod *corev1.Pod, t *corev1.PodAffinityTerm) (Pods, error) {
	out, err := n.Affinity(pod, t)
	if err != nil || t.NamespaceSelector == nil {
		return out, err
	}
	if selector, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector); err == nil && selector.Matches(labels.Set{}) {
		out.Namespaces = nil
	}
	return out, nil
}

// Spread returns the pods that a topology spread constraint of a pod counts for the kube-schedulers
// of some versions of Kubernetes. The versions differ for a selector without requirements: before
// minors.EmptySelectors it counts no pod, later every pod of the namespace. If both are among the
// versions, every pod of the namespace counts, because a place that is valid then is also valid
// without counting.
func Spread(pod *corev1.Pod, c *corev1.TopologySpreadConstraint, kubernetes minors.Range) (Pods, error) {
	selector, err := read(c.LabelSelector)
	if err != nil {
		return Pods{}, err
	}
	if selector, err = narrow(selector, pod, c.MatchLabelKeys, selection.In, "matchLabelKeys"); err != nil {
		return Pods{}, err
	}
	if selector.Empty() && !kubernetes.After(minors.EmptySelectors) {
		selector = labels.Nothing()
	}
	return Pods{selector, []string{pod.Namespace}}, nil
}

// read reads a label selector; nil selects nothing.
func read(s *metav1.LabelSelector) (labels.Selector, error) {
	out, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, &Fault{"labelSelector", fmt.Sprintf("cannot be read: %v", err)}
	}
	return out, nil
}

// narrow narrows a selector by the pod's own values of some labels. The API server
// does the same when a pod is made; doing it again changes nothing.
func narrow(s labels.Selector, pod *corev1.Pod, keys []string, op selection.Operator, field string) (labels.Selector, error) {
	if _, selectable := s.Requirements(); !selectable {
		return s, nil
	}
	for _, key := range keys {
		value, ok := pod.Labels[key]
		if !ok {
			continue
		}
		r, err := labels.NewRequirement(key, op, []string{value})
		if err != nil {
			return nil, &Fault{field, fmt.Sprintf("cannot be used: %v", err)}
		}
		s = s.Add(*r)
	}
	return s, nil
}
