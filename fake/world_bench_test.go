package fake_test

import (
	"fmt"
	"testing"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// crowd returns a cloud with everything switched on and the given number of machines.
func crowd(b *testing.B, n int) *fake.Cloud {
	b.Helper()
	cloud := world(b, fake.Options{
		Timing: fake.Timing{Launch: fake.Span{Min: 30 * second, Max: minute}, Initialization: fake.Span{Max: minute}, Shutdown: fake.Exactly(minute)},
		Spot:   fake.Spot{Every: 5 * minute, Swing: 0.2, Lifetime: 30 * 24 * time.Hour},
		Stock:  []fake.Stock{{Count: 1_000_000}},
	})
	types, err := cloud.InstanceTypes(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	options := launch.Compatible(types, requirements.MustParse(m5))
	for i := range n {
		_, err := cloud.Create(b.Context(), cloudprovider.LaunchRequest{Token: fmt.Sprint(i), NodeClassRef: v1.NodeClassReference{Name: "default"}, Options: options})
		if err != nil {
			b.Fatal(err)
		}
	}
	return cloud
}

// Each iteration is a whole simulation: launch the machines, and let 100,000
// steps of a second pass.
func BenchmarkSimulation(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("instances=%d/steps=100000", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cloud := crowd(b, n)
				for range 100_000 {
					cloud.Advance(time.Second)
				}
			}
		})
	}
}

func BenchmarkAdvance(b *testing.B) {
	for _, n := range []int{0, 1000, 10_000} {
		b.Run(fmt.Sprintf("instances=%d", n), func(b *testing.B) {
			cloud := crowd(b, n)
			cloud.Advance(time.Hour)
			b.ReportAllocs()
			for b.Loop() {
				cloud.Advance(time.Millisecond)
			}
		})
	}
}

func BenchmarkNodes(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("instances=%d", n), func(b *testing.B) {
			cloud := crowd(b, n)
			cloud.Advance(time.Hour)
			b.ReportAllocs()
			for b.Loop() {
				cloud.Nodes()
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	cloud := crowd(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cloud.List(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
