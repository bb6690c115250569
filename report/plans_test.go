package report

import (
	"fmt"
	"math/rand"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	overlays "github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// testPod returns a pod of a Deployment, or one without an owner if that is empty.
func testPod(namespace, deployment, name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	pod.Spec.Containers = []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{
		Requests: resources.MustParse("cpu=500m, memory=1Gi").ResourceList(),
	}}}
	if deployment != "" {
		pod.Labels = map[string]string{"pod-template-hash": "abc"}
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: deployment + "-abc", Controller: new(true)}}
	}
	return pod
}

func testPool(name string) *v1.NodePool {
	return &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func testOption(name, zone, capacityType string, price float64) cloudprovider.LaunchOption {
	return cloudprovider.LaunchOption{
		InstanceType: &cloudprovider.InstanceType{Name: name, Capacity: resources.MustParse("cpu=4, memory=16Gi, pods=58")},
		Offering:     &cloudprovider.Offering{Zone: zone, CapacityType: capacityType, Price: price, Available: true},
	}
}

func testReason(detail string) *provisioning.Explanation {
	return &provisioning.Explanation{Cause: provisioning.CauseUnsupported, Detail: detail}
}

// words joins random words of names, some of them very long.
func words(r *rand.Rand, most int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-."
	text := make([]byte, 1+r.Intn(most))
	for i := range text {
		text[i] = letters[r.Intn(len(letters))]
	}
	return string(text)
}

// randomPlan makes up a plan, likely or not.
func randomPlan(r *rand.Rand) (provisioning.Input, *provisioning.Plan) {
	in, plan := provisioning.Input{}, &provisioning.Plan{Stats: provisioning.Stats{Classes: r.Intn(1e6), Options: r.Intn(1e9), Steps: r.Intn(1e9)}}
	longest := []int{3, 12, 60, 250}[r.Intn(4)]
	names := make([]string, 1+r.Intn(12))
	for i := range names {
		names[i] = words(r, longest)
	}
	name := func() string { return names[r.Intn(len(names))] }
	pods := func() []*corev1.Pod {
		list := make([]*corev1.Pod, 1+r.Intn(1<<r.Intn(10)))
		for i := range list {
			owner := name()
			if r.Intn(9) == 0 {
				owner = ""
			}
			list[i] = testPod(name(), owner, fmt.Sprint(words(r, longest), i))
		}
		in.Pods = append(in.Pods, list...)
		return list
	}
	for range r.Intn(8) {
		price := r.ExpFloat64()
		if r.Intn(5) == 0 {
			price *= float64([]float64{1e3, 1e6, 1e12, 1e300}[r.Intn(4)])
		}
		n := provisioning.NewNode{Pool: testPool(name()), Pods: pods(), MinValuesRelaxed: r.Intn(5) == 0,
			Requirements: requirements.MustParse("a in (b, c), node.kubernetes.io/instance-type minvalues 2"), Requests: resources.MustParse("cpu=3, memory=1Gi")}
		for range 1 + r.Intn(1<<r.Intn(12)) {
			n.Options = append(n.Options, testOption(name(), name(), name(), price))
		}
		plan.Create = append(plan.Create, n)
		plan.Cost += price
	}
	plan.LowerBound = plan.Cost * r.Float64()
	for range r.Intn(5) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name(), Labels: map[string]string{"topology.kubernetes.io/zone": name()}}}
		in.Nodes = append(in.Nodes, provisioning.Node{Node: node})
		plan.Bind = append(plan.Bind, provisioning.Binding{Node: node.Name, Pods: pods()})
	}
	for range r.Intn(5) {
		reason := testReason(words(r, 400) + " " + words(r, 40) + " \x1b[31m\u202e " + words(r, 9))
		for _, pod := range pods() {
			plan.Unplaced = append(plan.Unplaced, provisioning.Unplaced{Pod: pod, Explanation: reason})
		}
	}
	for range r.Intn(4) {
		pool := testPool(name())
		pool.Spec.Replicas = new(r.Int63())
		plan.Static = append(plan.Static, provisioning.StaticPool{Pool: pool, Active: r.Intn(1e9), Missing: r.Intn(1e9), HeldBack: r.Intn(3),
			Held: words(r, 200), Excess: r.Intn(9), Remove: names[:r.Intn(len(names))],
			Options: []cloudprovider.LaunchOption{testOption(name(), name(), name(), r.ExpFloat64())}})
		plan.Buffers = append(plan.Buffers, provisioning.BufferStatus{Namespace: name(), Name: name(), Existing: r.Intn(1e9), Unplaced: 1, Explanation: testReason(words(r, 300))})
		status := overlays.Status{Name: name(), Offerings: r.Intn(2) * r.Intn(1e9)}
		if r.Intn(2) == 0 {
			status.Conflicts = []overlays.Conflict{{Offering: cloudprovider.OfferingKey{InstanceType: name()}, With: names}}
		}
		plan.Overlays = append(plan.Overlays, status)
	}
	return in, plan
}
