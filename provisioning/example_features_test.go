package provisioning_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// labelled gives pods a label that constraints can select.
func labelled(pods []*corev1.Pod) *metav1.LabelSelector {
	for _, pod := range pods {
		pod.Labels = map[string]string{"app": "web"}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
}

// printZones shows how many pods each new node takes, and the zones where it may
// come up.
func printZones(plan *provisioning.Plan) {
	for _, node := range plan.Create {
		var zones []string
		for _, option := range node.Options {
			if zone := option.Offering.Zone; !strings.Contains(strings.Join(zones, " "), zone) {
				zones = append(zones, zone)
			}
		}
		fmt.Printf("%s: %d pods, %s\n", node.Name, len(node.Pods), strings.Join(zones, " or "))
	}
}

// Pods that are spread over zones get nodes in several of them, each pinned to
// its zone.
func ExampleSolve_topologySpread() {
	in := shop()
	web := labelled(in.Pods)
	for _, pod := range in.Pods {
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: web,
		}}
	}
	printZones(solveShop(in))

	// Output:
	// general-0001: 4 pods, us-east-1a
	// general-0002: 2 pods, us-east-1b
	// general-0003: 1 pods, us-east-1b
}

// One pod a node: as many nodes as pods, of the cheapest type that holds one,
// in one plan.
func ExampleSolve_antiAffinity() {
	in := shop()
	in.Pods = in.Pods[:3]
	web := labelled(in.Pods)
	for _, pod := range in.Pods {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: corev1.LabelHostname, LabelSelector: web,
			}},
		}}
	}
	printZones(solveShop(in))

	// Output:
	// general-0001: 1 pods, us-east-1b or us-east-1a
	// general-0002: 1 pods, us-east-1b or us-east-1a
	// general-0003: 1 pods, us-east-1b or us-east-1a
}

// The pod goes where its volume is.
func ExampleSolve_volume() {
	in := shop()
	in.Pods = in.Pods[:1]
	in.Pods[0].Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "data", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"},
	}}
	claim.Spec.VolumeName, claim.Status.Phase = "disk-1", corev1.ClaimBound
	disk := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk-1"}}
	disk.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"us-east-1b"},
		}},
	}}}}
	in.Volumes.Claims = []*corev1.PersistentVolumeClaim{claim}

	fmt.Println(solveShop(in).Unplaced[0].Explanation)
	in.Volumes.Volumes = []*corev1.PersistentVolume{disk}
	printZones(solveShop(in))

	// Output:
	// PersistentVolumeClaim "shop/data" is bound to volume "disk-1", which does not exist; bring the volume back or create the claim anew
	// general-0001: 1 pods, us-east-1b
}

// A fault of one pod keeps that pod pending, and nobody else.
func ExampleSolve_faultOfAPod() {
	in := shop()
	in.Pods[0].Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("-1")
	plan, err := provisioning.Solve(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, u := range plan.Unplaced {
		fmt.Printf("%s: %s\n", u.Explanation.Cause, u.Explanation)
	}
	fmt.Printf("%d pods have a place\n", len(plan.Order))

	// Output:
	// Invalid: container main: resource cpu: -1: negative request; use zero or more
	// 6 pods have a place
}

// Constraints that a cluster gives to pods that have none of their own. What
// counts as alike is deduced from the Services that select a pod.
func ExampleOptions_defaultSpread() {
	in := shop()
	labelled(in.Pods)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	service.Spec.Selector = map[string]string{"app": "web"}
	in.Services = []*corev1.Service{service}
	plan, err := provisioning.Solve(context.Background(), in, &provisioning.Options{
		DefaultSpread: []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	printZones(plan)

	// Output:
	// general-0001: 4 pods, us-east-1a
	// general-0002: 2 pods, us-east-1b
	// general-0003: 1 pods, us-east-1b
}

// A quick plan answers at once whether pods fit and about what they cost; the full
// search also proves how much less it could be at most.
func ExampleOptions_quick() {
	in := shop()
	for i := range 40 {
		in.Pods = append(in.Pods, shopPod(fmt.Sprintf("job-%d", i), fmt.Sprintf("cpu=%dm, memory=%dMi", 200+35*i, 512+67*i)))
	}
	for _, opts := range []provisioning.Options{{Quick: true}, {}} {
		plan, err := provisioning.Solve(context.Background(), in, &opts)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.3f USD/h, at least %.3f, %d pods left over\n", plan.Cost, plan.LowerBound, len(plan.Unplaced))
	}
	// Output:
	// 0.713 USD/h, at least 0.000, 0 pods left over
	// 0.713 USD/h, at least 0.688, 0 pods left over
}

// A plan says which preferences it gives up, and why: arm64 costs too much more, and no
// node can be launched in the zone.
func ExampleGivenUpPreference_String() {
	in := shop()
	prefer := func(weight int32, key, value string) corev1.PreferredSchedulingTerm {
		return corev1.PreferredSchedulingTerm{Weight: weight, Preference: corev1.NodeSelectorTerm{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}},
		}}
	}
	for _, pod := range in.Pods {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				prefer(10, corev1.LabelArchStable, "arm64"), prefer(10, corev1.LabelTopologyZone, "us-east-1c"),
			},
		}}
	}
	plan := solveShop(in)
	for i := range plan.GivenUp {
		given := &plan.GivenUp[i]
		fmt.Printf("%d pods, %s: %s\n", len(given.Pods), given.Cause, given)
	}

	// Output:
	// 7 pods, Cost: preferred node affinity of weight 10 to kubernetes.io/arch = arm64: it costs 31.1% more for each pod, and PreferenceCost allows 1%
	// 7 pods, Unavailable: preferred node affinity of weight 10 to topology.kubernetes.io/zone = us-east-1c: no new node can satisfy it; NodePool general: no instance type of the pool has topology.kubernetes.io/zone = us-east-1c
}
