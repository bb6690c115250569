package compare_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// small is a catalog of small machines, which all pools share.
var small = sync.OnceValue(func() []*cloudprovider.InstanceType {
	types, err := catalog.New(&catalog.Options{
		Zones:    []catalog.Zone{{Name: "us-east-1a"}, {Name: "us-east-1b"}},
		Families: []string{"m6i", "m7g", "r6i", "c6i"},
		Where:    requirements.MustParse("karpenter.k8s.aws/instance-cpu < 9"),
	})
	if err != nil {
		panic(err)
	}
	return types
})

// pool returns a NodePool with defaults, in which nodes rest at once.
func pool(name string, asked ...v1.NodeSelectorRequirementWithMinValues) *v1.NodePool {
	p := &v1.NodePool{TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: "NodePool"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	p.Spec.Template.Spec.Requirements = asked
	zero := time.Duration(0)
	p.Spec.Disruption.ConsolidateAfter = v1.NillableDuration{Duration: &zero}
	p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "100%"}}
	p.Default()
	return p
}

func in(key string, values ...string) v1.NodeSelectorRequirementWithMinValues {
	return v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// pods are those of a Deployment.
func pods(workload string, n int, cpu, memory string) []*corev1.Pod {
	controller := true
	var out []*corev1.Pod
	for i := range n {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("%s-6f7d-%d", workload, i),
			Labels:          map[string]string{"app": workload, appsv1.DefaultDeploymentUniqueLabelKey: "6f7d"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: workload + "-6f7d", UID: "1", Controller: &controller}}}}
		p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}}}}
		out = append(out, p)
	}
	return out
}

// running returns a cluster in which pods run on nodes that were planned for them.
func running(pools []*v1.NodePool, pods []*corev1.Pod) compare.Side {
	types := map[string][]*cloudprovider.InstanceType{}
	shared := small()
	for _, p := range pools {
		types[p.Name] = shared
	}
	start := disruption.Input{Input: provisioning.Input{NodePools: pools, InstanceTypes: types, Pods: pods, Vocabulary: fake.Vocabulary()}}
	plan, err := provisioning.Solve(context.Background(), start.Input, nil)
	if err != nil {
		panic(err) // examples have no test
	}
	return compare.Side{Input: disruption.AfterPlan(noon.Add(-time.Hour), start, plan)}
}

// scaledDown returns a side in which some pods of workloads are there no more.
func scaledDown(s compare.Side, keep func(*corev1.Pod) bool) compare.Side {
	s.Input.Nodes = slices.Clone(s.Input.Nodes)
	for i := range s.Input.Nodes {
		s.Input.Nodes[i].Pods = slices.DeleteFunc(slices.Clone(s.Input.Nodes[i].Pods), func(p *corev1.Pod) bool { return !keep(p) })
	}
	return s
}

// random returns a cluster of some workloads and pools that has been scaled down here and there.
func random(seed uint64) compare.Side {
	r := rand.New(rand.NewPCG(seed, 3))
	chance := func(percent int) bool { return r.IntN(100) < percent }
	pools := []*v1.NodePool{pool("general", in(corev1.LabelArchStable, v1.ArchitectureAmd64))}
	if chance(60) {
		pools[0].Spec.Template.Spec.Requirements = append(pools[0].Spec.Template.Spec.Requirements, in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
	}
	if chance(30) {
		pools[0].Spec.Limits = v1.Limits{corev1.ResourceCPU: *resource.NewQuantity(4+r.Int64N(30), resource.DecimalSI)}
	}
	if chance(50) {
		weight := int32(10)
		other := pool("arm", in(corev1.LabelArchStable, v1.ArchitectureArm64))
		other.Spec.Weight = &weight
		if chance(50) {
			other.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "arch", Value: "arm64", Effect: corev1.TaintEffectNoSchedule}}
		}
		pools = append(pools, other)
	}
	var all []*corev1.Pod
	for i := range 2 + r.IntN(4) {
		name := fmt.Sprintf("app%d", i)
		list := pods(name, 1+r.IntN(6), []string{"250m", "500m", "1", "1900m"}[r.IntN(4)], []string{"512Mi", "2Gi", "5Gi"}[r.IntN(3)])
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
		spread, apart, chosen, preferred := chance(30), chance(20), chance(20), chance(20)
		for _, p := range list {
			if spread {
				p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector}}
			}
			if apart {
				p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: selector}}}}
			}
			if chosen {
				p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "us-east-1a"}
			}
			if preferred {
				p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{TopologyKey: corev1.LabelHostname, MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector})
			}
		}
		all = append(all, list...)
	}
	return scaledDown(running(pools, all), func(*corev1.Pod) bool { return !chance(25) })
}

// shuffled returns a side with its lists in another order.
func shuffled(s compare.Side, seed uint64) compare.Side {
	r := rand.New(rand.NewPCG(seed, 5))
	s.Input.Nodes, s.Input.Pods, s.Input.NodePools = slices.Clone(s.Input.Nodes), slices.Clone(s.Input.Pods), slices.Clone(s.Input.NodePools)
	r.Shuffle(len(s.Input.Nodes), func(i, j int) { s.Input.Nodes[i], s.Input.Nodes[j] = s.Input.Nodes[j], s.Input.Nodes[i] })
	r.Shuffle(len(s.Input.Pods), func(i, j int) { s.Input.Pods[i], s.Input.Pods[j] = s.Input.Pods[j], s.Input.Pods[i] })
	r.Shuffle(len(s.Input.NodePools), func(i, j int) {
		s.Input.NodePools[i], s.Input.NodePools[j] = s.Input.NodePools[j], s.Input.NodePools[i]
	})
	return s
}
