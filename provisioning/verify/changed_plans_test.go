package verify_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// mutant is a valid plan that is about to be changed in one way.
type mutant struct {
	*rand.Rand
	in   provisioning.Input
	plan *provisioning.Plan
	opts *provisioning.Options // nil for the defaults
}

// mutation changes a plan and says what the referee must make of it. It reports
// false where the plan has nothing to change.
type mutation struct {
	name  string
	apply func(m *mutant) (opinion, bool)
}

// mutations are changes of which only the oracle can say whether they do any harm. Changes
// that surely break a rule are in plantedFaults.
func mutations() []mutation {
	return []mutation{
		{"leave a placed pod pending", unplacePod},
		{"move a pod to an existing node", moveToExisting},
		{"move a pod to a new node", moveToNew},
		{"add an option", addOption},
		{"remove an option", removeOption},
		{"lower the bound", func(m *mutant) (opinion, bool) { m.plan.LowerBound /= 2; return sound, true }},
	}
}

// TestFindsMutations changes valid plans at random. The oracle says which
// changes do no harm; the referee must find all the others.
func TestFindsMutations(t *testing.T) {
	t.Parallel()
	tried := map[string]*[3]int{} // by mutation: unsure, sound, broken
	for seed := range lawSeeds(2_500, 500) {
		in := randproblem.New(seed)
		plan := solved(t, in, nil)
		rng := rand.New(rand.NewPCG(seed, 1))
		for range 3 {
			kind := mutations()[rng.IntN(len(mutations()))]
			m := &mutant{rng, in, clonePlan(plan), nil}
			want, changed := kind.apply(m)
			if !changed {
				continue
			}
			if want == sound && scenes.Crowded(in) {
				want = unsure // the oracle looks at one node at a time
			}
			if tried[kind.name] == nil {
				tried[kind.name] = &[3]int{}
			}
			tried[kind.name][want]++
			found := verify.Plan(in, m.plan, nil)
			where := fmt.Sprintf("seed %d: %s", seed, kind.name)
			switch want {
			case sound:
				require.Empty(t, found, where)
			case broken:
				require.NotEmpty(t, found, where)
			}
		}
	}
	for _, kind := range mutations() {
		counts := tried[kind.name]
		require.NotNil(t, counts, kind.name)
		require.GreaterOrEqual(t, counts[sound]+counts[broken], enough(10), "%s: the oracle has hardly ever an opinion: %v", kind.name, counts)
		t.Logf("%-34s %4d sound %4d broken %4d unsure", kind.name, counts[sound], counts[broken], counts[unsure])
	}
	for _, name := range []string{"move a pod to an existing node", "move a pod to a new node"} {
		require.Positive(t, tried[name][sound], name)
		require.Positive(t, tried[name][broken], name)
	}
}

func clonePlan(p *provisioning.Plan) *provisioning.Plan {
	c := *p
	c.Create, c.Bind, c.Unplaced = slices.Clone(p.Create), slices.Clone(p.Bind), slices.Clone(p.Unplaced)
	for i := range c.Create {
		c.Create[i].Pods = slices.Clone(c.Create[i].Pods)
		c.Create[i].Options = slices.Clone(c.Create[i].Options)
	}
	for i := range c.Bind {
		c.Bind[i].Pods = slices.Clone(c.Bind[i].Pods)
	}
	return &c
}

// lists returns the pod lists of nodes in the plan, new ones first.
func (m *mutant) lists() []*[]*corev1.Pod {
	var lists []*[]*corev1.Pod
	for i := range m.plan.Create {
		lists = append(lists, &m.plan.Create[i].Pods)
	}
	for i := range m.plan.Bind {
		lists = append(lists, &m.plan.Bind[i].Pods)
	}
	return lists
}

// take removes a random pod from the place it has.
func (m *mutant) take() *corev1.Pod {
	lists := m.lists()
	if len(lists) == 0 {
		return nil
	}
	list := lists[m.IntN(len(lists))]
	at := m.IntN(len(*list))
	pod := (*list)[at]
	*list = slices.Delete(*list, at, at+1)
	return pod
}

// settle brings order and sums in line with a change, so that only what the
// change is about can be wrong.
func (m *mutant) settle() {
	m.plan.Create = slices.DeleteFunc(m.plan.Create, func(n provisioning.NewNode) bool { return len(n.Pods) == 0 })
	m.plan.Bind = slices.DeleteFunc(m.plan.Bind, func(b provisioning.Binding) bool { return len(b.Pods) == 0 })
	for _, list := range m.lists() {
		slices.SortFunc(*list, byName)
	}
	m.plan.Cost, m.plan.LowerBound, m.plan.PackingBound, m.plan.ObjectiveBound = 0, 0, 0, 0
	for i := range m.plan.Create {
		n := &m.plan.Create[i]
		slices.SortStableFunc(n.Options, cloudprovider.LaunchOption.Compare)
		m.plan.Cost += n.Price()
		n.Requests = resources.List{}
		for _, pod := range n.Pods {
			requests, _ := resources.PodRequests(pod)
			n.Requests, _ = n.Requests.Add(requests)
		}
	}
	slices.SortStableFunc(m.plan.Create, func(a, b provisioning.NewNode) int {
		if a.Pool != b.Pool {
			return 0 // the nodes of a pool stand side by side already
		}
		return cmp.Or(-cmp.Compare(a.Price(), b.Price()), byName(a.Pods[0], b.Pods[0]))
	})
	slices.SortFunc(m.plan.Bind, func(a, b provisioning.Binding) int { return strings.Compare(a.Node, b.Node) })
	m.reorder()
	slices.SortFunc(m.plan.Unplaced, func(a, b provisioning.Unplaced) int { return byName(a.Pod, b.Pod) })
}

