package verify_test

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

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
		{"a node mixes a reservation with other capacity under Strict", verify.RuleReservation, func(s *scene) {
			s.reserve(9)
			s.Second().Options = scenes.Options(s.Small)
			s.Plan.Cost, s.Plan.LowerBound = s.First().Price()+s.Second().Price(), 0
		}, func(m *mutant) bool {
			m.opts = &provisioning.Options{Reserved: provisioning.ReservedStrict}
			return true
		}},
		{"a pod is left pending beside a node with room", verify.RuleOverlooked, onDemand, func(m *mutant) bool {
			m.leaveOnly(m.pod("tiny"))
			return true
		}},
	}
}
