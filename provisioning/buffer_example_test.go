package provisioning_test

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Room for a fifth of a Deployment with 24 replicas, but for no more than four
// CPUs.
func ExampleBufferSpec_Count() {
	percentage, scaled := int32(20), int32(24)
	spec := provisioning.BufferSpec{
		Percentage:     &percentage,
		ScaledReplicas: &scaled,
		Limits:         resources.MustParse("cpu=4").ResourceList(),
	}
	for _, requests := range []string{"cpu=500m", "cpu=1500m"} {
		fmt.Println(spec.Count(bufferPodTemplate(requests)))
	}
	fmt.Println((&provisioning.BufferSpec{}).Count(bufferPodTemplate("cpu=1")))

	// Output:
	// 5 <nil>
	// 2 <nil>
	// 0 spec.replicas: Required value: nothing says how large the buffer is; set replicas, limits, or a percentage with a scalableRef
}

// What a scheduler sees of a buffer.
func ExampleBuffer_Pods() {
	buffer := provisioning.Buffer{Namespace: "shop", Name: "spare", Template: *bufferPodTemplate("cpu=1"), Replicas: 2}
	for _, pod := range buffer.Pods() {
		fmt.Println(pod.Namespace, pod.Name, pod.UID, *pod.Spec.Priority)
	}

	// Output:
	// shop capacity-buffer-spare-0 shop/spare-0 -2147483648
	// shop capacity-buffer-spare-1 shop/spare-1 -2147483648
}

// Virtual pods turn up wherever pods do, and can be told from real ones.
func ExampleBufferOf() {
	buffer := provisioning.Buffer{Namespace: "shop", Name: "spare", Replicas: 1}
	fmt.Println(provisioning.BufferOf(buffer.Pods()[0]))
	fmt.Println(provisioning.BufferOf(shopPod("web-0", "cpu=1")))

	// Output:
	// shop spare true
	//   false
}

func ExampleBufferStatus_Conditions() {
	status := provisioning.BufferStatus{Namespace: "shop", Name: "spare", Existing: 3, Fresh: 2}
	for _, c := range status.Conditions() {
		fmt.Printf("%s=%s %s %q\n", c.Type, c.Status, c.Reason, c.Message)
	}

	// Output:
	// Provisioning=False RequiresNewCapacity "of 5 pods, 3 fit on existing nodes, 2 wait for new ones and 0 have no place"
	// ReadyForProvisioning=True Resolved ""
}

func ExampleUnresolvedBuffer() {
	for _, c := range provisioning.UnresolvedBuffer(provisioning.ReasonScalableRefNotFound, "there is no Deployment web") {
		fmt.Printf("%s=%s %s %q\n", c.Type, c.Status, c.Reason, c.Message)
	}

	// Output:
	// Provisioning=False NotReadyForProvisioning ""
	// ReadyForProvisioning=False ScalableRefNotFound "there is no Deployment web"
}
