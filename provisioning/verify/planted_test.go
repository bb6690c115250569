package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
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

// plantedTerm returns an affinity term about pods of team planted, of whom no random problem has any.
func plantedTerm() corev1.PodAffinityTerm {
	return scenes.AffinityTerm(corev1.LabelHostname, "planted")
}

// plantedPod returns a small pod of team planted.
func plantedPod() *corev1.Pod {
	pod := scenes.Pod("planted", "0", "0")
	scenes.Team("planted", pod)
	return pod
}

// faultsBetweenPods are in what pods ask of each other.
func faultsBetweenPods() []plantedFault {
	// beside changes a pod that goes to an existing node, and one that runs there.
	beside := func(change func(placed, running *corev1.Pod)) func(*mutant) bool {
		return func(m *mutant) bool {
			p, ok := m.settledPlacement()
			if !ok {
				return false
			}
			other := plantedPod()
			other.Namespace = p.pod.Namespace
			m.alterPod(p.pod, func(pod *corev1.Pod) { change(pod, other) })
			m.run(p.node, other)
			return true
		}
	}
	return []plantedFault{
		{"pods of a spread share a node", verify.RuleSpread, nil, beside(func(placed, running *corev1.Pod) {
			placed.Labels["team"] = "planted"
			placed.Spec.TopologySpreadConstraints = nil
			many := int32(1_000)
			spread(placed, corev1.LabelHostname, 1, func(c *corev1.TopologySpreadConstraint) { c.MinDomains = &many })
		})},
		{"a pod is spread over a label that its node lacks", verify.RuleSpread, nil, beside(func(placed, _ *corev1.Pod) {
			placed.Spec.TopologySpreadConstraints = nil
			spread(placed, "planted.example.org/rack", 1)
		})},
		{"a pod is to be with others who are not there", verify.RuleAffinity, nil, func(m *mutant) bool {
			p, ok := m.placed()
			if ok {
				m.alterPod(p.pod, func(pod *corev1.Pod) { scenes.Follow(pod, plantedTerm()) })
			}
			return ok
		}},
		{"a pod runs that the pod is to be apart from", verify.RuleAntiAffinity, nil, beside(func(placed, _ *corev1.Pod) { scenes.Avoid(placed, plantedTerm()) })},
		{"a pod runs that is to be apart from the pod", verify.RuleAntiAffinity, nil, beside(func(placed, running *corev1.Pod) {
			placed.Labels["team"] = "planted"
			scenes.Avoid(running, plantedTerm())
		})},
		{"a host port is used twice", verify.RuleHostPorts, nil, beside(func(placed, running *corev1.Pod) {
			listen(placed, corev1.ContainerPort{HostPort: 9999})
			listen(running, corev1.ContainerPort{HostPort: 9999})
		})},
	}
}

// faultsOfStorage are in volumes and devices.
func faultsOfStorage() []plantedFault {
	// devices gives tiny one of the two devices of old.
	devices := func(s *scene) {
		node := "old"
		slice := &resourcev1.ResourceSlice{}
		slice.Spec = resourcev1.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: &node, Devices: []resourcev1.Device{{Name: "a"}, {Name: "b"}}}
		s.In.Devices.Slices = []*resourcev1.ResourceSlice{slice}
		s.In.Devices.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}
		s.Small.Devices = []cloudprovider.InstanceDevice{{Driver: "gpu.example.com", Count: 2}}
		s.wantDevices(s.Tiny, 1)
	}
	return []plantedFault{
		{"a disk is used twice", verify.RuleVolumes, nil, func(m *mutant) bool {
			p, ok := m.settledPlacement()
			if !ok {
				return false
			}
			disk := corev1.Volume{Name: "disk", VolumeSource: corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}}
			other := plantedPod()
			other.Spec.Volumes = []corev1.Volume{disk}
			m.alterPod(p.pod, func(pod *corev1.Pod) { pod.Spec.Volumes = append(pod.Spec.Volumes, disk) })
			m.run(p.node, other)
			return true
		}},
		{"a node has fewer devices than its pods use", verify.RuleDevices, devices, func(m *mutant) bool {
			m.in.Devices.Slices = nil
			return true
		}},
	}
}

