package podselect

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	operators "k8s.io/apimachinery/pkg/selection"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Reader reads which pods are selected. It changes nothing that it reads.
type Reader struct {
	namespaces  map[string]labels.Set // of every namespace that some pod is in or that is listed
	services    []*corev1.Service
	controllers []provisioning.Controller
}

// New returns the reader for an input, some pods of which are in namespaces.
func New(in *provisioning.Input, namespaces []string) *Reader {
	r := &Reader{namespaces: map[string]labels.Set{}, services: in.Services, controllers: in.Controllers}
	note := func(name string) {
		if r.namespaces[name] == nil {
			r.namespaces[name] = labels.Set{corev1.LabelMetadataName: name}
		}
	}
	for _, namespace := range in.Namespaces {
		if namespace != nil {
			note(namespace.Name)
			for key, value := range namespace.Labels {
				r.namespaces[namespace.Name][key] = value
			}
		}
	}
	for _, name := range namespaces {
		note(name)
	}
	return r
}

// Term is a pod affinity term in a form that pods can be held against.
type Term struct {
	Namespaces []string // sorted; nil means every namespace
	Selector   labels.Selector
	Key        string
}

// term reads a term of a pod as the API server and kube-scheduler do: the keys to
// match and to mismatch become part of the selector, and the selector of
// namespaces becomes names.
func (r *Reader) term(owner *corev1.Pod, of *corev1.PodAffinityTerm) (Term, error) {
	t := Term{Key: of.TopologyKey}
	selector, err := metav1.LabelSelectorAsSelector(of.LabelSelector)
	if err != nil {
		return t, err
	}
	t.Selector, err = Narrow(selector, owner, of.MatchLabelKeys, operators.In)
	if err == nil {
		t.Selector, err = Narrow(t.Selector, owner, of.MismatchLabelKeys, operators.NotIn)
	}
	if err != nil {
		return t, err
	}
	t.Namespaces, err = r.namespacesOf(owner, of)
	return t, err
}

func (r *Reader) namespacesOf(owner *corev1.Pod, of *corev1.PodAffinityTerm) ([]string, error) {
	names := slices.Clone(of.Namespaces)
	if names == nil {
		names = []string{}
	}
	if of.NamespaceSelector == nil {
		if len(names) == 0 {
			names = []string{owner.Namespace}
		}
		slices.Sort(names)
		return slices.Compact(names), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(of.NamespaceSelector)
	if err != nil {
		return nil, err
	}
	if selector.Empty() {
		return nil, nil
	}
	for name, own := range r.namespaces {
		if selector.Matches(own) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Narrow adds to a selector the values that the owner has under some keys. A
// selector of nothing stays one.
func Narrow(selector labels.Selector, owner *corev1.Pod, keys []string, how operators.Operator) (labels.Selector, error) {
	if _, selectable := selector.Requirements(); !selectable {
		return selector, nil
	}
	for _, key := range keys {
		value, ok := owner.Labels[key]
		if !ok {
			continue
		}
		want, err := labels.NewRequirement(key, how, []string{value})
		if err != nil {
			return nil, err
		}
		selector = selector.Add(*want)
	}
	return selector, nil
}

// Selects says whether a pod is one of those.
func (t *Term) Selects(p *corev1.Pod) bool {
	if t.Namespaces != nil {
		if _, in := slices.BinarySearch(t.Namespaces, p.Namespace); !in {
			return false
		}
	}
	return t.Selector.Matches(labels.Set(p.Labels))
}

// String is the same for terms that mean the same.
func (t *Term) String() string {
	return fmt.Sprintf("%t %q %q %t %s", t.Namespaces == nil, t.Namespaces, t.Key, t.Selector.Empty(), t.Selector)
}

// Terms reads affinity terms of a pod. While the pod is arriving, kube-scheduler
// v1.34 to v1.36 holds the namespaceSelector against no labels as well, whatever
// those of the namespace are.
func (r *Reader) Terms(p *corev1.Pod, of []corev1.PodAffinityTerm, arriving bool) (terms []Term, err error) {
	for i := range of {
		t, err := r.term(p, &of[i])
		if err != nil {
			return nil, err
		}
		if arriving && of[i].NamespaceSelector != nil {
			selector, _ := metav1.LabelSelectorAsSelector(of[i].NamespaceSelector) // it has been read
			if selector.Matches(labels.Set(nil)) {
				t.Namespaces = nil
			}
		}
		terms = append(terms, t)
	}
	return terms, nil
}

// Deduced is what a default constraint counts: the pods that the Services of a
// pod and its controller select.
func (r *Reader) Deduced(p *corev1.Pod) labels.Selector {
	merged := labels.Set{}
	for _, service := range r.services {
		if service == nil || service.Namespace != p.Namespace || service.Spec.Selector == nil {
			continue
		}
		if labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(p.Labels)) {
			merged = labels.Merge(merged, service.Spec.Selector)
		}
	}
	selector := merged.AsSelector()
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil || owner.UID == "" {
		return selector
	}
	for _, controller := range r.controllers {
		if controller.UID != owner.UID {
			continue
		}
		if own, err := metav1.LabelSelectorAsSelector(controller.Selector); err == nil {
			if wanted, selectable := own.Requirements(); selectable {
				selector = selector.Add(wanted...)
			}
		}
		break
	}
	return selector
}

// Malformed says whether the API server refuses a topology spread constraint, so that its meaning
// is undefined.
func Malformed(c corev1.TopologySpreadConstraint) bool {
	soft := c.WhenUnsatisfiable == corev1.ScheduleAnyway
	return c.MaxSkew < 1 || c.TopologyKey == "" || !soft && c.WhenUnsatisfiable != corev1.DoNotSchedule ||
		c.MinDomains != nil && (soft || *c.MinDomains < 1)
}
