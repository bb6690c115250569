package fleet_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/fleet"
	"github.com/dovetail-sdk/dovetail/aws/internal/goldentest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func spec(capacityType string, kind fleet.ReservationKind, groups ...fleet.Group) *fleet.Spec {
	return &fleet.Spec{
		CapacityType: capacityType, Reservation: kind, Groups: groups,
		Tags: map[string]string{
			"karpenter.sh/nodepool": "general", "kubernetes.io/cluster/demo": "owned",
			"eks:eks-cluster-name": "demo", "karpenter.k8s.aws/ec2nodeclass": "default",
		},
	}
}

func group(name, image string, options ...cloudprovider.LaunchOption) fleet.Group {
	return fleet.Group{Template: "karpenter.k8s.aws/" + name, ImageID: image, Options: options}
}

func call() fleet.Call {
	return fleet.Call{
		Count: 2, Token: "dovetail-token", Subnets: map[string]string{"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"},
		Tags: map[string]string{"dovetail/launch-1": "batch/one:general-x"},
	}
}

func TestRequestGolden(t *testing.T) {
	const a, b, c = "us-east-1a", "us-east-1b", "us-east-1c"
	context := "opaque"
	onSpot := spec(spot, fleet.ReservationKind{},
		group("2", "ami-arm", option("m6g.large", a, spot, 0.03), option("m6g.large", b, spot, 0.05)),
		group("1", "ami-x86", option("m5.large", b, spot, 0.04), option("m5.large", a, spot, 0.04), option("m5.large", c, spot, 0.01)))
	onSpot.Context = &context
	overlaid := spec(spot, fleet.ReservationKind{}, onSpot.Groups...)
	overlaid.Prioritized = true
	demand := spec(onDemand, fleet.ReservationKind{}, group("1", "ami-x86", option("m5.large", a, onDemand, 0.096)))
	prioritized := spec(onDemand, fleet.ReservationKind{}, demand.Groups...)
	prioritized.Prioritized = true
	one := option("m5.large", a, "", 1e-8, reserved("cr-1", 2, standard, "false"))
	for name, s := range map[string]*fleet.Spec{
		"spot": onSpot, "spot-overlaid": overlaid, "on-demand": demand, "on-demand-overlaid": prioritized,
		"reserved":               spec("reserved", fleet.ReservationKind{}, group("1", "ami-x86", one)),
		"capacity-block":         spec("reserved", fleet.ReservationKind{Block: true}, group("1", "ami-x86", one)),
		"interruptible-reserved": spec("reserved", fleet.ReservationKind{Interruptible: true}, group("1", "ami-x86", one)),
	} {
		t.Run(name, func(t *testing.T) {
			in, err := s.Request(call())
			require.NoError(t, err)
			goldentest.JSON(t, name, in)
		})
	}
}

func TestDryRun(t *testing.T) {
	s := spec(onDemand, fleet.ReservationKind{}, group("1", "ami", option("m5.large", "us-east-1a", onDemand, 0.1)))
	c := call()
	c.DryRun = true
	in, err := s.Request(c)
	require.NoError(t, err)
	require.True(t, *in.DryRun)
}

func TestOneOverrideForTypeAndZone(t *testing.T) {
	s := spec(onDemand, fleet.ReservationKind{}, group("1", "ami",
		option("m5.large", "us-east-1a", onDemand, 0.2), option("m5.large", "us-east-1a", onDemand, 0.1)))
	in, err := s.Request(call())
	require.NoError(t, err)
	require.Len(t, in.LaunchTemplateConfigs[0].Overrides, 1)
	require.InDelta(t, 0.1, *in.LaunchTemplateConfigs[0].Overrides[0].Priority, 0)
}

func TestNothingToAskFor(t *testing.T) {
	s := spec(onDemand, fleet.ReservationKind{}, group("1", "ami", option("m5.large", "elsewhere", onDemand, 0.1)), group("2", "ami"))
	_, err := s.Request(call())
	require.ErrorIs(t, err, fleet.ErrNothing)
}

func TestKeyTellsWhatCannotGoTogether(t *testing.T) {
	base := func() *fleet.Spec {
		return spec(onDemand, fleet.ReservationKind{},
			group("1", "ami", option("m5.large", "a", onDemand, 0.1), option("c5.large", "a", onDemand, 0.09)),
			group("2", "ami-2", option("m6g.large", "a", onDemand, 0.08)))
	}
	same := base()
	slices.Reverse(same.Groups)
	slices.Reverse(same.Groups[1].Options)
	require.Equal(t, base().Key(), same.Key(), "order does not count")
	context := "x"
	for name, change := range map[string]func(*fleet.Spec){
		"capacity type": func(s *fleet.Spec) { s.CapacityType = spot },
		"reservation":   func(s *fleet.Spec) { s.Reservation.Block = true },
		"context":       func(s *fleet.Spec) { s.Context = &context },
		"prioritized":   func(s *fleet.Spec) { s.Prioritized = true },
		"tags":          func(s *fleet.Spec) { s.Tags["karpenter.sh/nodepool"] = "other" },
		"template":      func(s *fleet.Spec) { s.Groups[0].Template = "x" },
		"image":         func(s *fleet.Spec) { s.Groups[0].ImageID = "x" },
		"options":       func(s *fleet.Spec) { s.Groups[0].Options = s.Groups[0].Options[:1] },
	} {
		s := base()
		change(s)
		require.NotEqual(t, base().Key(), s.Key(), name)
	}
}

func TestTemplatesBeyondFifty(t *testing.T) {
	var groups []fleet.Group
	for i := range 70 {
		groups = append(groups, group(strings.Repeat("x", i+1), "ami", option("m5.large", "us-east-1a", onDemand, float64(100-i))))
	}
	in, err := spec(onDemand, fleet.ReservationKind{}, groups...).Request(call())
	require.NoError(t, err)
	require.Len(t, in.LaunchTemplateConfigs, 50)
	require.InDelta(t, 31, *in.LaunchTemplateConfigs[0].Overrides[0].Priority, 0, "the dearest are left out")
}

func BenchmarkRequest(b *testing.B) {
	options := many(60, onDemand)
	s := spec(onDemand, fleet.ReservationKind{}, group("1", "ami", options[:90]...), group("2", "ami", options[90:]...))
	c := call()
	c.Subnets = map[string]string{"a": "subnet-a", "b": "subnet-b", "c": "subnet-c"}
	for b.Loop() {
		if _, err := s.Request(c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	options := many(200, onDemand)
	req, all := request(options...), images(options...)
	for b.Loop() {
		fleet.Select(req, all)
	}
}