// faultsOfPlaces are in where pods go, each pod by itself.
func faultsOfPlaces() []plantedFault {
	ofPod := func(change func(*corev1.Pod)) func(*mutant) bool {
		return func(m *mutant) bool {
			p, ok := m.placed()
			if ok {
				m.alterPod(p.pod, change)
			}
			return ok
		}
	}
	ofNode := func(change func(*provisioning.Node)) func(*mutant) bool {
		return func(m *mutant) bool {
			if len(m.plan.Bind) == 0 {
				return false
			}
			m.alterNode(m.plan.Bind[m.IntN(len(m.plan.Bind))].Node, change)
			return true
		}
	}
	// moved moves a pod to a node of which the labels are known and that does not suit it.
	moved := func(wrong func(*corev1.Pod, *corev1.Node) bool) func(*mutant) bool {
		return func(m *mutant) bool {
			for _, p := range m.placements() {
				for _, n := range m.in.Nodes {
					node := oracleNode(n)
					if n.Node != nil && node != nil && n.Name() != p.node && wrong(p.pod, node) {
						m.move(p, n.Name())
						return true
					}
				}
			}
			return false
		}
	}
	return []plantedFault{
		{"a pod is bound to a node that does not exist", verify.RuleNode, nil, func(m *mutant) bool {
			if len(m.plan.Bind) == 0 {
				return false
			}
			m.plan.Bind[len(m.plan.Bind)-1].Node += "x"
			return true
		}},
		{"a pod is bound to a node that is being deleted", verify.RuleNode, nil, ofNode(func(n *provisioning.Node) {
			if n.Node != nil {
				n.Node.DeletionTimestamp = &metav1.Time{}
			} else {
				n.NodeClaim.DeletionTimestamp = &metav1.Time{}
			}
		})},
		{"a pod is moved to a node whose taint it does not tolerate", verify.RuleTaints, nil, moved(func(p *corev1.Pod, n *corev1.Node) bool {
			return !oracleTolerates(n.Spec.Taints, p.Spec.Tolerations)
		})},
		{"a pod is moved to a node that it does not select", verify.RuleRequirements, nil, moved(func(p *corev1.Pod, n *corev1.Node) bool {
			for key, value := range p.Spec.NodeSelector {
				if have, ok := n.Labels[key]; ok && have != value {
					return true
				}
			}
			return false
		})},
		{"a pod is moved to a node without room", verify.RuleResources, nil, moved(func(p *corev1.Pod, n *corev1.Node) bool {
			asked := corev1.ResourceList{}
			oracleAdd(asked, p)
			for name, quantity := range asked {
				if have := n.Status.Allocatable[name]; quantity.Cmp(have) > 0 {
					return true
				}
			}
			return false
		})},
		{"a toleration is dropped", verify.RuleTaints, nil, func(m *mutant) bool {
			for _, p := range m.placements() {
				var taints []corev1.Taint
				switch {
				case p.on != nil:
					taints = p.on.Pool.Spec.Template.Spec.Taints
				case oracleNode(*p.in) != nil:
					taints = oracleNode(*p.in).Spec.Taints
				}
				if !oracleTolerates(taints, nil) {
					m.alterPod(p.pod, func(pod *corev1.Pod) { pod.Spec.Tolerations = nil })
					return true
				}
			}
			return false
		}},
		{"a node gets a taint", verify.RuleTaints, nil, func(m *mutant) bool {
			p, ok := m.settledPlacement()
			taint := corev1.Taint{Key: "planted", Effect: corev1.TaintEffectNoExecute}
			if !ok || oracleTolerates([]corev1.Taint{taint}, p.pod.Spec.Tolerations) {
				return false
			}
			m.alterNode(p.node, func(n *provisioning.Node) { n.Node.Spec.Taints = append(n.Node.Spec.Taints, taint) })
			return true
		}},
		{"a pod selects a label that no node has", verify.RuleRequirements, nil, ofPod(func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{"planted": "yes"}
		})},
		{"a pod asks for more than its node has", verify.RuleResources, nil, ofPod(func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1M")}
		})},
		{"a DaemonSet takes the room of the pods", verify.RuleResources, nil, func(m *mutant) bool {
			n := m.newNode()
			if n == nil || n.Daemons.Get(corev1.ResourcePods) == 0 || n.Requests.Get(corev1.ResourceCPU) == 0 {
				return false
			}
			m.in.DaemonSetPods = slices.Clone(m.in.DaemonSetPods)
			for i, pod := range m.in.DaemonSetPods {
				larger := pod.DeepCopy()
				larger.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1M")}
				m.in.DaemonSetPods[i] = larger
			}
			for i := range m.plan.Create { // the plan says so, where each DaemonSet has one container
				pods := m.plan.Create[i].Daemons.Get(corev1.ResourcePods)
				m.plan.Create[i].Daemons = resources.MustParse(fmt.Sprintf("cpu=%dM, pods=%d", pods, pods))
			}
			return true
		}},
		{"running pods take the room of a pod", verify.RuleResources, nil, func(m *mutant) bool {
			p, ok := m.settledPlacement()
			if !ok {
				return false
			}
			m.alterNode(p.node, func(n *provisioning.Node) {
				full := corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(int64(len(running(n.Pods))), resource.DecimalSI)}
				n.Node.Status.Allocatable = full
				if n.NodeClaim != nil {
					n.NodeClaim.Status.Allocatable = full
				}
			})
			return true
		}},
		{"a pod needs a feature that its node does not declare", verify.RuleFeatures, nil, ofPod(func(p *corev1.Pod) {
			p.Spec.HostNetwork, p.Spec.HostUsers = true, new(bool)
		})},
		{"a pod is bound that waits for a gate", verify.RuleScheduling, nil, ofPod(func(p *corev1.Pod) {
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "planted"}}
		})},
		{"a pod is bound that is being deleted", verify.RuleScheduling, nil, ofPod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} })},
		{"a pod is bound that is for another scheduler", verify.RuleScheduling, nil, func(m *mutant) bool {
			m.opts = &provisioning.Options{SchedulerNames: []string{"nobody"}}
			_, ok := m.placed()
			return ok
		}},
	}
}

