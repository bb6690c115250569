package launch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

func spec(capacityType string, kind launch.ReservationKind, groups ...launch.Group) *launch.Spec {
	var types []string
	for _, g := range groups {
		for _, o := range g.Options {
			types = append(types, o.InstanceType.Name)
		}
	}
	return &launch.Spec{
		CapacityType: capacityType, Reservation: kind, Groups: groups, Types: types,
		Tags: map[string]string{
			"karpenter.sh/nodepool": "general", "kubernetes.io/cluster/demo": "owned",
			"eks:eks-cluster-name": "demo", "karpenter.k8s.aws/ec2nodeclass": "default",
		},
	}
}

func group(name, image string, options ...cloudprovider.LaunchOption) launch.Group {
	return launch.Group{Template: "karpenter.k8s.aws/" + name, ImageID: image, Options: options}
}

func call() launch.RequestInput {
	return launch.RequestInput{
		Count: 2, Token: "dovetail-token", Subnets: map[string]string{"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"},
		Tags: map[string]string{"dovetail/launch-1": "batch/one:general-x"},
	}
}

func TestRequestGolden(t *testing.T) {
	const a, b, c = "us-east-1a", "us-east-1b", "us-east-1c"
	context := "opaque"
	onSpot := spec(spot, launch.ReservationKind{},
		group("2", "ami-arm", option("m6g.large", a, spot, 0.03), option("m6g.large", b, spot, 0.05)),
		group("1", "ami-x86", option("m5.large", b, spot, 0.04), option("m5.large", a, spot, 0.04), option("m5.large", c, spot, 0.01)))
	onSpot.Context = &context
	overlaid := spec(spot, launch.ReservationKind{}, onSpot.Groups...)
	overlaid.Prioritized = true
	demand := spec(onDemand, launch.ReservationKind{}, group("1", "ami-x86", option("m5.large", a, onDemand, 0.096)))
	prioritized := spec(onDemand, launch.ReservationKind{}, demand.Groups...)
	prioritized.Prioritized = true
	one := option("m5.large", a, "", 1e-8, reserved("cr-1", 2, standard, "false"))
	for name, s := range map[string]*launch.Spec{
		"spot": onSpot, "spot-overlaid": overlaid, "on-demand": demand, "on-demand-overlaid": prioritized,
		"reserved":               spec("reserved", launch.ReservationKind{}, group("1", "ami-x86", one)),
		"capacity-block":         spec("reserved", launch.ReservationKind{Block: true}, group("1", "ami-x86", one)),
		"interruptible-reserved": spec("reserved", launch.ReservationKind{Interruptible: true}, group("1", "ami-x86", one)),
	} {
		t.Run(name, func(t *testing.T) {
			in, err := s.Request(call())
			require.NoError(t, err)
			golden.JSON(t, name, in)
		})
	}
}

func TestDryRun(t *testing.T) {
	s := spec(onDemand, launch.ReservationKind{}, group("1", "ami", option("m5.large", "us-east-1a", onDemand, 0.1)))
	c := call()
	c.DryRun = true
	in, err := s.Request(c)
	require.NoError(t, err)
	require.True(t, *in.DryRun)
}

func TestOneOverrideForTypeAndZone(t *testing.T) {
	s := spec(onDemand, launch.ReservationKind{}, group("1", "ami",
		option("m5.large", "us-east-1a", onDemand, 0.2), option("m5.large", "us-east-1a", onDemand, 0.1)))
	in, err := s.Request(call())
	require.NoError(t, err)
	require.Len(t, in.LaunchTemplateConfigs[0].Overrides, 1)
	require.InDelta(t, 0.1, *in.LaunchTemplateConfigs[0].Overrides[0].Priority, 0)
}

func TestNothingToAskFor(t *testing.T) {
	s := spec(onDemand, launch.ReservationKind{}, group("1", "ami", option("m5.large", "elsewhere", onDemand, 0.1)), group("2", "ami"))
	_, err := s.Request(call())
	require.ErrorIs(t, err, launch.ErrNothing)
}

func TestKeyTellsWhatCannotGoTogether(t *testing.T) {
	base := func() *launch.Spec {
		return spec(onDemand, launch.ReservationKind{},
			group("1", "ami", option("m5.large", "a", onDemand, 0.1), option("c5.large", "a", onDemand, 0.09)),
			group("2", "ami-2", option("m6g.large", "a", onDemand, 0.08)))
	}
	same := base()
	slices.Reverse(same.Groups)
	slices.Reverse(same.Groups[1].Options)
	require.Equal(t, base().Key(), same.Key(), "order does not count")
	context := "x"
	for name, change := range map[string]func(*launch.Spec){
		"capacity type": func(s *launch.Spec) { s.CapacityType = spot },
		"reservation":   func(s *launch.Spec) { s.Reservation.Block = true },
		"context":       func(s *launch.Spec) { s.Context = &context },
		"prioritized":   func(s *launch.Spec) { s.Prioritized = true },
		"tags":          func(s *launch.Spec) { s.Tags["karpenter.sh/nodepool"] = "other" },
		"template":      func(s *launch.Spec) { s.Groups[0].Template = "x" },
		"image":         func(s *launch.Spec) { s.Groups[0].ImageID = "x" },
		"options":       func(s *launch.Spec) { s.Groups[0].Options = s.Groups[0].Options[:1] },
	} {
		s := base()
		change(s)
		require.NotEqual(t, base().Key(), s.Key(), name)
	}
}

func TestTemplatesBeyondFifty(t *testing.T) {
	var groups []launch.Group
	for i := range 70 {
		groups = append(groups, group(strings.Repeat("x", i+1), "ami", option("m5.large", "us-east-1a", onDemand, float64(100-i))))
	}
	in, err := spec(onDemand, launch.ReservationKind{}, groups...).Request(call())
	require.NoError(t, err)
	require.Len(t, in.LaunchTemplateConfigs, 50)
	require.InDelta(t, 31, *in.LaunchTemplateConfigs[0].Overrides[0].Priority, 0, "the dearest are left out")
}
