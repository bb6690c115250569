package cloudprovider_test

import (
	"fmt"
	"testing"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// benchCatalog returns the size of a large cloud region: types times 3 zones times
// on-demand and spot.
func benchCatalog(n int) []*cloudprovider.InstanceType {
	types := make([]*cloudprovider.InstanceType, n)
	for i := range types {
		t := large()
		t.Name = fmt.Sprintf("type-%03d", i)
		t.Requirements = requirements.MustParse("node.kubernetes.io/instance-type = " + t.Name + ", kubernetes.io/arch = amd64")
		t.Offerings = nil
		for z, zone := range []string{"zone-a", "zone-b", "zone-c"} {
			for c, capacityType := range []string{"on-demand", "spot"} {
				t.Offerings = append(t.Offerings, cloudprovider.Offering{
					Zone: zone, CapacityType: capacityType, Available: true, Price: float64(1+i%97) / float64(1+z+3*c),
				})
			}
		}
		types[i] = t
	}
	return types
}

func BenchmarkAllocatable(b *testing.B) {
	t := large()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.Allocatable(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompatible(b *testing.B) {
	types := benchCatalog(700)
	b.ReportAllocs()
	for b.Loop() {
		launch.Compatible(types, requirements.Set{})
	}
}

func BenchmarkValidate(b *testing.B) {
	t := large()
	b.ReportAllocs()
	for b.Loop() {
		if err := t.Validate(); err != nil {
			b.Fatal(err)
		}
	}
}
