package provisioning_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
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

// manifests are objects as anybody may write them.
type manifests struct {
	Pools      []*v1.NodePool
	Pods       []*corev1.Pod
	Daemons    []*corev1.Pod
	Nodes      []manifestNode
	BestEffort bool
}

type manifestNode struct {
	Node  *corev1.Node
	Claim *v1.NodeClaim
	Pods  []*corev1.Pod
}

// input puts the objects beside a sound catalog. It takes a few of each, so
// that a run stays short.
func (m *manifests) input() provisioning.Input {
	vast := scenes.Type("vast", "cpu=64, memory=512Gi, pods=1000", 9, "linux")
	vast.Capacity = vast.Capacity.With(corev1.ResourceMemory, math.MaxInt64).With("example.com/gpu", math.MaxInt64)
	small := scenes.Type("small", "cpu=2, memory=4Gi, pods=8, ephemeral-storage=20Gi", 0.10, "linux")
	open := scenes.Type("open", "cpu=4, memory=8Gi, pods=29", 0.20, "linux", "windows").Clone()
	open.Requirements = open.Requirements.Without(corev1.LabelWindowsBuild)
	open.Offerings[0].Requirements = requirements.MustParse("example.com/rack in (r1, r2)")
	in := provisioning.Input{
		NodePools:     m.Pools[:min(len(m.Pools), 4)],
		Pods:          m.Pods[:min(len(m.Pods), 12)],
		DaemonSetPods: m.Daemons[:min(len(m.Daemons), 3)],
		InstanceTypes: map[string][]*cloudprovider.InstanceType{},
	}
	for _, pool := range in.NodePools {
		if pool != nil {
			in.InstanceTypes[pool.Name] = []*cloudprovider.InstanceType{small, vast, open}
		}
	}
	for _, n := range m.Nodes[:min(len(m.Nodes), 4)] {
		in.Nodes = append(in.Nodes, provisioning.Node{Node: n.Node, NodeClaim: n.Claim, Pods: n.Pods[:min(len(n.Pods), 4)]})
	}
	return in
}

