package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// PDB is a PodDisruptionBudget.
type PDB struct {
	Object   string
	key      pdbKey
	selector labels.Selector
	Allowed  int // evictions
	health   podlife.Health
	disrupts map[string]metav1.Time // the pods whose eviction it has counted, by name
	never    bool                   // it lets no pod go, ever
}

// pdbIndex finds budgets by what they surely ask of a pod.
type pdbIndex map[pdbKey][]*PDB

// pdbKey is a namespace and one label that a budget asks for. Without a key it
// stands for budgets that ask for none with equality.
type pdbKey struct{ namespace, key, value string }

func readPDBs(list []*policyv1.PodDisruptionBudget, faults *Faults) pdbIndex {
	var all []*PDB
	for i, b := range list {
		if b == nil {
			faults.Add(fmt.Sprintf("PodDisruptionBudgets[%d]", i), "", "is nil; leave it out")
			continue
		}
		object := fmt.Sprintf("PodDisruptionBudget %q", b.Namespace+"/"+b.Name)
		// A nil selector selects nothing, and an empty one everything.
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil {
			faults.Wrap(object, "spec.selector", err)
			continue
		}
		all = append(all, &PDB{
			Object: object, selector: selector, key: keyOf(b),
			Allowed: max(int(b.Status.DisruptionsAllowed), 0),
			health:  podlife.HealthOf(b), disrupts: b.Status.DisruptedPods, never: letsNoneGo(b),
		})
	}
	index := pdbIndex{}
	for _, b := range sortedPDBs(all, faults) {
		index[b.key] = append(index[b.key], b)
	}
	return index
}

// keyOf is the first label that a budget asks for.
func keyOf(b *policyv1.PodDisruptionBudget) pdbKey {
	k := pdbKey{namespace: b.Namespace}
	if b.Spec.Selector == nil {
		return k
	}
	for key, value := range b.Spec.Selector.MatchLabels { // the least counts
		if k.key == "" || key < k.key {
			k.key, k.value = key, value
		}
	}
	return k
}

// sortedPDBs sorts by object. Of those that are listed twice the strictest stays.
func sortedPDBs(list []*PDB, faults *Faults) []*PDB {
	slices.SortFunc(list, func(a, b *PDB) int {
		return cmp.Or(strings.Compare(a.Object, b.Object), cmp.Compare(a.Allowed, b.Allowed),
			cmp.Compare(ZeroOrOne(!a.health.Protects("")), ZeroOrOne(!b.health.Protects(""))), cmp.Compare(ZeroOrOne(b.never), ZeroOrOne(a.never)),
			cmp.Compare(len(a.disrupts), len(b.disrupts)), slices.Compare(slices.Sorted(maps.Keys(a.disrupts)), slices.Sorted(maps.Keys(b.disrupts))),
			strings.Compare(a.selector.String(), b.selector.String()))
	})
	return slices.CompactFunc(list, func(a, b *PDB) bool {
		if a.Object != b.Object {
			return false
		}
		faults.Add(a.Object, "", "is listed twice; list each budget once")
		return true
	})
}

// letsNoneGo reports whether a budget, as it is written, never lets a pod go:
// maxUnavailable 0 or 0%, or minAvailable 100%. A minAvailable of as many pods
// as there are is not recognised.
func letsNoneGo(b *policyv1.PodDisruptionBudget) bool {
	if most := b.Spec.MaxUnavailable; most != nil {
		return most.Type == intstr.Int && most.IntVal == 0 || most.Type == intstr.String && most.StrVal == "0%"
	}
	least := b.Spec.MinAvailable
	return least != nil && least.Type == intstr.String && least.StrVal == "100%"
}

// of lists the budgets that select a pod, by object.
func (x pdbIndex) of(p *corev1.Pod) []*PDB {
	out := x.matching(nil, pdbKey{namespace: p.Namespace}, p)
	for key, value := range p.Labels { // sorted below
		if key != "" {
			out = x.matching(out, pdbKey{p.Namespace, key, value}, p)
		}
	}
	slices.SortFunc(out, func(a, b *PDB) int { return strings.Compare(a.Object, b.Object) })
	return out
}

func (x pdbIndex) matching(out []*PDB, k pdbKey, p *corev1.Pod) []*PDB {
	for _, b := range x[k] {
		if b.selector.Matches(labels.Set(p.Labels)) {
			out = append(out, b)
		}
	}
	return out
}

// Governing is the budget that has to allow the eviction of the pod, nil if none has: the
// pod is selected by none or by several, or the budget does not protect it or has counted
// its eviction already.
func (p *PodView) Governing() *PDB {
	if len(p.Budgets) != 1 {
		return nil
	}
	b := p.Budgets[0]
	if _, counted := b.disrupts[p.Name]; counted || !b.health.Protects(podlife.ReadyStatus(p.Pod)) {
		return nil
	}
	return b
}

// Stuck reports whether no eviction of the pod can succeed as things are
// written, so that a place elsewhere is not needed yet.
func (p *PodView) Stuck() bool {
	if p.Held || len(p.Budgets) > 1 {
		return true
	}
	b := p.Governing()
	return b != nil && b.never
}

// Demand counts the evictions that nodes ask of each budget. As the eviction
// API refuses pods of several budgets, each pod asks of one at most, and counting
// is exact: there is nothing to assign.
type Demand map[*PDB]int

// Add adds what the pods of a node ask.
func (d Demand) Add(m *StateNode) {
	for _, p := range m.PodViews {
		if b := p.Governing(); b != nil {
			d[b]++
		}
	}
}

// Short returns a budget that lets too few pods go, given what earlier actions
// have used up: the first by object. Nil if all is well. One that lets some go is
// enough, unless all have to go at once: the others follow when the first have
// come up elsewhere.
func (d Demand) Short(used Demand, atOnce bool) *PDB {
	var worst *PDB
	for b, want := range d { // the order does not matter
		if !atOnce {
			want = 1
		}
		if b.Allowed-used[b] < want && (worst == nil || b.Object < worst.Object) {
			worst = b
		}
	}
	return worst
}

// Use takes off what an action needs, as much as there is.
func (d Demand) Use(used Demand) {
	for b, want := range d { // the order does not matter
		used[b] = min(used[b]+want, b.Allowed)
	}
}

// Sorted lists the budgets by object.
func (d Demand) Sorted() []*PDB {
	out := make([]*PDB, 0, len(d))
	for b := range d { // sorted below
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b *PDB) int { return strings.Compare(a.Object, b.Object) })
	return out
}