// running returns the pods that have not ended.
func running(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	})
}

// faultsOfChoice are in what Options ask of the choice of nodes.
func faultsOfChoice() []plantedFault {
	onDemand := func(s *scene) {
		s.keep(s.First(), v1.CapacityTypeOnDemand)
		s.keep(s.Second(), v1.CapacityTypeOnDemand)
	}
	return []plantedFault{
		{"a node that may be spot names too few types", verify.RuleSpotFlexibility, func(s *scene) {
			s.Opts = &provisioning.Options{SpotFlexibility: 2}
			s.keep(s.Second(), v1.CapacityTypeOnDemand)
		}, func(m *mutant) bool {
			m.opts = &provisioning.Options{SpotFlexibility: 3}
			return true
		}},
		{"too few pods are kept off spot", verify.RuleCapacityMix, func(s *scene) {
			s.Opts = &provisioning.Options{CapacityMix: &provisioning.CapacityMix{}}
			s.keep(s.Second(), v1.CapacityTypeOnDemand)
		}, func(m *mutant) bool {
			m.opts = &provisioning.Options{CapacityMix: &provisioning.CapacityMix{OnDemandBase: 1}}
			return true
		}},
		{"a pod is left pending beside a node with room", verify.RuleOverlooked, onDemand, func(m *mutant) bool {
			m.leaveOnly(m.pod("tiny"))
			return true
		}},
	}
}

