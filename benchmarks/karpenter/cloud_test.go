package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	karpenterfake "sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// Karpenter gets to see the very types that its own benchmark has.
func TestSyntheticTypesAreKarpenters(t *testing.T) {
	s := generate(t, family.Spec{Family: "generic", Types: "fake400", Pods: 1, Seed: 1})
	all, err := objectsOf(s)
	require.NoError(t, err)
	got, err := newCloud(s, all.pools).GetInstanceTypes(t.Context(), all.pools[0])
	require.NoError(t, err)
	want := karpenterfake.InstanceTypes(400)
	require.Len(t, got, len(want))
	for i, w := range want {
		g := got[i]
		require.Equal(t, w.Name, g.Name)
		require.Equal(t, w.Requirements.String(), g.Requirements.String())
		require.Len(t, g.Allocatable(), len(w.Allocatable()))
		for name, q := range w.Allocatable() {
			have := g.Allocatable()[name]
			require.Zero(t, q.Cmp(have), "%s %s: %s and %s", w.Name, name, q.String(), have.String())
		}
		require.Equal(t, offers(w.Offerings), offers(g.Offerings))
	}
}

// offers lists what can be bought, sorted: the order says nothing.
func offers(list cloudprovider.Offerings) []string {
	var out []string
	for _, o := range list {
		out = append(out, fmt.Sprintf("%s/%s at %.6f %t", o.Zone(), o.CapacityType(), o.Price, o.Available))
	}
	slices.Sort(out)
	return out
}

func TestReservations(t *testing.T) {
	s := generate(t, family.Spec{Family: "generic", Types: "aws", Pods: 1, Seed: 1})
	s.InstanceTypes[0].Offerings = append(s.InstanceTypes[0].Offerings, scenario.Offering{
		Zone: "us-east-1a", CapacityType: karpenterv1.CapacityTypeReserved, Price: 0.001, Available: true, ReservationID: "cr-1", ReservationCapacity: 3,
	})
	offerings := instanceType(&s.InstanceTypes[0]).Offerings
	last := offerings[len(offerings)-1]
	require.Equal(t, 3, last.ReservationCapacity)
	asks := func(id string) scheduling.Requirements {
		return scheduling.NewRequirements(scheduling.NewRequirement(awsv1.LabelCapacityReservationID, corev1.NodeSelectorOpIn, id))
	}
	require.True(t, last.Requirements.IsCompatible(asks("cr-1")))
	require.False(t, last.Requirements.IsCompatible(asks("cr-2")))
	require.False(t, offerings[0].Requirements.IsCompatible(asks("cr-1")), "others are of no reservation")
}

func TestPoolsWithTypesOfTheirOwn(t *testing.T) {
	s := generate(t, family.Spec{Family: "generic", Types: "fake3", Pods: 1, Seed: 1})
	s.InstanceTypesByPool = map[string][]string{"default": {"fake-it-1"}}
	all, err := objectsOf(s)
	require.NoError(t, err)
	c := newCloud(s, all.pools)
	got, err := c.GetInstanceTypes(t.Context(), all.pools[0])
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Len(t, c.GetSupportedNodeClasses(), 1)
	require.NotEmpty(t, c.Name())
	c.byPool["default"] = []string{"fake-it-9"}
	_, err = c.GetInstanceTypes(t.Context(), all.pools[0])
	require.ErrorContains(t, err, "no instance type fake-it-9")
}
