package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// plantedFault is a change that breaks one rule of a valid plan, by a change of the plan or
// of the objects it was made from.
type plantedFault struct {
	name string
	rule verify.Rule // that the referee must name
	// from makes the scene that the plan is of. Where it is nil the plans are those of the
	// scene as it is and of random problems.
	from func(s *scene)
	// plant reports false where the plan has nothing that the change could break.
	plant func(m *mutant) bool
}

// plantedFaults returns the table of all of them.
func plantedFaults() []plantedFault {
	return slices.Concat(faultsOfLists(), faultsOfAccounts(), faultsOfNewNodes(), faultsOfPlaces(), faultsBetweenPods(), faultsOfStorage(), faultsOfChoice())
}

// TestPlantedFaults plants each fault of the table in every plan that has a place for it. The
// referee must name the rule of the fault each time, and a fault of a scene, of which all else
// is known, must break no other rule.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	table := plantedFaults()
	require.GreaterOrEqual(t, len(table), 40)
	planted := map[string]int{}               // plans by fault
	named := map[string]map[verify.Rule]int{} // plans by fault and rule named
	count := func(fault plantedFault, found []verify.Violation, where string) {
		planted[fault.name]++
		rules := map[verify.Rule]bool{}
		for _, v := range found {
			if !rules[v.Rule] {
				rules[v.Rule] = true
				named[fault.name][v.Rule]++
			}
		}
		require.True(t, rules[fault.rule], "%s: %s: the referee does not name %s: %v", where, fault.name, fault.rule, found)
	}
	for _, fault := range table {
		require.Zero(t, planted[fault.name], "two faults are called %s", fault.name)
		planted[fault.name], named[fault.name] = 0, map[verify.Rule]int{}
		s := newScene()
		if fault.from != nil {
			fault.from(s)
		}
		require.Empty(t, verify.Plan(s.In, s.Plan, s.Opts), "%s: the plan it starts from is at fault itself", fault.name)
		m := &mutant{rand.New(rand.NewPCG(1, 1)), s.In, clonePlan(s.Plan), s.Opts}
		if !fault.plant(m) {
			require.Nil(t, fault.from, "%s has nothing to break in its own scene", fault.name)
			continue
		}
		found := findFaults(m, fault.rule)
		count(fault, found, "the scene")
		if fault.from != nil {
			for _, v := range found {
				require.Equal(t, fault.rule, v.Rule, "%s: %v", fault.name, found)
			}
		}
	}
	for seed := range lawSeeds(1_000, 300) {
		in := randproblem.New(seed)
		plan := solved(t, in, nil)
		for i, fault := range table {
			m := &mutant{rand.New(rand.NewPCG(seed, uint64(i))), in, clonePlan(plan), nil}
			if fault.from != nil || !fault.plant(m) {
				continue
			}
			count(fault, findFaults(m, fault.rule), fmt.Sprintf("seed %d", seed))
		}
	}
	for _, fault := range table {
		require.Positive(t, planted[fault.name], "%s: there is no plan that it could break", fault.name)
		for rule, n := range named[fault.name] {
			require.False(t, rule != fault.rule && n == planted[fault.name], "%s breaks %s each time as well: which of the two does it plant?", fault.name, rule)
		}
		t.Logf("%-16s found in all %4d plans: %s", fault.rule, planted[fault.name], fault.name)
	}
}

// findFaults asks the part of the referee that judges a rule.
func findFaults(m *mutant, rule verify.Rule) []verify.Violation {
	if rule == verify.RuleOverlooked {
		return verify.Unplaced(m.in, m.plan, m.opts)
	}
	return verify.Plan(m.in, m.plan, m.opts)
}

// TestEveryRuleHasAPlantedFault: the table has a fault for each rule there is.
func TestEveryRuleHasAPlantedFault(t *testing.T) {
	var faulty []verify.Rule
	for _, fault := range plantedFaults() {
		faulty = append(faulty, fault.rule)
	}
	require.ElementsMatch(t, []verify.Rule{
		verify.RuleCompleteness, verify.RuleOrder, verify.RuleAccounts, verify.RuleReason, verify.RulePool, verify.RuleOffering,
		verify.RuleReservation, verify.RuleRequirements, verify.RuleTaints, verify.RuleFeatures, verify.RuleResources,
		verify.RuleMinValues, verify.RuleLimits, verify.RuleNode, verify.RuleScheduling, verify.RuleSpread, verify.RuleAffinity,
		verify.RuleAntiAffinity, verify.RuleHostPorts, verify.RuleVolumes, verify.RuleDevices, verify.RuleCapacityMix,
		verify.RuleSpotFlexibility, verify.RuleOverlooked,
	}, slices.Compact(slices.Sorted(slices.Values(faulty))))
}

// placement is a pod where a plan puts it.
type placement struct {
	pod  *corev1.Pod
	node string
	in   *provisioning.Node    // if it is an existing node
	on   *provisioning.NewNode // if it is a new one
}