// faultsOfLists are in what a plan lists, and in which order.
func faultsOfLists() []plantedFault {
	return []plantedFault{
		{"a pod is neither bound nor pending", verify.RuleCompleteness, nil, func(m *mutant) bool {
			if m.take() == nil {
				return false
			}
			m.settle()
			return true
		}},
		{"a pod is bound twice", verify.RuleCompleteness, nil, func(m *mutant) bool {
			p, ok := m.placed()
			if !ok {
				return false
			}
			lists := m.lists()
			list := lists[m.IntN(len(lists))]
			*list = append(*list, p.pod)
			m.settle()
			return true
		}},
		{"a pod is bound and pending", verify.RuleCompleteness, nil, func(m *mutant) bool {
			p, ok := m.placed()
			if ok {
				m.leave(p.pod)
			}
			return ok
		}},
		{"a pod is bound that nobody asked for", verify.RuleCompleteness, nil, func(m *mutant) bool {
			lists := m.lists()
			if len(lists) == 0 {
				return false
			}
			list := lists[m.IntN(len(lists))]
			*list = append(*list, scenes.Pod("alien", "0", "0"))
			m.settle()
			m.plan.Order = slices.DeleteFunc(m.plan.Order, func(p *corev1.Pod) bool { return p.Name == "alien" })
			return true
		}},
		{"a node is launched for nobody", verify.RuleCompleteness, nil, func(m *mutant) bool {
			n := m.newNode()
			if n == nil {
				return false
			}
			empty := *n
			empty.Name, empty.Pods, empty.Requests = "empty", nil, resources.List{}
			m.plan.Create = append(m.plan.Create, empty)
			m.plan.Cost += empty.Price()
			return true
		}},
		{"the order leaves a pod out", verify.RuleOrder, nil, func(m *mutant) bool {
			if len(m.plan.Order) == 0 {
				return false
			}
			m.plan.Order = slices.Delete(slices.Clone(m.plan.Order), 0, 1)
			return true
		}},
		{"the order has a pod twice", verify.RuleOrder, nil, func(m *mutant) bool {
			if len(m.plan.Order) == 0 {
				return false
			}
			m.plan.Order = append(slices.Clone(m.plan.Order), m.plan.Order[m.IntN(len(m.plan.Order))])
			return true
		}},
		{"two pods of a list are swapped", verify.RuleOrder, nil, func(m *mutant) bool {
			for _, list := range m.lists() {
				if pods := *list; len(pods) > 1 {
					pods[0], pods[1] = pods[1], pods[0]
					return true
				}
			}
			return false
		}},
		{"two options are swapped", verify.RuleOrder, nil, func(m *mutant) bool {
			n := m.newNode()
			if n == nil || len(n.Options) < 2 {
				return false
			}
			at := m.IntN(len(n.Options) - 1)
			n.Options[at], n.Options[at+1] = n.Options[at+1], n.Options[at]
			return true
		}},
		{"an option is listed twice", verify.RuleOrder, nil, func(m *mutant) bool {
			n := m.newNode()
			if n == nil {
				return false
			}
			n.Options = append(n.Options[:1:1], n.Options...)
			return true
		}},
		{"two bindings are swapped", verify.RuleOrder, nil, func(m *mutant) bool {
			if len(m.plan.Bind) < 2 {
				return false
			}
			m.plan.Bind[0], m.plan.Bind[1] = m.plan.Bind[1], m.plan.Bind[0]
			return true
		}},
		{"two new nodes have one name", verify.RuleOrder, nil, func(m *mutant) bool {
			if len(m.plan.Create) < 2 {
				return false
			}
			m.plan.Create[1].Name = m.plan.Create[0].Name
			return true
		}},
	}
}

