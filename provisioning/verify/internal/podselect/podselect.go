package podselect

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	operators "k8s.io/apimachinery/pkg/selection"

	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Reader reads selectors. It changes none of the objects that it reads.
type Reader struct {
	kubernetes  minors.Range
	namespaces  map[string]labels.Set // by name, of every namespace that has a pod or is listed
	services    []*corev1.Service
	controllers []provisioning.Controller
}

// New returns the reader of an input, given the namespaces of its pods. It reads as the
// kube-schedulers of some versions of Kubernetes do.
func New(in *provisioning.Input, namespaces []string, kubernetes minors.Range) *Reader {
	r := &Reader{kubernetes: kubernetes, namespaces: map[string]labels.Set{}, services: in.Services, controllers: in.Controllers}
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

// Term is a pod affinity term in a form that pods can be compared with.
type Term struct {
	Namespaces []string // sorted; nil means every namespace
	Selector   labels.Selector
	Key        string
}

// term reads a term of a pod as the API server and kube-scheduler do: the matchLabelKeys and
// mismatchLabelKeys become part of the selector, and the namespaceSelector becomes a list of names.
func (r *Reader) term(owner *corev1.Pod, of *corev1.PodAffinityTerm) (Term, error) {
	t := Term{Key: of.TopologyKey}
	selector, err := metav1.LabelSelectorAsSelector(of.LabelSelector)
	if err != nil {
		return t, err
	}
	t.Selector, err = narrow(selector, owner, of.MatchLabelKeys, operators.In)
	if err == nil {
		t.Selector, err = narrow(t.Selector, owner, of.MismatchLabelKeys, operators.NotIn)
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

// narrow adds to a selector the values that the owner has under some keys. A selector that selects
// nothing stays unchanged.
func narrow(selector labels.Selector, owner *corev1.Pod, keys []string, how operators.Operator) (labels.Selector, error) {
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

// Selects says whether the term selects a pod.
func (t *Term) Selects(p *corev1.Pod) bool {
	if t.Namespaces != nil {
		if _, in := slices.BinarySearch(t.Namespaces, p.Namespace); !in {
			return false
		}
	}
	return t.Selector.Matches(labels.Set(p.Labels))
}

// String is equal for terms with the same meaning.
func (t *Term) String() string {
	return fmt.Sprintf("%t %q %q %t %s", t.Namespaces == nil, t.Namespaces, t.Key, t.Selector.Empty(), t.Selector)
}

// Readings reads affinity terms of a pod that is to be bound, once for each way in which
// kube-scheduler versions read them. The widest reading is the last. Those of a running pod are read
// in one way: a namespaceSelector is compared with the labels of namespaces.
func (r *Reader) Readings(p *corev1.Pod, of []corev1.PodAffinityTerm, running bool) (all [][]Term, err error) {
	// Some versions take a namespaceSelector that selects a namespace without labels for all namespaces.
	for _, unlabelled := range []bool{false, true} {
		if unlabelled && (running || !r.kubernetes.Before(minors.NamespaceSelectors)) ||
			!unlabelled && !running && !r.kubernetes.After(minors.NamespaceSelectors) {
			continue
		}
		var terms []Term
		for i := range of {
			t, err := r.term(p, &of[i])
			if err != nil {
				return nil, err
			}
			if unlabelled && of[i].NamespaceSelector != nil {
				selector, _ := metav1.LabelSelectorAsSelector(of[i].NamespaceSelector) // term has read it without an error
				if selector.Matches(labels.Set(nil)) {
					t.Namespaces = nil
				}
			}
			terms = append(terms, t)
		}
		all = append(all, terms)
	}
	return all, nil
}

// Spread is a topology spread constraint with DoNotSchedule, in a form that pods can be compared
// with.
type Spread struct {
	*corev1.TopologySpreadConstraint
	Selector labels.Selector
	Counts   bool     // false if it counts no pod, whatever the selector selects
	Keys     []string // topology keys of all such constraints of the pod, sorted
}

// Spreads reads the DoNotSchedule constraints of a pod, or of defaults if the pod has no
// constraints.
func (r *Reader) Spreads(p *corev1.Pod, defaults []corev1.TopologySpreadConstraint) (hard []Spread, err error) {
	constraints, deduced := p.Spec.TopologySpreadConstraints, labels.Selector(nil)
	if len(constraints) == 0 {
		if constraints, deduced = defaults, r.deduced(p); deduced.Empty() {
			return nil, nil
		}
	}
	var keys []string
	for i := range constraints {
		if constraints[i].WhenUnsatisfiable == corev1.DoNotSchedule {
			hard, keys = append(hard, Spread{TopologySpreadConstraint: &constraints[i], Selector: deduced}), append(keys, constraints[i].TopologyKey)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for i := range hard {
		h := &hard[i]
		if h.Keys = keys; deduced == nil {
			if h.Selector, err = metav1.LabelSelectorAsSelector(h.LabelSelector); err != nil {
				return nil, err
			}
			if h.Selector, err = narrow(h.Selector, p, h.MatchLabelKeys, operators.In); err != nil {
				return nil, err
			}
		}
		h.Counts = !h.Selector.Empty() || r.kubernetes.After(minors.EmptySelectors)
	}
	return hard, nil
}

// deduced returns the selector of a default constraint: the pods that the Services of a pod and its
// controller select.
func (r *Reader) deduced(p *corev1.Pod) labels.Selector {
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

// Malformed says whether the API server would refuse a topology spread constraint, so that its
// meaning is undefined.
func Malformed(c corev1.TopologySpreadConstraint) bool {
	soft := c.WhenUnsatisfiable == corev1.ScheduleAnyway
	return c.MaxSkew < 1 || c.TopologyKey == "" || !soft && c.WhenUnsatisfiable != corev1.DoNotSchedule ||
		c.MinDomains != nil && (soft || *c.MinDomains < 1)
}
