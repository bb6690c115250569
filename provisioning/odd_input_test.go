package provisioning_test

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// oddity changes an input into one that is strange but may well be sound: at
// the ends of ranges, or never met in practice.
type oddity func(r *shuffler, in *provisioning.Input)

func oddities() []oddity {
	return append(append(oddPods(), oddPools()...), oddNodes()...)
}

func one[T any](r *shuffler, list []T) (x T, ok bool) {
	if len(list) == 0 {
		return x, false
	}
	return list[r.below(len(list))], true
}

// onPod changes some pod: pending, bound or of a DaemonSet.
func onPod(change func(pod *corev1.Pod)) oddity {
	return func(r *shuffler, in *provisioning.Input) {
		pods := in.Pods
		switch n, ok := one(r, in.Nodes); {
		case r.below(4) == 0:
			pods = in.DaemonSetPods
		case ok && r.below(4) == 0:
			pods = n.Pods
		}
		if pod, ok := one(r, pods); ok {
			change(pod)
		}
	}
}

func request(pod *corev1.Pod, name corev1.ResourceName, text string) {
	if len(pod.Spec.Containers) == 0 {
		pod.Spec.Containers = make([]corev1.Container, 1)
	}
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{name: resource.MustParse(text)}
}

func oddPods() []oddity {
	return []oddity{
		onPod(func(p *corev1.Pod) { request(p, "memory", "9223372036854775807") }),
		onPod(func(p *corev1.Pod) { request(p, "memory", "4611686018427387904") }),
		onPod(func(p *corev1.Pod) { request(p, "cpu", "9223372036854775807m") }),
		onPod(func(p *corev1.Pod) { request(p, "cpu", "1n") }),
		onPod(func(p *corev1.Pod) { request(p, "pods", "3") }),
		onPod(func(p *corev1.Pod) { request(p, "never.example.com/heard-of", "0") }),
		onPod(func(p *corev1.Pod) { p.Spec.Containers = nil }),
		onPod(func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{}} }),
		onPod(func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Operator: "Lt", Key: "priority", Value: "many"}, {Operator: "Odd"}}
		}),
		onPod(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"": ""} }),
		onPod(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "a new node"} }),
		onPod(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"team": "not a label value \x00"} }),
		onPod(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{v1.NodeInitializedLabelKey: "false"} }),
		onPod(func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{corev1.LabelArchStable: "amd64", "beta.kubernetes.io/arch": "arm64"}
		}),
		onPod(func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{
						{Key: "example.org/rank", Operator: "Gt", Values: []string{"9223372036854775806"}},
					},
				}}},
			}}
		}),
		onPod(func(p *corev1.Pod) { p.Namespace, p.Name = "", "x" }),
		onPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
		onPod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }),
	}
}

func onPool(change func(pool *v1.NodePool)) oddity {
	return func(r *shuffler, in *provisioning.Input) {
		if pool, ok := one(r, in.NodePools); ok {
			change(pool)
		}
	}
}

// onType changes an instance type in all catalogs that share it.
func onType(change func(r *shuffler, t *cloudprovider.InstanceType)) oddity {
	return func(r *shuffler, in *provisioning.Input) {
		if pool, ok := one(r, in.NodePools); ok {
			if t, ok := one(r, in.InstanceTypes[pool.Name]); ok {
				change(r, t)
			}
		}
	}
}

func poolRequirement(key string, op corev1.NodeSelectorOperator, least int, values ...string) oddity {
	return onPool(func(p *v1.NodePool) {
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements,
			v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: op, Values: values, MinValues: &least})
	})
}

