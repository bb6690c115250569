package selectors

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Index finds those of many label selectors that may select a pod. Evaluating the selectors of a
// thousand workloads for each pod takes long. Nearly all selectors require one value of some label,
// and are found by that label.
type Index struct {
	byLabel map[Label][]int
	others  map[string][]int // selectors that require no single value, by namespace
}

// Label is a label of pods in a namespace; an empty namespace is all namespaces.
type Label struct{ Namespace, Key, Value string }

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{byLabel: map[Label][]int{}, others: map[string][]int{}}
}

// Add adds a selector with its number, for pods in some namespaces, or in all if namespaces is
// empty.
func (x *Index) Add(number int, selector labels.Selector, namespaces []string) {
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	key, value, single := SingleValue(selector)
	for _, space := range namespaces {
		if single {
			at := Label{space, key, value}
			x.byLabel[at] = append(x.byLabel[at], number)
		} else {
			x.others[space] = append(x.others[space], number)
		}
	}
}

// SingleValue returns a label for which a selector admits one value only.
func SingleValue(selector labels.Selector) (key, value string, found bool) {
	asked, _ := selector.Requirements()
	for _, r := range asked {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if values := r.ValuesUnsorted(); len(values) == 1 {
				return r.Key(), values[0], true
			}
		}
	}
	return "", "", false
}

// Candidates returns the numbers of the selectors that may select a pod, sorted. Only the namespace
// and one label are checked; the caller has to evaluate the selectors.
func (x *Index) Candidates(p *corev1.Pod) []int {
	var out []int
	for _, space := range []string{"", p.Namespace} {
		out = append(out, x.others[space]...)
		for key, value := range p.Labels { // the result is sorted
			out = append(out, x.byLabel[Label{space, key, value}]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