// faultsOfAccounts are in what a plan says of itself.
func faultsOfAccounts() []plantedFault {
	always := func(change func(*provisioning.Plan)) func(*mutant) bool {
		return func(m *mutant) bool {
			change(m.plan)
			return true
		}
	}
	ofNode := func(change func(*provisioning.NewNode) bool) func(*mutant) bool {
		return func(m *mutant) bool {
			n := m.newNode()
			return n != nil && change(n)
		}
	}
	ofReason := func(reason *provisioning.Explanation) func(*mutant) bool {
		return func(m *mutant) bool {
			if len(m.plan.Unplaced) == 0 {
				return false
			}
			m.plan.Unplaced[m.IntN(len(m.plan.Unplaced))].Explanation = reason
			return true
		}
	}
	return []plantedFault{
		{"the cost is wrong", verify.RuleAccounts, nil, always(func(p *provisioning.Plan) { p.Cost = p.Cost*1.01 + 0.01 })},
		{"the lower bound is above the cost", verify.RuleAccounts, nil, always(func(p *provisioning.Plan) { p.LowerBound = p.Cost*1.01 + 0.01 })},
		{"the packing bound is above the cost", verify.RuleAccounts, nil, always(func(p *provisioning.Plan) { p.PackingBound = p.Cost*1.01 + 0.01 })},
		{"the bound of the objective is above it", verify.RuleAccounts, nil, always(func(p *provisioning.Plan) { p.ObjectiveBound = p.Cost*1.01 + 0.01 })},
		{"a bound is below zero", verify.RuleAccounts, nil, always(func(p *provisioning.Plan) { p.LowerBound = -1 })},
		{"the number of pods is wrong", verify.RuleAccounts, nil, always(func(p *provisioning.Plan) { p.Stats.Pods++ })},
		{"a node asks for too little", verify.RuleAccounts, nil, ofNode(func(n *provisioning.NewNode) bool {
			n.Requests = n.Requests.With(corev1.ResourcePods, n.Requests.Get(corev1.ResourcePods)-1)
			return true
		})},
		{"a DaemonSet is forgotten", verify.RuleAccounts, nil, func(m *mutant) bool {
			n := m.newNode()
			if n == nil || !slices.ContainsFunc(m.in.DaemonSetPods, func(d *corev1.Pod) bool {
				return len(d.Spec.NodeSelector) == 0 && d.Spec.Affinity == nil && oracleTolerates(n.Pool.Spec.Template.Spec.Taints, oracleDaemonTolerations(d))
			}) {
				return false
			}
			n.Daemons = resources.List{}
			return true
		}},
		{"a pod is pending without a reason", verify.RuleReason, nil, ofReason(nil)},
		{"a reason blames a pool that does not exist", verify.RuleReason, nil, ofReason(&provisioning.Explanation{
			Cause: provisioning.CauseNodePools, Pools: []provisioning.PoolExplanation{{NodePool: "nowhere", Cause: provisioning.CauseResources}},
		})},
	}
}