// reorder keeps the order of the pods that are still placed, and puts those that
// it lacks last.
func (m *mutant) reorder() {
	left := map[*corev1.Pod]int{}
	placed := scenes.PlacedPods(m.plan)
	for _, pod := range placed {
		left[pod]++
	}
	var order []*corev1.Pod
	for _, pod := range slices.Concat(m.plan.Order, placed) {
		if left[pod] > 0 {
			left[pod]--
			order = append(order, pod)
		}
	}
	m.plan.Order = order
}

func byName(a, b *corev1.Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

func unplacePod(m *mutant) (opinion, bool) {
	pod := m.take()
	if pod == nil {
		return unsure, false
	}
	m.plan.Unplaced = append(m.plan.Unplaced, provisioning.Unplaced{Pod: pod, Explanation: &provisioning.Explanation{Cause: provisioning.CauseNodePools}})
	m.settle()
	return sound, true
}

func moveToExisting(m *mutant) (opinion, bool) {
	if len(m.in.Nodes) == 0 {
		return unsure, false
	}
	pod := m.takeAny()
	if pod == nil {
		return unsure, false
	}
	name := m.in.Nodes[m.IntN(len(m.in.Nodes))].Name()
	at := slices.IndexFunc(m.plan.Bind, func(b provisioning.Binding) bool { return b.Node == name })
	if at < 0 {
		at = len(m.plan.Bind)
		m.plan.Bind = append(m.plan.Bind, provisioning.Binding{Node: name})
	}
	m.plan.Bind[at].Pods = append(m.plan.Bind[at].Pods, pod)
	pods := m.plan.Bind[at].Pods
	m.settle()
	return oracleExisting(m.in, name, pods), true
}

// takeAny removes a random pod from its place or from among the pending ones,
// if it uses nothing unsupported.
func (m *mutant) takeAny() *corev1.Pod {
	if len(m.plan.Unplaced) == 0 || m.IntN(3) > 0 {
		return m.take()
	}
	at := m.IntN(len(m.plan.Unplaced))
	u := m.plan.Unplaced[at]
	if u.Explanation.Cause == provisioning.CauseUnsupported {
		return nil
	}
	m.plan.Unplaced = slices.Delete(m.plan.Unplaced, at, at+1)
	return u.Pod
}

func moveToNew(m *mutant) (opinion, bool) {
	pod := m.takeAny()
	if pod == nil || len(m.plan.Create) == 0 {
		return unsure, false
	}
	n := &m.plan.Create[m.IntN(len(m.plan.Create))]
	n.Pods = append(n.Pods, pod)
	verdict := sound
	for _, option := range n.Options {
		// One broken option breaks the plan, whatever the others are.
		if o := oracleOption(m.in, n, option); o == broken || verdict == sound {
			verdict = o
		}
	}
	m.settle()
	return verdict, true
}

// newNode draws one of the new nodes.
func (m *mutant) newNode() *provisioning.NewNode {
	if len(m.plan.Create) == 0 {
		return nil
	}
	return &m.plan.Create[m.IntN(len(m.plan.Create))]
}

func addOption(m *mutant) (opinion, bool) {
	n := m.newNode()
	if n == nil {
		return unsure, false
	}
	from := m.in.InstanceTypes[n.Pool.Name]
	if m.IntN(8) == 0 {
		from = m.in.InstanceTypes[m.in.NodePools[m.IntN(len(m.in.NodePools))].Name]
	}
	if len(from) == 0 {
		return unsure, false
	}
	t := from[m.IntN(len(from))]
	option := cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[m.IntN(len(t.Offerings))]}
	if slices.Contains(n.Options, option) {
		return unsure, false
	}
	verdict := oracleOption(m.in, n, option)
	// What else depends on the list of options is for other tests.
	hazy := len(n.Pool.Spec.Limits) > 0 || option.Offering.ReservationID != "" || len(m.in.DaemonSetPods) > 0
	foreign := !slices.Contains(m.in.InstanceTypes[n.Pool.Name], t)
	if verdict == sound && hazy || foreign && m.similar(n, option) {
		verdict = unsure
	}
	n.Options = append(n.Options, option)
	m.settle()
	return verdict, true
}

// similar says whether the pool of n has an offering by the same names, which
// the referee takes for the one that is meant.
func (m *mutant) similar(n *provisioning.NewNode, option cloudprovider.LaunchOption) bool {
	return slices.ContainsFunc(m.in.InstanceTypes[n.Pool.Name], func(t *cloudprovider.InstanceType) bool {
		_, found := t.Offering(option.Key())
		return found
	})
}

func removeOption(m *mutant) (opinion, bool) {
	n := m.newNode()
	if n == nil {
		return unsure, false
	}
	if len(n.Options) == 1 {
		n.Options = nil
		return broken, true
	}
	at := m.IntN(len(n.Options))
	dearer := n.Options[0].Offering.Price < n.Options[1].Offering.Price
	n.Options = slices.Delete(n.Options, at, at+1)
	counted := slices.ContainsFunc(m.requirementsOf(n), func(r requirements.Requirement) bool { return r.MinValues() > 0 })
	switch {
	case at == 0 && dearer:
		return broken, true // Cost counts an option that is not there
	case counted || len(m.in.DaemonSetPods) > 0:
		return unsure, true
	}
	return sound, true
}

func (m *mutant) requirementsOf(n *provisioning.NewNode) []requirements.Requirement {
	set, _ := requirements.FromNodePool(n.Pool, m.in.Vocabulary)
	return slices.Collect(set.All())
}