// placements lists the placed pods that the input lists itself, in random order.
func (m *mutant) placements() []placement {
	var out []placement
	add := func(p placement, pods []*corev1.Pod) {
		for _, pod := range pods {
			if slices.Contains(m.in.Pods, pod) {
				p.pod = pod
				out = append(out, p)
			}
		}
	}
	for i := range m.plan.Create {
		n := &m.plan.Create[i]
		add(placement{node: n.Name, on: n}, n.Pods)
	}
	for _, b := range m.plan.Bind {
		add(placement{node: b.Node, in: m.existing(b.Node)}, b.Pods)
	}
	m.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (m *mutant) existing(name string) *provisioning.Node {
	at := slices.IndexFunc(m.in.Nodes, func(n provisioning.Node) bool { return n.Name() == name })
	return &m.in.Nodes[at]
}

// placed draws a placed pod.
func (m *mutant) placed() (placement, bool) {
	all := m.placements()
	if len(all) == 0 {
		return placement{}, false
	}
	return all[0], true
}

// settledPlacement draws a pod that the plan puts on an existing node of which the labels are known.
func (m *mutant) settledPlacement() (placement, bool) {
	for _, p := range m.placements() {
		if p.in == nil || p.in.Node == nil || p.in.Node.Labels[corev1.LabelHostname] == "" {
			continue
		}
		if p.in.NodeClaim == nil || p.in.Node.Labels[v1.NodeRegisteredLabelKey] == "true" {
			return p, true
		}
	}
	return placement{}, false
}

// alterPod gives the input a changed copy of a pod.
func (m *mutant) alterPod(pod *corev1.Pod, change func(*corev1.Pod)) {
	altered := pod.DeepCopy()
	if altered.Labels == nil {
		altered.Labels = map[string]string{}
	}
	change(altered)
	m.in.Pods = slices.Clone(m.in.Pods)
	m.in.Pods[slices.Index(m.in.Pods, pod)] = altered
}

// alterNode gives the input a changed copy of a node.
func (m *mutant) alterNode(name string, change func(*provisioning.Node)) {
	m.in.Nodes = slices.Clone(m.in.Nodes)
	n := m.existing(name)
	n.Node, n.NodeClaim, n.Pods = n.Node.DeepCopy(), n.NodeClaim.DeepCopy(), slices.Clone(n.Pods)
	change(n)
}

// alterPool gives the input a changed copy of a pool.
func (m *mutant) alterPool(name string, change func(*v1.NodePool)) {
	m.in.NodePools = slices.Clone(m.in.NodePools)
	at := slices.IndexFunc(m.in.NodePools, func(p *v1.NodePool) bool { return p.Name == name })
	m.in.NodePools[at] = m.in.NodePools[at].DeepCopy()
	change(m.in.NodePools[at])
}

// alterType gives the input a changed copy of an instance type of a pool.
func (m *mutant) alterType(pool, name string, change func(*cloudprovider.InstanceType)) {
	catalogs := map[string][]*cloudprovider.InstanceType{}
	for of, types := range m.in.InstanceTypes {
		catalogs[of] = types
	}
	types := slices.Clone(catalogs[pool])
	for i, t := range types {
		if t.Name == name {
			types[i] = t.Clone()
			change(types[i])
		}
	}
	catalogs[pool] = types
	m.in.InstanceTypes = catalogs
}

// run lets a pod run on an existing node.
func (m *mutant) run(node string, pod *corev1.Pod) {
	m.alterNode(node, func(n *provisioning.Node) { n.Pods = append(n.Pods, pod) })
}

// move takes a pod off the place it has and binds it to an existing node.
func (m *mutant) move(p placement, node string) {
	for _, list := range m.lists() {
		*list = slices.DeleteFunc(*list, func(pod *corev1.Pod) bool { return pod == p.pod })
	}
	at := slices.IndexFunc(m.plan.Bind, func(b provisioning.Binding) bool { return b.Node == node })
	if at < 0 {
		at = len(m.plan.Bind)
		m.plan.Bind = append(m.plan.Bind, provisioning.Binding{Node: node})
	}
	m.plan.Bind[at].Pods = append(m.plan.Bind[at].Pods, p.pod)
	m.settle()
}

// pod finds a pod of the input by its name.
func (m *mutant) pod(name string) *corev1.Pod {
	return m.in.Pods[slices.IndexFunc(m.in.Pods, func(p *corev1.Pod) bool { return p.Name == name })]
}

// leave adds a pod to those that are pending.
func (m *mutant) leave(pod *corev1.Pod) {
	m.plan.Unplaced = append(m.plan.Unplaced, provisioning.Unplaced{Pod: pod, Explanation: &provisioning.Explanation{Cause: provisioning.CauseNodePools}})
	m.settle()
}

// leaveOnly takes a pod off the place it has, and leaves it pending.
func (m *mutant) leaveOnly(pod *corev1.Pod) {
	for _, list := range m.lists() {
		*list = slices.DeleteFunc(*list, func(p *corev1.Pod) bool { return p == pod })
	}
	m.leave(pod)
}
