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

// Selection is a set of pods to which a constraint applies: the pods that all of its conjuncts
// select, or the pods that use a claim.
type Selection struct {
	conjuncts []podterm.Pods
	Claim     string // as namespace/name; empty if labels select the pods
	text      string // unique among different selections
}

func newSelection(conjuncts ...podterm.Pods) Selection {
	var b strings.Builder
	for i := range conjuncts {
		b.WriteString(conjuncts[i].Text())
	}
	return Selection{conjuncts: conjuncts, text: b.String()}
}

// String describes the selected pods.
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

// selects says whether a pod with the given namespace and labels is selected.
func (s *Selection) selects(namespace string, set labels.Set) bool {
	for i := range s.conjuncts {
		if !s.conjuncts[i].Select(namespace, set) {
			return false
		}
	}
	return true
}

// namespaceFaults reports namespaces that are listed twice: which of two counts would depend on
// their order. It ignores nil ones, because they select nothing.
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

// namespaces returns the namespaces that affinity terms may refer to.
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

// SelectorIndex finds the selections that select a pod. Pods with the same namespace, the same
// values of the labels used in selections, and the same claims used in selections have one
// identity, and each identity is computed once.
type SelectorIndex struct {
	selections []Selection
	keys       []string           // labels that any selection uses
	local      map[string]*lookup // by namespace: selections of only that namespace
	global     lookup             // the other selections
	claims     map[string]int     // by claim: its selection
	index      map[string]int32
	Members    []bitset.Set     // distinct sets of selections that select a pod
	numbers    map[string]int32 // by key of a set: its index in Members
	key        PodKey
}

// NewSelectorIndex indexes selections.
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

// Of returns the index in Members of the set of selections that select a pod.
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

// Candidates returns the kinds of running pods that a selection may select; nil if that may be any
// kind.
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

// lookup finds the selections that may select a pod: those that require one of some values of a
// label, by the value that the pod has, and all others. So a pod is not compared with the selection
// of every other workload.
type lookup struct {
	byLabel map[string]map[string][]int // by label and value: selections
	others  []int
}

// add adds a selection, under the label for which it allows fewest values.
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

// possible yields the selections that may select a pod with some labels, in no order. A nil lookup
// has none.
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

// claimed lists the selections of a pod's claims.
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