// FuzzSolve reads objects from any JSON. Either the input is refused for stated
// faults, or there is a plan that the referee accepts.
func FuzzSolve(f *testing.F) {
	for _, text := range []string{
		`{}`,
		`{"Pools":[null],"Pods":[null],"Daemons":[null],"Nodes":[{},{"Pods":[null]}]}`,
		`{"Pools":[{"metadata":{"name":"p"}}],"Pods":[{"metadata":{"name":"a"},"spec":{"containers":[{"resources":{"requests":{"memory":"9223372036854775807","example.com/gpu":"9223372036854775807"}}}]}},
			{"metadata":{"name":"b"},"spec":{"containers":[{"resources":{"requests":{"memory":"4e18"}}}]}}]}`,
		`{"Pools":[{"metadata":{"name":"p"},"spec":{"limits":{"cpu":"1e18","nodes":"1"},"template":{"spec":{"requirements":[
			{"key":"team","operator":"Exists","minValues":50},{"key":"example.com/rack","operator":"NotIn","values":["r1"]}]}}}}],
			"Pods":[{"metadata":{"name":"a"},"spec":{"nodeSelector":{"team":"","kubernetes.io/hostname":"a new node"}}}]}`,
		`{"Pools":[{"metadata":{"name":"p"},"spec":{"weight":5,"template":{"metadata":{"labels":{"team":"red"}},"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}}},
			{"metadata":{"name":"q"},"spec":{"replicas":1}}],
			"Pods":[{"metadata":{"name":"a"},"spec":{"tolerations":[{"operator":"Exists"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
			{"matchExpressions":[{"key":"team","operator":"In","values":["red"]},{"key":"kubernetes.io/os","operator":"NotIn","values":["windows"]}]},
			{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}}}},{"metadata":{"name":"b"},"spec":{"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]}}],
			"Daemons":[{"metadata":{"name":"d"},"spec":{"containers":[{"resources":{"requests":{"cpu":"100m"}}}]}}],
			"Nodes":[{"Node":{"metadata":{"name":"n","labels":{"kubernetes.io/arch":"amd64"}},"status":{"allocatable":{"cpu":"2","memory":"4Gi","pods":"10"}}},
			"Pods":[{"metadata":{"name":"e"},"spec":{"nodeName":"n","overhead":{"cpu":"1"}}}]},
			{"Claim":{"metadata":{"name":"c","labels":{"karpenter.sh/nodepool":"p"}},"spec":{"requirements":[{"key":"team","operator":"Exists"}]}}}],"BestEffort":true}`,
		`{"Pools":[{"metadata":{"name":"p"}}],"Pods":[
			{"metadata":{"name":"a","labels":{"app":"x"}},"spec":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"x"}},"minDomains":2,"nodeTaintsPolicy":"Honor"}]}},
			{"metadata":{"name":"b","labels":{"app":"x"}},"spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchExpressions":[{"key":"app","operator":"Exists"}]},"namespaceSelector":{}}]}}}},
			{"metadata":{"name":"c","labels":{"app":"y"}},"spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"example.com/rack","labelSelector":{"matchLabels":{"app":"x"}},"matchLabelKeys":["app"]}]}}}},
			{"metadata":{"name":"d"},"spec":{"priority":7,"containers":[{"ports":[{"hostPort":80}]}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"gone"}}]}}],
			"Nodes":[{"Node":{"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"a"}},"status":{"allocatable":{"cpu":"2","memory":"4Gi","pods":"10"}}},
			"Pods":[{"metadata":{"name":"e","labels":{"app":"x"}},"spec":{"nodeName":"n","containers":[{"ports":[{"hostPort":80,"hostIP":"10.0.0.1","protocol":"UDP"}]}],"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{}}]}}}}]}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m manifests
		if json.Unmarshal(data, &m) != nil {
			return
		}
		opts := &provisioning.Options{MaxSteps: 500}
		if m.BestEffort {
			opts.MinValues = provisioning.BestEffort
		}
		checkPlan(t, m.input(), opts)
	})
}

// FuzzRichProblem draws problems of any mix of features. Who is overlooked is
// for TestLawPlans.
func FuzzRichProblem(f *testing.F) {
	f.Add(uint64(1), uint(0), 0)
	f.Add(uint64(2), uint(randproblem.All&^randproblem.Affinity), 1)
	f.Add(uint64(3), uint(randproblem.Volumes|randproblem.Buffers), 50)
	f.Add(uint64(4), uint(0), -1)
	f.Fuzz(func(t *testing.T, seed uint64, without uint, maxSteps int) {
		in, opts := richProblem(seed, randproblem.Config{Without: randproblem.Feature(without)})
		opts.MaxSteps, opts.Quick = max(0, maxSteps), maxSteps < 0
		where := fmt.Sprintf("seed %d, without %b, %d steps", seed, without, maxSteps)
		if plan := checkSolve(t, in, opts, where); plan != nil {
			require.Empty(t, verify.Plan(in, plan, opts), where)
			verify.Unplaced(in, plan, opts)
		}
	})
}

// checkPlan holds what is solved against the referee. Who is overlooked for the
// sake of rules between pods is for the laws, which count them.
func checkPlan(t *testing.T, in provisioning.Input, opts *provisioning.Options, where ...any) {
	t.Helper()
	plan := checkSolve(t, in, opts, where...)
	if plan == nil {
		return
	}
	require.Empty(t, verify.Plan(in, plan, opts), where...)
	overlooked := verify.Unplaced(in, plan, opts)
	if !slices.ContainsFunc(scenes.EveryPod(in), scenes.Picky) {
		require.Empty(t, overlooked, where...)
	}
}

// checkSolve asks for faults, or for a plan whose texts are in order, which it
// returns. where is a format and arguments for failures.
func checkSolve(t *testing.T, in provisioning.Input, opts *provisioning.Options, where ...any) *provisioning.Plan {
	t.Helper()
	problem, err := provisioning.Prepare(in, opts)
	if err != nil {
		require.NotEmpty(t, provisioning.Faults(err), where...)
		for _, fault := range provisioning.Faults(err) {
			require.NotEmpty(t, fault.Object, where...)
			require.NotContains(t, fault.Error(), "%!", where...)
		}
		return nil
	}
	plan, err := problem.Solve(context.Background())
	require.NoError(t, err, where...)
	for i := range plan.Create {
		plan.Create[i].NodeClaim()
		plan.Create[i].Request("token")
	}
	for _, u := range plan.Unplaced {
		require.NotEmpty(t, u.Explanation.String(), where...)
		require.NotContains(t, u.Explanation.String(), "\n", where...)
		require.NotContains(t, u.Explanation.String(), "%!", where...)
	}
	return plan
}

// TestRareFields: where pods, nodes and storage objects use every field that kube-scheduler
// reads, plans keep all rules, and pods with fields that are refused stay pending for that.
func TestRareFields(t *testing.T) {
	for seed := range testlong.Problems(3000, 150) {
		in, opts := richProblem(seed, randproblem.Config{With: randproblem.Fields})
		plan := solved(t, in, opts)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
		reasons := map[*corev1.Pod]*provisioning.Explanation{}
		for _, u := range plan.Unplaced {
			reasons[u.Pod] = u.Explanation
		}
		for _, pod := range in.Pods {
			declared := !slices.Contains([]string{"1.34", "1.35"}, opts.Kubernetes)
			if !usesRefused(pod, declared) {
				continue
			}
			require.NotNil(t, reasons[pod], "seed %d: pod %s has a field that is refused, and is placed", seed, pod.Name)
			require.Contains(t, []provisioning.Cause{
				provisioning.CauseUnsupported, provisioning.CauseGated, provisioning.CauseDeleting, provisioning.CauseOtherScheduler,
			}, reasons[pod].Cause, "seed %d: pod %s", seed, pod.Name)
		}
	}
}

// usesRefused says whether a pod has one of the fields that the list of fields calls refused.
// Declared says that kube-scheduler asks for the features that nodes declare.
func usesRefused(pod *corev1.Pod, declared bool) bool {
	if !declared {
		return pod.Spec.SchedulingGroup != nil
	}
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			if len(containers[i].RestartPolicyRules) > 0 {
				return true
			}
		}
	}
	return pod.Spec.SchedulingGroup != nil || pod.Spec.HostUsers != nil
}