// faultsOfNewNodes are in the nodes to launch: their pools and options.
func faultsOfNewNodes() []plantedFault {
	ofPool := func(change func(*v1.NodePool)) func(*mutant) bool {
		return func(m *mutant) bool {
			n := m.newNode()
			if n != nil {
				m.alterPool(n.Pool.Name, change)
			}
			return n != nil
		}
	}
	// ofOption changes the cheapest option of a node in the catalog.
	ofOption := func(change func(*cloudprovider.InstanceType, *cloudprovider.Offering)) func(*mutant) bool {
		return func(m *mutant) bool {
			n := m.newNode()
			if n == nil {
				return false
			}
			key := n.Options[0].Key()
			m.alterType(n.Pool.Name, key.InstanceType, func(t *cloudprovider.InstanceType) {
				if offering, ok := t.Offering(key); ok {
					change(t, offering)
				}
			})
			return true
		}
	}
	return []plantedFault{
		{"a node is of a pool that does not exist", verify.RulePool, nil, func(m *mutant) bool {
			n := m.newNode()
			if n == nil {
				return false
			}
			pool := n.Pool.DeepCopy()
			pool.Name = "nowhere"
			n.Pool = pool
			return true
		}},
		{"a node is of a pool that is being deleted", verify.RulePool, nil, ofPool(func(p *v1.NodePool) { p.DeletionTimestamp = &metav1.Time{} })},
		{"a node is of a static pool", verify.RulePool, nil, ofPool(func(p *v1.NodePool) { p.Spec.Replicas = new(int64) })},
		{"an option is sold out", verify.RuleOffering, nil, ofOption(func(_ *cloudprovider.InstanceType, o *cloudprovider.Offering) { o.Available = false })},
		{"an option costs more than the plan says", verify.RuleOffering, nil, ofOption(func(_ *cloudprovider.InstanceType, o *cloudprovider.Offering) { o.Price += 0.01 })},
		{"an option is of a type that the pool does not offer", verify.RuleOffering, nil, ofOption(func(t *cloudprovider.InstanceType, _ *cloudprovider.Offering) { t.Name = "renamed" })},
		{"a node has no options", verify.RuleOffering, nil, func(m *mutant) bool {
			n := m.newNode()
			if n == nil {
				return false
			}
			m.plan.Cost -= n.Price()
			n.Options = nil
			m.plan.LowerBound, m.plan.PackingBound, m.plan.ObjectiveBound = 0, 0, 0
			return true
		}},
		{"a reservation is overbooked", verify.RuleReservation, func(s *scene) {
			s.reserve(2)
			s.First().Options, s.Second().Options = scenes.Options(s.Small), scenes.Options(s.Small)
			s.Plan.Cost, s.Plan.LowerBound = 0.002, 0
		}, func(m *mutant) bool {
			m.alterType("batch", "small", func(t *cloudprovider.InstanceType) { t.Offerings[len(t.Offerings)-1].ReservationCapacity = 1 })
			return true
		}},
		{"an option is too small", verify.RuleResources, nil, ofOption(func(t *cloudprovider.InstanceType, o *cloudprovider.Offering) {
			t.Capacity, o.Capacity = t.Capacity.With(corev1.ResourcePods, 0), nil
		})},
		{"an option has less than it holds back", verify.RuleResources, nil, ofOption(func(t *cloudprovider.InstanceType, o *cloudprovider.Offering) {
			t.Overhead.KubeReserved, o.Overhead, o.Capacity = t.Capacity.With(corev1.ResourceMemory, t.Capacity.Get(corev1.ResourceMemory)+1), nil, nil
		})},
		{"a node's Requirements leave out what its pool asks for", verify.RuleRequirements, nil, func(m *mutant) bool {
			n := m.newNode()
			if n == nil {
				return false
			}
			for _, demand := range n.Pool.Spec.Template.Spec.Requirements {
				key := m.in.Vocabulary.NormalizeKey(demand.Key)
				if want, ok := n.Requirements.Get(key); ok && !want.WithMinValues(0).Equal(requirements.NotIn(key)) {
					n.Requirements = n.Requirements.Without(key)
					return true
				}
			}
			return false
		}},
		{"a node asks for a zone that its options are not in", verify.RuleRequirements, nil, func(m *mutant) bool {
			n := m.newNode()
			if n == nil {
				return false
			}
			n.Requirements = n.Requirements.With(requirements.In(corev1.LabelTopologyZone, "nowhere"))
			return true
		}},
		{"a pool has a taint that the pods of a node do not tolerate", verify.RuleTaints, nil, func(m *mutant) bool {
			n := m.newNode()
			taint := corev1.Taint{Key: "planted", Effect: corev1.TaintEffectNoSchedule}
			if n == nil || !slices.ContainsFunc(n.Pods, func(p *corev1.Pod) bool {
				return !oracleTolerates([]corev1.Taint{taint}, p.Spec.Tolerations)
			}) {
				return false
			}
			m.alterPool(n.Pool.Name, func(p *v1.NodePool) { p.Spec.Template.Spec.Taints = append(p.Spec.Template.Spec.Taints, taint) })
			return true
		}},
		{"minValues is not met", verify.RuleMinValues, nil, func(m *mutant) bool {
			n := m.newNode()
			if n == nil {
				return false
			}
			many, key := 1_000, corev1.LabelInstanceTypeStable
			n.Requirements = n.Requirements.Intersect(requirements.NewSet(requirements.Exists(key)))
			m.alterPool(n.Pool.Name, func(p *v1.NodePool) {
				p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
					Key: key, Operator: corev1.NodeSelectorOpExists, MinValues: &many,
				})
			})
			return true
		}},
		{"a limit is passed", verify.RuleLimits, nil, ofPool(func(p *v1.NodePool) {
			p.Spec.Limits = v1.Limits(resources.MustParse("nodes=0").ResourceList())
		})},
	}
}
