package verify_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// wreck makes nonsense of a part of an input or plan.
type wreck func(r *rand.Rand, in *provisioning.Input, plan *provisioning.Plan)

func wrecks() []wreck {
	enormous := resources.New(map[corev1.ResourceName]int64{"cpu": math.MaxInt64, "memory": math.MaxInt64, "pods": math.MinInt64})
	return []wreck{
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) {
			in.Pods = append(in.Pods, nil, &corev1.Pod{}, &corev1.Pod{})
		},
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) {
			in.DaemonSetPods = append(in.DaemonSetPods, nil)
		},
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) {
			in.NodePools = append(in.NodePools, nil, &v1.NodePool{})
		},
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) {
			in.Nodes = append(in.Nodes, provisioning.Node{}, provisioning.Node{Pods: []*corev1.Pod{nil}}, provisioning.Node{Node: &corev1.Node{}})
		},
		func(r *rand.Rand, in *provisioning.Input, plan *provisioning.Plan) {
			odd := &v1.NodeClaim{}
			odd.Name = "odd"
			odd.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "k"}, {Operator: corev1.NodeSelectorOpIn}}
			in.Nodes = append(in.Nodes, provisioning.Node{NodeClaim: odd}, provisioning.Node{NodeClaim: &v1.NodeClaim{}})
			for i := range in.Nodes {
				if claim := in.Nodes[i].NodeClaim; claim != nil && r.IntN(2) == 0 {
					in.Nodes[i].Node, claim.Status = nil, v1.NodeClaimStatus{}
				}
			}
			plan.Bind = append(plan.Bind, provisioning.Binding{Node: "odd", Pods: in.Pods})
		},
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) {
			for name := range in.InstanceTypes {
				in.InstanceTypes[name] = append(in.InstanceTypes[name], nil, &cloudprovider.InstanceType{})
			}
		},
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) { in.InstanceTypes = nil },
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) {
			for _, types := range in.InstanceTypes {
				for _, t := range types {
					if t != nil {
						t.Capacity, t.Overhead.KubeReserved, t.Overhead.SystemReserved = enormous, enormous, enormous
					}
				}
			}
		},
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) {
			for _, pod := range in.Pods {
				if pod != nil {
					pod.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse("9223372036854775"), "no name": {}}
					pod.Spec.NodeSelector = map[string]string{"": "", "no key!": "\xff"}
				}
			}
		},
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) {
			for i := range in.Nodes {
				if in.Nodes[i].Node != nil {
					in.Nodes[i].Node.Name, in.Nodes[i].Node.Labels = "same", nil
					in.Nodes[i].Node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("-1"), "memory": resource.MustParse("1e30")}
				}
				if in.Nodes[i].NodeClaim != nil {
					in.Nodes[i].NodeClaim.Name, in.Nodes[i].NodeClaim.Labels = "", nil
				}
			}
		},
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) {
			broken := []v1.NodeSelectorRequirementWithMinValues{{}, {Key: "k", Operator: "Gt", Values: []string{"x"}}}
			for _, pool := range in.NodePools {
				if pool != nil {
					pool.Spec.Template.Spec.Requirements = broken
					pool.Spec.Template.Spec.NodeClassRef = nil
					pool.Spec.Limits = v1.Limits{"cpu": resource.MustParse("-9223372036854775807"), "": {}}
				}
			}
		},
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) {
			for i := range in.Nodes {
				for _, pod := range in.Nodes[i].Pods {
					if pod != nil {
						pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
							RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}, {LabelSelector: &metav1.LabelSelector{
								MatchExpressions: []metav1.LabelSelectorRequirement{{Operator: "Near"}},
							}}},
						}}
					}
				}
			}
		},
		func(r *rand.Rand, _ *provisioning.Input, plan *provisioning.Plan) {
			plan.Create = append(plan.Create, provisioning.NewNode{}, provisioning.NewNode{Pool: &v1.NodePool{}})
		},
		func(r *rand.Rand, _ *provisioning.Input, plan *provisioning.Plan) {
			for i := range plan.Create {
				n := &plan.Create[i]
				switch r.IntN(6) {
				case 0:
					n.Pool = nil
				case 1:
					n.Options = nil
				case 2:
					n.Options = append(n.Options, cloudprovider.LaunchOption{}, cloudprovider.LaunchOption{InstanceType: &cloudprovider.InstanceType{}, Offering: &cloudprovider.Offering{Price: math.NaN()}})
				case 3:
					n.Pods = append(n.Pods, nil, &corev1.Pod{}, nil)
				case 4:
					n.Requirements = requirements.NewSet(requirements.In("k"), requirements.Exists("l"), requirements.NotIn(""))
				case 5:
					n.Requests, n.Daemons = enormous, enormous
				}
			}
		},
		func(r *rand.Rand, _ *provisioning.Input, plan *provisioning.Plan) {
			plan.Bind = append(plan.Bind, provisioning.Binding{}, provisioning.Binding{Pods: []*corev1.Pod{nil}}, provisioning.Binding{Node: "same", Pods: []*corev1.Pod{{}}})
		},
		func(r *rand.Rand, _ *provisioning.Input, plan *provisioning.Plan) {
			plan.Unplaced = append(plan.Unplaced, provisioning.Unplaced{}, provisioning.Unplaced{Explanation: &provisioning.Explanation{}},
				provisioning.Unplaced{Pod: &corev1.Pod{}, Explanation: &provisioning.Explanation{Pools: []provisioning.PoolExplanation{{}}}})
		},
		func(r *rand.Rand, in *provisioning.Input, plan *provisioning.Plan) {
			plan.Order = append(plan.Order, nil, &corev1.Pod{}, &corev1.Pod{})
			r.Shuffle(len(plan.Order), func(i, j int) { plan.Order[i], plan.Order[j] = plan.Order[j], plan.Order[i] })
		},
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) {
			for _, pod := range in.Pods {
				if pod != nil {
					wreckPod(r, pod)
				}
			}
			for i := range in.Nodes {
				for _, pod := range in.Nodes[i].Pods {
					if pod != nil {
						wreckPod(r, pod)
					}
				}
			}
		},
		func(r *rand.Rand, in *provisioning.Input, _ *provisioning.Plan) {
			in.Namespaces = []*corev1.Namespace{nil, {}}
			in.Overlays = []*v1.NodeOverlay{nil, {}}
			in.Services = []*corev1.Service{nil, {}}
			in.Controllers = []provisioning.Controller{{}, {Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{}}}}}
			in.Volumes = provisioning.Volumes{
				Claims:  []*corev1.PersistentVolumeClaim{nil, {}, {ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}}},
				Volumes: []*corev1.PersistentVolume{nil, {}, {Spec: corev1.PersistentVolumeSpec{NodeAffinity: &corev1.VolumeNodeAffinity{}}}},
				Classes: []*storagev1.StorageClass{nil, {}}, CSINodes: []*storagev1.CSINode{nil, {}},
			}
			in.Devices = provisioning.Devices{
				Claims:    []*resourcev1.ResourceClaim{nil, {}, {Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{}}}},
				Templates: []*resourcev1.ResourceClaimTemplate{nil, {}}, Classes: []*resourcev1.DeviceClass{nil, {}},
				Slices: []*resourcev1.ResourceSlice{nil, {}},
			}
		},
		func(r *rand.Rand, _ *provisioning.Input, plan *provisioning.Plan) {
			plan.Cost, plan.LowerBound = math.Inf(1), math.NaN()
		},
	}
}

