package availability_test

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
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

func BenchmarkApply(b *testing.B) {
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
			a := newCache(b, newClock(), nil)
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

// manyScopes returns a spot offering of every other type, and a capacity type.
func manyScopes(types []*cloudprovider.InstanceType) []cloudprovider.Scope {
	scopes := []cloudprovider.Scope{{CapacityType: "reserved"}}
	for i := 0; i < len(types); i += 2 {
		scopes = append(scopes, types[i].Offerings[1].Key(types[i].Name).Scope())
	}
	return scopes
}

// A look-up among 100,000 marks: every other type is marked in each of 6 zones
// for 2 capacity types. Walking the catalog is what planners do. Questions in no
// order are the worst that can happen: the marks are more than fit in the nearest
// memory of a processor, and its latency is what they measure. The clock costs
// nothing here: what time.Now takes comes on top, where a mark covers the offering.
func BenchmarkUnavailable(b *testing.B) {
	const types = 2 * 8334
	keys := map[bool][]cloudprovider.OfferingKey{}
	a, err := availability.New(func() time.Time { return start }, &availability.Options{MaxMarks: 1 << 20})
	require.NoError(b, err)
	for i := range types {
		for _, zone := range []string{"zone-a", "zone-b", "zone-c", "zone-d", "zone-e", "zone-f"} {
			for _, capacityType := range []string{"on-demand", "spot"} {
				k := cloudprovider.OfferingKey{InstanceType: fmt.Sprintf("family-%d.%dxlarge", i/8, i%8), Zone: zone, CapacityType: capacityType}
				covered := i%2 == 0
				if covered {
					a.MarkUnavailable(k.Scope(), "NoStock")
				}
				keys[covered] = append(keys[covered], k)
			}
		}
	}
	require.GreaterOrEqual(b, len(a.Marks()), 100_000)
	for _, covered := range []bool{true, false} {
		for _, order := range []string{"catalog", "random"} {
			asked := slices.Clone(keys[covered])
			if order == "random" {
				rand.New(rand.NewSource(1)).Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
			}
			name := fmt.Sprintf("covered=%t/order=%s", covered, order)
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					if _, found := a.Unavailable(asked[i]); found != covered {
						b.Fatal(found)
					}
					if i++; i == len(asked) {
						i = 0
					}
				}
			})
			b.Run(name+"/parallel", func(b *testing.B) {
				b.ReportAllocs()
				b.RunParallel(func(p *testing.PB) {
					for i := 0; p.Next(); i++ {
						if _, found := a.Unavailable(asked[i%len(asked)]); found != covered {
							b.Error(found)
						}
					}
				})
			})
		}
	}
}

func BenchmarkMark(b *testing.B) {
	types := benchCatalog(700)
	scopes := manyScopes(types)
	a := newCache(b, newClock(), &availability.Options{MaxMarks: 100})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		a.MarkUnavailable(scopes[i%len(scopes)], "")
		i++
	}
}
