package snippets_test

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func Example_unplaced() {
	gpu := pool("gpu", "karpenter.k8s.aws/instance-family = g4dn")
	gpu.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "nvidia.com/gpu", Value: "true", Effect: corev1.TaintEffectNoSchedule}}
	general := pool("general", "kubernetes.io/arch = amd64, karpenter.k8s.aws/instance-category in (c, m)")
	in := snapshot([]*v1.NodePool{general, gpu}, pod("forecast", "cpu=500, memory=64Gi"))
	plan, err := provisioning.Solve(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	reason := plan.Unplaced[0].Explanation
	fmt.Printf("in one line:\n%s\nat length:\n%s\n", reason, reason.Report())
	fmt.Println("as data:", reason.Cause, reason.Pools[0].NodePool, reason.Pools[0].Cause, reason.Pools[0].Shortfalls[0].Resource)

	// Output:
	// in one line:
	// NodePool general: the pod asks for cpu=500, but no suitable instance type has more than 382.97 (m8i.96xlarge); NodePool gpu: its taint nvidia.com/gpu=true:NoSchedule is not tolerated
	// at length:
	// NodePool general
	//     2512 ways to launch a node
	//    -2512  room for cpu=500
	//   nearest miss: needs cpu=500, largest allowed 382.97 (m8i.96xlarge)
	// NodePool gpu
	//   its taint nvidia.com/gpu=true:NoSchedule is not tolerated
	//
	// as data: NodePools general Resources cpu
}

func Example_why() {
	general := pool("general", "karpenter.k8s.aws/instance-family in (m6g, m6i, c6i)")
	in := snapshot([]*v1.NodePool{general}, pod("web", "cpu=2, memory=6Gi", func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{"kubernetes.io/arch": "amd64"}
	}))
	plan, err := provisioning.Solve(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, machine := range []string{"c6i.xlarge", "m6i.xlarge", "m6i.large", "m6g.xlarge", "m7i.xlarge"} {
		why, err := plan.Why("general-0001", machine)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(why)
	}

	// Output:
	// c6i.xlarge/us-east-1c/spot is the cheapest option of node general-0001
	// m6i.xlarge/us-east-1c/spot is option 5 of node general-0001, 0.0134 USD/h dearer than the cheapest
	// m6i.large/us-east-1d/spot is no option of node general-0001: pods and daemons of the node need cpu=2000m, and it has 1930m
	// m6g.xlarge/us-east-1b/spot is no option of node general-0001: the pods of the node want kubernetes.io/arch = amd64
	// m7i.xlarge/us-east-1d/spot is no option of node general-0001: NodePool general wants karpenter.k8s.aws/instance-family in (c6i, m6g, m6i)
}

func Example_blocked() {
	in := cluster(map[string][]*corev1.Pod{
		"n1": {pod("import", "cpu=1", func(p *corev1.Pod) { p.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"} })},
		"n2": {pod("web", "cpu=1")},
	}, "n1", "n2")
	in.Nominations = map[string]time.Time{"n2": noon.Add(20 * time.Second)}
	fleet, err := disruption.Observe(noon, in, nil)
	if err != nil {
		log.Fatal(err)
	}
	_, blocked := fleet.Candidates(disruption.MethodConsolidation)
	for _, b := range blocked {
		fmt.Println(b)
		fmt.Printf("  code %s, object %q\n", b.Code, b.Object)
	}

	// Output:
	// Consolidation of n1: Pod "shop/import" has the annotation karpenter.sh/do-not-disrupt
	//   code DoNotDisrupt, object "Pod \"shop/import\""
	// Consolidation of n2: a place on it was promised to a pending pod, until 2026-03-02T12:00:20Z
	//   code Nominated, object ""
}