// wreckPod gives a pod constraints that make little sense.
func wreckPod(r *rand.Rand, pod *corev1.Pod) {
	odd := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a b", Operator: "In"}}}
	policy := corev1.NodeInclusionPolicy("Perhaps")
	least := int32(-1)
	terms := []corev1.PodAffinityTerm{{}, {TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{}, MatchLabelKeys: []string{"", "app", "app"}}}
	if r.IntN(3) == 0 {
		terms = append(terms, corev1.PodAffinityTerm{LabelSelector: odd, NamespaceSelector: odd})
	}
	constraints := []corev1.TopologySpreadConstraint{
		{WhenUnsatisfiable: corev1.DoNotSchedule}, {WhenUnsatisfiable: "Never", LabelSelector: odd},
		{WhenUnsatisfiable: corev1.DoNotSchedule, TopologyKey: corev1.LabelHostname, MaxSkew: math.MinInt32, MinDomains: &least, NodeAffinityPolicy: &policy, LabelSelector: &metav1.LabelSelector{}},
	}
	pod.Spec.TopologySpreadConstraints = constraints[:r.IntN(4)]
	pod.Spec.Affinity = &corev1.Affinity{
		PodAffinity:     &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms[:r.IntN(len(terms))]},
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms[:r.IntN(len(terms))]},
	}
	name := "c"
	pod.Spec.Volumes = []corev1.Volume{
		{}, {Name: "e", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}},
		{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}},
		{VolumeSource: corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{""}}}},
	}[r.IntN(5):]
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{}, {ResourceClaimName: &name}, {ResourceClaimTemplateName: &name}}[r.IntN(4):]
	pod.Spec.InitContainers = []corev1.Container{{Ports: []corev1.ContainerPort{{HostPort: -1}, {HostPort: 1, Protocol: "?", HostIP: "?"}}}}
}

// checkGarbage wrecks a problem and its plan in the ways that the bits of which
// choose, and asks only that both judges come back with sorted one-line answers.
func checkGarbage(t *testing.T, seed, which uint64) {
	t.Helper()
	in := randproblem.New(seed)
	plan := solved(t, in, nil, "seed %d", seed)
	r := rand.New(rand.NewPCG(seed, which))
	for i, w := range wrecks() {
		if which>>i&1 == 1 {
			w(r, &in, plan)
		}
	}
	opts := &provisioning.Options{
		DefaultSpread: []corev1.TopologySpreadConstraint{{}, {WhenUnsatisfiable: corev1.DoNotSchedule, TopologyKey: "zone"}}[:r.IntN(3)],
		MinValues:     provisioning.MinValuesPolicy([]string{"", "Strict", "BestEffort", "Nonsense"}[r.IntN(4)]),
	}
	for _, found := range [][]verify.Violation{verify.Plan(in, plan, opts), verify.Unplaced(in, plan, opts)} {
		for i, v := range found {
			require.NotEmpty(t, v.Rule)
			require.NotEmpty(t, v.Message)
			require.NotContains(t, v.String(), "\n")
			require.NotContains(t, v.String(), "%!")
			require.True(t, i == 0 || compareLines(found[i-1], v) < 0, "not sorted, or listed twice: %v", v)
		}
	}
}

func TestTakesGarbage(t *testing.T) {
	all := uint64(1)<<len(wrecks()) - 1
	for seed := range lawSeeds(600, 100) {
		checkGarbage(t, seed, seed*0x9e3779b97f4a7c15>>7&all)
	}
	for i := range wrecks() {
		for seed := range uint64(testlong.Seeds(6, 20)) {
			checkGarbage(t, seed, 1<<i)
		}
	}
	checkGarbage(t, 3, all)
}

func FuzzPlan(f *testing.F) {
	f.Add(uint64(0), uint64(0))
	f.Add(uint64(17), uint64(0xffff))
	f.Fuzz(func(t *testing.T, seed, which uint64) { checkGarbage(t, seed, which) })
}
