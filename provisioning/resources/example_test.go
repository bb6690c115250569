package resources_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func Example() {
	allocatable := resources.MustParse("cpu=3920m, memory=14Gi, pods=58")
	used := resources.MustParse("cpu=3500m, memory=4Gi, pods=12")
	free, err := allocatable.Sub(used)
	if err != nil {
		fmt.Println(err)
		return
	}
	requests := resources.MustParse("cpu=500m, memory=1Gi, pods=1")
	fmt.Println("free:", free)
	fmt.Println("fits:", requests.Fits(free))
	fmt.Println("in the way:", requests.Exceeds(free))
	// Output:
	// free: cpu=420m, memory=10Gi, pods=46
	// fits: false
	// in the way: [cpu]
}

func ExampleNew() {
	fmt.Println(resources.New(map[corev1.ResourceName]int64{
		corev1.ResourcePods:   29,
		corev1.ResourceCPU:    1500,    // milli-CPU
		corev1.ResourceMemory: 8 << 30, // bytes
	}))
	// Output: cpu=1500m, memory=8Gi, pods=29
}

func ExampleParse() {
	l, err := resources.Parse("pods=29, memory=8192Mi, cpu=0.5")
	fmt.Println(l, err)
	_, err = resources.Parse("cpu=two, memory")
	fmt.Println(err)
	// Output:
	// cpu=500m, memory=8Gi, pods=29 <nil>
	// resource cpu: "two" is not a quantity; write a number with an optional suffix, as in 500m, 2 or 8Gi
	// "memory": no "=" in it; write name=quantity, as in cpu=2
}

func ExampleMustParse() {
	fmt.Println(resources.MustParse("cpu=2").Get(corev1.ResourceCPU))
	// Output: 2000
}

func ExampleFromResourceList() {
	l, err := resources.FromResourceList(corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("0.1"),
		corev1.ResourceMemory: resource.MustParse("128974848000m"),
	})
	fmt.Println(l, err)
	// Output: cpu=100m, memory=123Mi <nil>
}

func ExampleList_ResourceList() {
	memory := resources.MustParse("memory=1610612736").ResourceList()[corev1.ResourceMemory]
	fmt.Println(memory.String())
	// Output: 1536Mi
}

func ExampleList_Lookup() {
	limits := resources.MustParse("nvidia.com/gpu=0")
	for _, name := range []corev1.ResourceName{"nvidia.com/gpu", "cpu"} {
		limit, listed := limits.Lookup(name)
		fmt.Println(name, limit, listed)
	}
	// Output:
	// nvidia.com/gpu 0 true
	// cpu 0 false
}

func ExampleList_All() {
	for name, amount := range resources.MustParse("memory=1Ki, cpu=1").All() {
		fmt.Println(name, amount)
	}
	// Output:
	// cpu 1000
	// memory 1024
}

func ExampleList_Add() {
	sum, err := resources.MustParse("cpu=1, pods=1").Add(resources.MustParse("cpu=500m, memory=1Gi"))
	fmt.Println(sum, err)
	// Output: cpu=1500m, memory=1Gi, pods=1 <nil>
}

func ExampleList_Mul() {
	total, err := resources.MustParse("cpu=250m, pods=1").Mul(8)
	fmt.Println(total, err)
	// Output: cpu=2, pods=8 <nil>
}

func ExampleList_Merge() {
	base := resources.MustParse("cpu=4, nvidia.com/gpu=1")
	override := resources.MustParse("nvidia.com/gpu=0")
	fmt.Println(base.Merge(override))
	// Output: cpu=4, nvidia.com/gpu=0
}

func ExampleList_Max() {
	a, b := resources.MustParse("cpu=4, memory=1Gi"), resources.MustParse("cpu=2, pods=3")
	fmt.Println(a.Max(b))
	fmt.Println(a.Min(b))
	// Output:
	// cpu=4, memory=1Gi, pods=3
	// cpu=2, memory=0, pods=0
}

func ExampleList_Exceeds() {
	requests := resources.MustParse("cpu=1, nvidia.com/gpu=1, pods=1")
	fmt.Println(requests.Exceeds(resources.MustParse("cpu=4, pods=58")))
	// A negative amount means that nothing fits, whatever is asked for.
	fmt.Println(requests.Exceeds(resources.MustParse("cpu=4, memory=-1Gi, nvidia.com/gpu=1, pods=58")))
	// Output:
	// [nvidia.com/gpu]
	// [memory]
}

func ExamplePodRequests() {
	always := corev1.ContainerRestartPolicyAlways
	cpu := func(text string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(text)}}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{
				{Name: "proxy", Resources: cpu("1"), RestartPolicy: &always}, // a sidecar
				{Name: "setup", Resources: cpu("3")},
			},
			Containers: []corev1.Container{{Name: "main", Resources: cpu("2")}},
		},
	}
	fmt.Println(resources.PodRequests(pod))
	pod.Spec.Containers[0].Resources = cpu("-2")
	_, err := resources.PodRequests(pod)
	fmt.Println(err)
	// Output:
	// cpu=4, pods=1 <nil>
	// pod shop/cart: container main: resource cpu: -2: negative request; use zero or more
}

func ExampleFormat() {
	fmt.Println(resources.Format(corev1.ResourceCPU, 1500))
	fmt.Println(resources.Format(corev1.ResourceMemory, 3<<29))
	fmt.Println(resources.Format(corev1.ResourcePods, 29))
	// Output:
	// 1500m
	// 1536Mi
	// 29
}
