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

	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// PDB is a PodDisruptionBudget.
type PDB struct {
	Object   string
	key      pdbKey
	selector labels.Selector
	Allowed  int // number of evictions that are allowed now
	health   podlife.Health
	disrupts map[string]metav1.Time // by name: the pods whose eviction it has counted already
	never    bool                   // it never allows an eviction
}

// pdbIndex finds the budgets that may select a pod, by one label that they require.
type pdbIndex map[pdbKey][]*PDB

// pdbKey is a namespace and one label that a budget requires. An empty key is for budgets that
// require no label with equality.
type pdbKey struct{ namespace, key, value string }

func readPDBs(list []*policyv1.PodDisruptionBudget, faults *Faults) pdbIndex {
	var all []*PDB
	for i, b := range list {
		if b == nil {
			faults.Add(fmt.Sprintf("PodDisruptionBudgets[%d]", i), "", "is nil; leave it out")
			continue
		}
		object := fmt.Sprintf("PodDisruptionBudget %q", b.Namespace+"/"+b.Name)
		// A nil selector selects no pods, and an empty one all pods.
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

// keyOf returns the first label by key that a budget requires.
func keyOf(b *policyv1.PodDisruptionBudget) pdbKey {
	k := pdbKey{namespace: b.Namespace}
	if b.Spec.Selector == nil {
		return k
	}
	for key, value := range b.Spec.Selector.MatchLabels { // takes the smallest key
		if k.key == "" || key < k.key {
			k.key, k.value = key, value
		}
	}
	return k
}

// sortedPDBs sorts budgets by object. If one is listed twice, the strictest is kept.
func sortedPDBs(list []*PDB, faults *Faults) []*PDB {
	slices.SortFunc(list, func(a, b *PDB) int {
		return cmp.Or(comparePDBs(a, b), cmp.Compare(a.Allowed, b.Allowed),
			order.Bools(!a.health.Protects(""), !b.health.Protects("")), order.Bools(b.never, a.never),
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

// letsNoneGo reports whether a budget never allows an eviction: maxUnavailable is 0 or 0%, or
// minAvailable is 100%. It does not recognise a minAvailable equal to the number of pods.
func letsNoneGo(b *policyv1.PodDisruptionBudget) bool {
	if most := b.Spec.MaxUnavailable; most != nil {
		return most.Type == intstr.Int && most.IntVal == 0 || most.Type == intstr.String && most.StrVal == "0%"
	}
	least := b.Spec.MinAvailable
	return least != nil && least.Type == intstr.String && least.StrVal == "100%"
}

// of returns the budgets that select a pod, sorted by object.
func (x pdbIndex) of(p *corev1.Pod) []*PDB {
	out := slices.Clone(x[pdbKey{namespace: p.Namespace}])
	for key, value := range p.Labels { // the result is sorted
		if key != "" {
			out = append(out, x[pdbKey{p.Namespace, key, value}]...)
		}
	}
	out = slices.DeleteFunc(out, func(b *PDB) bool { return !b.selector.Matches(labels.Set(p.Labels)) })
	slices.SortFunc(out, comparePDBs)
	return out
}

func comparePDBs(a, b *PDB) int { return strings.Compare(a.Object, b.Object) }

// Governing returns the budget that has to allow the eviction of the pod. It returns nil if no
// budget or several select the pod, or if the budget does not protect the pod or has counted its
// eviction already.
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

// Stuck reports whether no eviction of the pod can succeed while the objects stay as they are. A
// place elsewhere is then not needed yet.
func (p *PodView) Stuck() bool {
	if p.Held || len(p.Budgets) > 1 {
		return true
	}
	b := p.Governing()
	return b != nil && b.never
}

// Demand counts the evictions that nodes need from each budget. The eviction API refuses pods
// selected by several budgets, so each pod needs one budget at most, and counting is exact.
type Demand map[*PDB]int

// DemandOf counts the evictions of the pods of some nodes.
func DemandOf(nodes ...*StateNode) Demand {
	d := Demand{}
	for _, m := range nodes {
		for _, p := range m.PodViews {
			if b := p.Governing(); b != nil {
				d[b]++
			}
		}
	}
	return d
}

// Short returns the first budget, by object, that allows too few evictions, given what earlier
// actions have used; nil if there is none. A budget that allows one eviction is enough, unless
// atOnce is set: other pods follow when the first are running elsewhere.
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

// Use adds the evictions of an action to used, as far as the budgets allow them.
func (d Demand) Use(used Demand) {
	for b, want := range d { // the order does not matter
		used[b] = min(used[b]+want, b.Allowed)
	}
}

// Sorted returns the budgets, sorted by object.
func (d Demand) Sorted() []*PDB {
	return slices.SortedFunc(maps.Keys(d), comparePDBs)
}
