package provisioning_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// TestLawClaimCanBeLaunched: the stored NodeClaim of a node asks for what the plan asks for, by options of
// the plan in their order, whatever reservations its types have, and the cheapest is among them. Where no
// label tells reservations of one type and zone apart, any of those may be launched.
func TestLawClaimCanBeLaunched(t *testing.T) {
	claims, reserved := 0, 0
	for seed := range lawSeeds(1000, 300) {
		in, opts := randproblem.New(seed), scenes.VaryOptions(seed)
		labelled := seed%4 != 0
		reserveTwice(in, seed, labelled)
		for _, pool := range in.NodePools {
			pool.Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "boot", Effect: corev1.TaintEffectNoSchedule}}
		}
		key := func(o cloudprovider.LaunchOption) cloudprovider.OfferingKey {
			k := o.Key()
			if !labelled {
				k.ReservationID = ""
			}
			return k
		}
		plan := solved(t, in, opts)
		for i := range plan.Create {
			n := &plan.Create[i]
			where := fmt.Sprintf("seed %d, node %s", seed, n.Name)
			asked := n.Request(n.Name).Requests
			for _, o := range n.Options {
				room, err := o.InstanceType.AllocatableFor(o.Offering)
				require.NoError(t, err, where)
				require.Empty(t, asked.Exceeds(room), "%s as %s", where, o)
			}
			claim := n.NodeClaim()
			claim.Name, claim.UID = n.Name, types.UID(n.Name)
			before := claim.DeepCopy()
			request, err := nodeclaim.Request(claim, in.InstanceTypes[n.Pool.Name], in.Vocabulary)
			require.NoError(t, err, where)
			require.Equal(t, before, claim, where)
			planned := n.Request(n.Name)
			planned.Name, planned.Options, planned.Requirements = request.Name, request.Options, request.Requirements
			if demandsValues(n.Pool) { // the claim may admit fewer values than the plan
				planned.Annotations = request.Annotations
			}
			require.Equal(t, planned, request, where)
			next := 0
			for _, o := range request.Options {
				at := slices.IndexFunc(n.Options[next:], func(p cloudprovider.LaunchOption) bool { return key(p) == key(o) })
				require.GreaterOrEqual(t, at, 0, "%s: %s is no option of it, or not in its order", where, o)
				next += at
			}
			claims++
			if demandsValues(n.Pool) {
				continue
			}
			require.True(t, slices.ContainsFunc(request.Options, func(o cloudprovider.LaunchOption) bool { return o.Key() == n.Options[0].Key() }),
				"%s: without %s", where, n.Options[0])
			if n.Options[0].Offering.ReservationID != "" {
				reserved++
			}
		}
	}
	require.Greater(t, claims, enough(300))
	require.Greater(t, reserved, enough(100))
}

// reserveTwice gives some of the instance types two reservations in each of their zones.
func reserveTwice(in provisioning.Input, seed uint64, labelled bool) {
	done := map[*cloudprovider.InstanceType]bool{}
	for _, it := range slices.Concat(slices.Collect(maps.Values(in.InstanceTypes))...) {
		if done[it] {
			continue
		}
		done[it] = true
		zones := map[string]requirements.Set{}
		for _, o := range it.Offerings {
			zones[o.Zone] = o.Requirements
		}
		if (uint64(len(it.Name))+seed)%2 == 0 {
			clear(zones)
		}
		for _, zone := range slices.Sorted(maps.Keys(zones)) {
			for i, price := range []float64{0.00002, 0.00003} {
				it.Offerings = append(it.Offerings, cloudprovider.Offering{
					Zone: zone, CapacityType: v1.CapacityTypeReserved, Price: price, Available: true, Requirements: zones[zone],
					ReservationID: fmt.Sprintf("twice-%s-%s-%d", it.Name, zone, i), ReservationCapacity: 1,
				})
			}
		}
		for i := range it.Offerings {
			if o := &it.Offerings[i]; labelled && o.ReservationID != "" {
				o.Requirements = o.Requirements.With(requirements.In("example.com/reservation", o.ReservationID))
			}
		}
	}
}

func demandsValues(pool *v1.NodePool) bool {
	return slices.ContainsFunc(pool.Spec.Template.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.MinValues != nil })
}

// TestClaimKeepsMinValues: a NodeClaim goes without a type that is no option everywhere
// rather than without a zone, if minValues hold then.
func TestClaimKeepsMinValues(t *testing.T) {
	n := provisioning.NewNode{Pool: &v1.NodePool{}}
	sold := func(name string, price float64, zones ...string) *cloudprovider.InstanceType {
		it := &cloudprovider.InstanceType{Name: name, Requirements: requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, name))}
		for _, zone := range zones {
			it.Offerings = append(it.Offerings, cloudprovider.Offering{Zone: zone, CapacityType: v1.CapacityTypeOnDemand, Price: price, Available: true})
		}
		return it
	}
	// The fourth is sold in both zones, and may be launched in the first only.
	for i, it := range []*cloudprovider.InstanceType{sold("a", 1, "x"), sold("b", 2, "y"), sold("c", 3, "y"), sold("d", 4, "x", "y")} {
		n.Options = append(n.Options, cloudprovider.LaunchOption{InstanceType: it, Offering: &it.Offerings[0]})
		require.Equal(t, float64(i+1), n.Options[i].Offering.Price)
	}
	claim := func(minValues int) (types []string, least int, relaxed string) {
		n.Requirements = requirements.NewSet(requirements.Exists(corev1.LabelInstanceTypeStable).WithMinValues(minValues))
		c := n.NodeClaim()
		for _, r := range c.Spec.Requirements {
			if r.Key == corev1.LabelInstanceTypeStable {
				types, least = r.Values, *r.MinValues
			}
		}
		return types, least, c.Annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey]
	}
	types, least, relaxed := claim(3)
	require.Equal(t, []string{"a", "b", "c"}, types)
	require.Equal(t, 3, least)
	require.Equal(t, "false", relaxed)

	types, least, relaxed = claim(4)
	require.Equal(t, []string{"a", "b", "c"}, types)
	require.Equal(t, 3, least)
	require.Equal(t, "true", relaxed)
}
