package workload

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	operator "k8s.io/apimachinery/pkg/selection"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/volumes"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

// Selection is the pods that a constraint is about: those that every one of
// its conjuncts selects, or those that use a claim.
type Selection struct {
	conjuncts []podterm.Pods
	Claim     string // by namespace, slash and name; empty for pods selected by labels
	text      string // tells selections apart
}

func newSelection(conjuncts ...podterm.Pods) Selection {
	var b strings.Builder
	for i := range conjuncts {
		b.WriteString(conjuncts[i].Text())
	}
	return Selection{conjuncts: conjuncts, text: b.String()}
}

// String says which pods are meant.
func (s *Selection) String() string {
	if s.Claim != "" {
		return "pods that use claim " + s.Claim
	}
	parts := make([]string, len(s.conjuncts))
	for i := range s.conjuncts {
		parts[i] = s.conjuncts[i].String()
	}
	return strings.Join(parts, " and ")
}

// selects says whether a pod with the given namespace and labels is meant.
func (s *Selection) selects(namespace string, set labels.Set) bool {
	for i := range s.conjuncts {
		if !s.conjuncts[i].Select(namespace, set) {
			return false
		}
	}
	return true
}

// namespaceFaults reports namespaces that are listed twice: which of two counts
// would depend on their order. Nil ones are passed over, as they select nothing.
func namespaceFaults(list []*corev1.Namespace, f *model.Faults) {
	seen := map[string]bool{}
	for _, ns := range list {
		if ns == nil {
			continue
		}
		if seen[ns.Name] {
			f.Add(fmt.Sprintf("Namespace %q", ns.Name), "", "is listed twice; list each namespace once")
		}
		seen[ns.Name] = true
	}
}

// namespaces are those that affinity terms may be about.
func namespaces(in *model.Input) *podterm.Namespaces {
	return &podterm.Namespaces{Declared: in.Namespaces, Pods: func(yield func(*corev1.Pod) bool) {
		for _, pod := range in.Pods {
			if !yield(pod) {
				return
			}
		}
		for i := range in.Nodes {
			for _, pod := range in.Nodes[i].Pods {
				if !yield(pod) {
					return
				}
			}
		}
	}}
}

// SelectorIndex says which selections select a pod. Pods with the same namespace,
// the same values of the labels that selections ask about and the same claims
// of those that selections are about are of one identity, so each is looked at
// once.
type SelectorIndex struct {
	selections []Selection
	keys       []string           // labels that some selection asks about
	local      map[string]*lookup // by namespace: selections of that namespace
	global     lookup             // the other selections
	claims     map[string]int     // selections by the claim that they are about
	index      map[string]int32
	Members    []bitset.Set     // the sets of selections that select some identity, each once
	numbers    map[string]int32 // of them, by their keys
	key        PodKey
}

// NewSelectorIndex indexes selections by what they select.
func NewSelectorIndex(selections []Selection) *SelectorIndex {
	x := &SelectorIndex{selections: selections, local: map[string]*lookup{}, index: map[string]int32{}, numbers: map[string]int32{}}
	keys := map[string]bool{}
	for i := range selections {
		if claim := selections[i].Claim; claim != "" {
			if x.claims == nil {
				x.claims = map[string]int{}
			}
			x.claims[claim] = i
			continue
		}
		single := ""
		for _, c := range selections[i].conjuncts {
			if len(c.Namespaces) == 1 {
				single = c.Namespaces[0]
			}
			asked, _ := c.Selector.Requirements()
			for _, r := range asked {
				keys[r.Key()] = true
			}
		}
		at := &x.global
		if single != "" {
			if at = x.local[single]; at == nil {
				at = &lookup{}
				x.local[single] = at
			}
		}
		at.add(i, selections[i].conjuncts)
	}
	x.keys = slices.Sorted(maps.Keys(keys))
	return x
}

