package devicecel_test

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/cloudprovider/devicecel"
)

// gpu returns a device as a driver would publish it.
func gpu(model, memory string) *resourcev1.Device {
	return &resourcev1.Device{
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model}},
		Capacity:   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(memory)}},
	}
}

func selector(expression string) resourcev1.DeviceSelector {
	return resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}
}

func ExampleNew() {
	matcher := devicecel.New()
	large := selector(`device.driver == "gpu.example.com" &&
		device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0`)
	for _, memory := range []string{"24Gi", "80Gi"} {
		ok, err := matcher.Matches(large, "gpu.example.com", gpu("a1", memory))
		fmt.Println(memory, ok, err)
	}
	// Output:
	// 24Gi false <nil>
	// 80Gi true <nil>
}

func ExampleMatcher_Matches_missingAttribute() {
	matcher := devicecel.New()
	_, err := matcher.Matches(selector(`device.attributes["gpu.example.com"].family == "x"`), "gpu.example.com", gpu("a1", "24Gi"))
	fmt.Println(err)
	ok, err := matcher.Matches(selector(`has(device.attributes["gpu.example.com"].family)`), "gpu.example.com", gpu("a1", "24Gi"))
	fmt.Println(ok, err)
	// Output:
	// CEL expression "device.attributes[\"gpu.example.com\"].family == \"x\"": no such key: family
	// false <nil>
}
