package device_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
)

// Two classes overlap: a large GPU is a GPU. Four pods that want one GPU each
// and one that wants a large one do not fit on a machine with four, whichever
// way they are told apart.
func ExampleIndex_Count() {
	x, err := device.New(device.Objects{
		Classes: []*resourcev1.DeviceClass{class("gpu.example.com", "gpu"), class("large.example.com", "gpu", "big")},
		Templates: []*resourcev1.ResourceClaimTemplate{
			template("one", exactly("gpu", "gpu.example.com", 1)),
			template("large", exactly("gpu", "large.example.com", 1)),
		},
		Matcher: words{},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	needs := x.Needs([]*corev1.Pod{pod("web", "one"), pod("train", "large")})
	machine := shape("g4", some(3, "gpu"), some(1, "gpu", "big"))
	counts := x.Count(needs, []*cloudprovider.InstanceType{machine})
	fmt.Println("web needs:")
	lists, _ := counts.Requests(&needs[0])
	fmt.Println(render(lists[0]))
	fmt.Println("a g4 has:")
	fmt.Println(render(counts.OfType(machine)))
	// Output:
	// web needs:
	// 1 device of class gpu.example.com
	// 1 device of class gpu.example.com or of class large.example.com
	// a g4 has:
	// 4 devices of class gpu.example.com
	// 4 devices of class gpu.example.com or of class large.example.com
	// 1 device of class large.example.com
}

func ExampleAmount() {
	text, ok := device.Amount("devices of class gpu.example.com", 1)
	fmt.Println(text, ok)
	text, ok = device.Amount("cpu", 1)
	fmt.Println(text, ok)
	// Output:
	// 1 device of class gpu.example.com true
	//  false
}

func ExampleNew() {
	_, err := device.New(device.Objects{Classes: []*resourcev1.DeviceClass{class("gpu"), class("gpu")}}, nil)
	fmt.Println(err)
	// Output:
	// DeviceClass "gpu": is listed twice; list each object once
}

// What is not modelled comes with its name.
func ExampleIndex_Needs() {
	access := exactly("watch", "gpu", 1)
	yes := true
	access.Exactly.AdminAccess = &yes
	x, err := device.New(device.Objects{
		Classes:   []*resourcev1.DeviceClass{class("gpu")},
		Templates: []*resourcev1.ResourceClaimTemplate{template("monitor", access)},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, need := range x.Needs([]*corev1.Pod{pod("a", "monitor"), pod("b", "other")}) {
		fmt.Println(need.Refusal.Unsupported, need.Refusal.Text)
	}
	// Output:
	// true resource claim c0 (ResourceClaimTemplate shop/monitor): request watch: adminAccess
	// false resource claim c0 (ResourceClaimTemplate shop/other): there is no such template
}