// Of returns the number of the set of selections that select a pod.
func (x *SelectorIndex) Of(pod *corev1.Pod) int32 {
	k := &x.key
	k.Buf = k.Buf[:0]
	if len(x.selections) > 0 {
		k.Text(pod.Namespace)
	}
	for _, key := range x.keys {
		if value, ok := pod.Labels[key]; ok {
			k.Text(value)
		} else {
			k.Number(-1)
		}
	}
	for _, i := range x.claimed(pod) {
		k.Number(int64(i))
	}
	number, ok := x.index[string(k.Buf)]
	if !ok {
		selected := x.selecting(pod)
		var fresh bool
		if number, fresh = model.Intern(x.numbers, []byte(selected.Key()), int32(len(x.Members))); fresh {
			x.Members = append(x.Members, selected)
		}
		x.index[string(k.Buf)] = number
	}
	return number
}

// Candidates are the kinds of pods that run and that some selection may select; nil if these
// may be any.
func (x *SelectorIndex) Candidates(bound *BoundKinds) bitset.Set {
	if len(x.claims) > 0 {
		return nil
	}
	out := bitset.New(bound.Count())
	for _, at := range append(slices.Collect(maps.Values(x.local)), &x.global) {
		if len(at.others) > 0 {
			return nil
		}
		for key, of := range at.byLabel {
			for value := range of {
				bound.WithLabel(key, value, func(kind int32) { out.Add(int(kind)) })
			}
		}
	}
	return out
}

// selecting returns the selections that select a pod.
func (x *SelectorIndex) selecting(pod *corev1.Pod) bitset.Set {
	out := bitset.New(len(x.selections))
	for _, i := range x.claimed(pod) {
		out.Add(i)
	}
	set := labels.Set(pod.Labels)
	for _, at := range []*lookup{&x.global, x.local[pod.Namespace]} {
		for i := range at.possible(set) {
			if x.selections[i].selects(pod.Namespace, set) {
				out.Add(i)
			}
		}
	}
	return out
}

// lookup finds the selections that may select a pod: those that want one of some values of
// a label, by the value that the pod has, and all others. So a pod is not held against the
// selection of every other workload.
type lookup struct {
	byLabel map[string]map[string][]int // by label and value
	others  []int
}

// add adds a selection, under the label of which it wants one of the fewest values.
func (l *lookup) add(selection int, conjuncts []podterm.Pods) {
	key, values := "", []string(nil)
	for _, c := range conjuncts {
		asked, _ := c.Selector.Requirements()
		for _, r := range asked {
			switch r.Operator() {
			case operator.In, operator.Equals, operator.DoubleEquals:
				if some := r.ValuesUnsorted(); values == nil || len(some) < len(values) {
					key, values = r.Key(), some
				}
			}
		}
	}
	if values == nil {
		l.others = append(l.others, selection)
		return
	}
	if l.byLabel == nil {
		l.byLabel = map[string]map[string][]int{}
	}
	of := l.byLabel[key]
	if of == nil {
		of = map[string][]int{}
		l.byLabel[key] = of
	}
	for _, value := range values {
		of[value] = append(of[value], selection)
	}
}

// possible lists the selections that may select a pod with some labels, in no order. A nil
// lookup has none.
func (l *lookup) possible(set labels.Set) iter.Seq[int] {
	return func(yield func(int) bool) {
		if l == nil {
			return
		}
		for _, i := range l.others {
			if !yield(i) {
				return
			}
		}
		for key, of := range l.byLabel {
			if value, has := set[key]; has {
				for _, i := range of[value] {
					if !yield(i) {
						return
					}
				}
			}
		}
	}
}

// claimed lists the selections that are about a claim of a pod.
func (x *SelectorIndex) claimed(pod *corev1.Pod) []int {
	if x.claims == nil || !volumes.HasClaims(pod) {
		return nil
	}
	var out []int
	for _, claim := range volume.Claims(pod) {
		if i, ok := x.claims[claim]; ok {
			out = append(out, i)
		}
	}
	return out
}