func oddPools() []oddity {
	return []oddity{
		onPool(func(p *v1.NodePool) { weight := int32(math.MinInt32); p.Spec.Weight = &weight }),
		onPool(func(p *v1.NodePool) { p.Spec.Limits = v1.Limits{"cpu": resource.MustParse("9223372036854775807m")} }),
		onPool(func(p *v1.NodePool) { p.Spec.Limits = v1.Limits{"never.example.com/heard-of": resource.MustParse("0")} }),
		onPool(func(p *v1.NodePool) { p.Spec.Limits = v1.Limits{} }),
		onPool(func(p *v1.NodePool) { p.Spec.Template.Spec.Taints = []corev1.Taint{{}} }),
		onPool(func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{v1.NodePoolLabelKey: "other"} }),
		onPool(func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{corev1.LabelHostname: "h"} }),
		onPool(func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{corev1.LabelTopologyZone: "zone-b"} }),
		onPool(func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{v1.NodeInitializedLabelKey: "false"} }),
		onPool(func(p *v1.NodePool) { p.Spec.Template.Spec.NodeClassRef = nil }),
		poolRequirement("team", "Exists", 3),
		poolRequirement("team", "In", 50, "red", "blue"),
		poolRequirement(corev1.LabelTopologyZone, "NotIn", 2, "zone-a"),
		poolRequirement(v1.CapacityTypeLabelKey, "Exists", 2),
		poolRequirement(corev1.LabelHostname, "Exists", 1),
		poolRequirement(corev1.LabelWindowsBuild, "Exists", 0),
		poolRequirement(randproblem.CPULabel, "Gt", 2, "-9223372036854775808"),
		func(_ *shuffler, in *provisioning.Input) { in.Vocabulary = new(requirements.Vocabulary) },
		func(_ *shuffler, in *provisioning.Input) { clear(in.InstanceTypes) },
		onType(func(_ *shuffler, t *cloudprovider.InstanceType) {
			t.Capacity = t.Capacity.With("memory", math.MaxInt64).With("cpu", math.MaxInt64)
		}),
		onType(func(_ *shuffler, t *cloudprovider.InstanceType) { t.Overhead.SystemReserved = t.Capacity }),
		onType(func(_ *shuffler, t *cloudprovider.InstanceType) { t.Requirements = requirements.Set{} }),
		onType(func(r *shuffler, t *cloudprovider.InstanceType) {
			if len(t.Offerings) > 0 {
				t.Offerings[r.below(len(t.Offerings))].Price = math.SmallestNonzeroFloat64
			}
		}),
		onType(func(r *shuffler, t *cloudprovider.InstanceType) {
			for i := range t.Offerings {
				t.Offerings[i].Price = 1e300
			}
		}),
		onType(func(_ *shuffler, t *cloudprovider.InstanceType) { t.Offerings = nil }),
	}
}

func onNode(change func(n *provisioning.Node)) oddity {
	return func(r *shuffler, in *provisioning.Input) {
		if len(in.Nodes) > 0 {
			change(&in.Nodes[r.below(len(in.Nodes))])
		}
	}
}

func oddNodes() []oddity {
	allocatable := func(name corev1.ResourceName, text string) oddity {
		return onNode(func(n *provisioning.Node) {
			if n.Node != nil && n.Node.Status.Allocatable != nil {
				n.Node.Status.Allocatable[name] = resource.MustParse(text)
			}
			if n.NodeClaim != nil && n.NodeClaim.Status.Allocatable != nil {
				n.NodeClaim.Status.Allocatable[name] = resource.MustParse(text)
			}
		})
	}
	return []oddity{
		allocatable("pods", "-1"),
		allocatable("memory", "-5"),
		allocatable("memory", "9223372036854775807"),
		allocatable("never.example.com/heard-of", "0"),
		onNode(func(n *provisioning.Node) {
			if n.Node != nil {
				n.Node.Labels = nil
			}
		}),
		onNode(func(n *provisioning.Node) {
			if n.Node != nil {
				n.Node.Spec.Taints = append(n.Node.Spec.Taints, corev1.Taint{Key: "odd", Effect: "Odd"}, corev1.Taint{})
			}
		}),
		onNode(func(n *provisioning.Node) {
			if n.NodeClaim != nil {
				n.NodeClaim.Labels = nil
				n.NodeClaim.Status = v1.NodeClaimStatus{}
			}
		}),
		onNode(func(n *provisioning.Node) {
			if n.Node != nil && n.NodeClaim != nil {
				n.Node.Status = corev1.NodeStatus{}
			}
		}),
		onNode(func(n *provisioning.Node) {
			if n.NodeClaim != nil {
				n.NodeClaim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "", Operator: "Odd"}}
			}
		}),
	}
}

// TestOddInput: whatever is thrown at it, the engine gives faults or a plan that
// the referee accepts.
func TestOddInput(t *testing.T) {
	t.Parallel()
	for seed := range lawSeeds(3_000, 300) {
		checkOddInput(t, seed, []byte{byte(seed * 31), byte(seed * 17 >> 2), byte(seed * 7 >> 4)}[:1+seed%3])
	}
}

func FuzzOddInput(f *testing.F) {
	f.Add(uint64(1), []byte{0, 1})
	f.Add(uint64(7), []byte{17, 30, 44})
	f.Fuzz(func(t *testing.T, seed uint64, choices []byte) { checkOddInput(t, seed, choices) })
}

// checkOddInput applies an oddity for each byte.
func checkOddInput(t *testing.T, seed uint64, choices []byte) {
	t.Helper()
	in := randproblem.New(seed)
	r := &shuffler{state: seed}
	all := oddities()
	for _, c := range choices[:min(len(choices), 6)] {
		all[int(c)%len(all)](r, &in)
	}
	opts := scenes.VaryOptions(seed)
	if opts == nil {
		opts = &provisioning.Options{MaxSteps: 2_000}
	}
	checkPlan(t, in, opts, "seed %d, choices %v", seed, choices)
}
