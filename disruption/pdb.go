package disruption

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// pdb is a PodDisruptionBudget.
type pdb struct {
	object      string
	key         pdbKey
	selector    labels.Selector
	allowed     int  // evictions
	unreadyFree bool // pods that are not ready may go in any case
	never       bool // it lets no pod go, ever
}

// pdbIndex finds budgets by what they surely ask of a pod.
type pdbIndex map[pdbKey][]*pdb

// pdbKey is a namespace and one label that a budget asks for. Without a key it
// stands for budgets that ask for none with equality.
type pdbKey struct{ namespace, key, value string }

func readPDBs(list []*policyv1.PodDisruptionBudget, faults *faultList) pdbIndex {
	var all []*pdb
	for i, b := range list {
		if b == nil {
			faults.add(fmt.Sprintf("PodDisruptionBudgets[%d]", i), "", "is nil; leave it out")
			continue
		}
		object := fmt.Sprintf("PodDisruptionBudget %q", b.Namespace+"/"+b.Name)
		// A nil selector selects nothing, and an empty one everything.
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil {
			faults.wrap(object, "spec.selector", err)
			continue
		}
		always := b.Spec.UnhealthyPodEvictionPolicy
		all = append(all, &pdb{
			object: object, selector: selector, key: keyOf(b),
			allowed:     max(int(b.Status.DisruptionsAllowed), 0),
			unreadyFree: always != nil && *always == policyv1.AlwaysAllow,
			never:       letsNoneGo(b),
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
func sortedPDBs(list []*pdb, faults *faultList) []*pdb {
	slices.SortFunc(list, func(a, b *pdb) int {
		return cmp.Or(strings.Compare(a.object, b.object), cmp.Compare(a.allowed, b.allowed),
			cmp.Compare(zeroOrOne(a.unreadyFree), zeroOrOne(b.unreadyFree)), cmp.Compare(zeroOrOne(b.never), zeroOrOne(a.never)),
			strings.Compare(a.selector.String(), b.selector.String()))
	})
	return slices.CompactFunc(list, func(a, b *pdb) bool {
		if a.object != b.object {
			return false
		}
		faults.add(a.object, "", "is listed twice; list each budget once")
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
func (x pdbIndex) of(p *corev1.Pod) []*pdb {
	out := x.matching(nil, pdbKey{namespace: p.Namespace}, p)
	for key, value := range p.Labels { // sorted below
		if key != "" {
			out = x.matching(out, pdbKey{p.Namespace, key, value}, p)
		}
	}
	slices.SortFunc(out, func(a, b *pdb) int { return strings.Compare(a.object, b.object) })
	return out
}

func (x pdbIndex) matching(out []*pdb, k pdbKey, p *corev1.Pod) []*pdb {
	for _, b := range x[k] {
		if b.selector.Matches(labels.Set(p.Labels)) {
			out = append(out, b)
		}
	}
	return out
}

// governing is the budget that has to let the pod go, nil if none has. A pod of
// which several have is seen to before.
func (p *podView) governing() *pdb {
	if len(p.budgets) != 1 || p.budgets[0].unreadyFree && unready(p.Pod) {
		return nil
	}
	return p.budgets[0]
}

// unready reports whether the condition Ready of a pod is False. One that is
// missing or Unknown does not count.
func unready(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionFalse
		}
	}
	return false
}

// stuck reports whether no eviction of the pod can succeed as things are
// written, so that a place elsewhere is not needed yet.
func (p *podView) stuck() bool {
	if p.held || len(p.budgets) > 1 {
		return true
	}
	b := p.governing()
	return b != nil && b.never
}

// pdbDemand counts the evictions that nodes ask of each budget. As the eviction
// API refuses pods of several budgets, each pod asks of one at most, and counting
// is exact: there is nothing to assign.
type pdbDemand map[*pdb]int

func (d pdbDemand) add(m *stateNode) {
	for _, p := range m.pods {
		if b := p.governing(); b != nil {
			d[b]++
		}
	}
}

// short returns a budget that lets too few pods go, given what earlier actions
// have used up: the first by object. Nil if all is well. One that lets some go is
// enough, unless all have to go at once: the others follow when the first have
// come up elsewhere.
func (d pdbDemand) short(used pdbDemand, atOnce bool) *pdb {
	var worst *pdb
	for b, want := range d { // the order does not matter
		if !atOnce {
			want = 1
		}
		if b.allowed-used[b] < want && (worst == nil || b.object < worst.object) {
			worst = b
		}
	}
	return worst
}

// use takes off what an action needs, as much as there is.
func (d pdbDemand) use(used pdbDemand) {
	for b, want := range d { // the order does not matter
		used[b] = min(used[b]+want, b.allowed)
	}
}

// sorted lists the budgets by object.
func (d pdbDemand) sorted() []*pdb {
	out := make([]*pdb, 0, len(d))
	for b := range d { // sorted below
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b *pdb) int { return strings.Compare(a.object, b.object) })
	return out
}
