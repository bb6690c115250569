package cloudprovider_test

import (
	"fmt"
	"testing"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// benchCatalog is the size of a large cloud region: types times 3 zones times
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

func BenchmarkAvailabilityApply(b *testing.B) {
	types := benchCatalog(700)
	for _, bb := range []struct {
		name  string
		marks []cloudprovider.Scope
	}{
		{"none", nil},
		{"offering", []scope{{InstanceType: "type-007", Zone: "zone-a", CapacityType: "spot"}}},
		{"zone", []scope{{Zone: "zone-a"}}},
		{"many", manyScopes(types)},
	} {
		b.Run("marks="+bb.name, func(b *testing.B) {
			a := newAvailability(b, newClock(), nil)
			for _, s := range bb.marks {
				a.MarkUnavailable(s, "")
			}
			b.ReportAllocs()
			for b.Loop() {
				a.Apply(types)
			}
		})
	}
}

// manyScopes is a spot offering of every other type, and a capacity type.
func manyScopes(types []*cloudprovider.InstanceType) []cloudprovider.Scope {
	scopes := []cloudprovider.Scope{{CapacityType: "reserved"}}
	for i := 0; i < len(types); i += 2 {
		scopes = append(scopes, types[i].Offerings[1].Key(types[i].Name).Scope())
	}
	return scopes
}

func BenchmarkAvailabilityUnavailable(b *testing.B) {
	types := benchCatalog(700)
	a := newAvailability(b, newClock(), nil)
	for _, s := range manyScopes(types) {
		a.MarkUnavailable(s, "")
	}
	k := types[100].Offerings[1].Key(types[100].Name)
	b.ReportAllocs()
	for b.Loop() {
		a.Unavailable(k)
	}
}

func BenchmarkAvailabilityMark(b *testing.B) {
	types := benchCatalog(700)
	scopes := manyScopes(types)
	a := newAvailability(b, newClock(), &cloudprovider.AvailabilityOptions{MaxMarks: 100})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		a.MarkUnavailable(scopes[i%len(scopes)], "")
		i++
	}
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

func BenchmarkOrderByPrice(b *testing.B) {
	types := benchCatalog(700)
	reqs := requirements.MustParse("kubernetes.io/arch = amd64, topology.kubernetes.io/zone in (zone-a, zone-b)")
	b.ReportAllocs()
	for b.Loop() {
		cloudprovider.OrderByPrice(types, reqs)
	}
}

func BenchmarkLaunchOptions(b *testing.B) {
	types := benchCatalog(700)
	b.ReportAllocs()
	for b.Loop() {
		cloudprovider.LaunchOptions(types, requirements.Set{})
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
