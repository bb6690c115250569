package verify_test

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

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
		{"the cheapest options are left out, and the bound says that nothing is cheaper", verify.RuleAccounts, func(s *scene) {
			s.First().Options = scenes.Options(s.Large)
			s.Plan.Cost = s.First().Price() + s.Second().Price()
			s.Plan.LowerBound = s.Plan.Cost / 4
		}, always(func(p *provisioning.Plan) { p.LowerBound = p.Cost })},
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
