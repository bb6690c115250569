package launch_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	kit "github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const (
	spot     = karpv1.CapacityTypeSpot
	onDemand = karpv1.CapacityTypeOnDemand
	standard = awsv1.CapacityReservationTypeDefault
	block    = awsv1.CapacityReservationTypeCapacityBlock
)

func request(options ...cloudprovider.LaunchOption) *cloudprovider.LaunchRequest {
	return &cloudprovider.LaunchRequest{Token: "t", Name: "general-x", Options: options,
		Requirements: requirements.NewSet(requirements.In(karpv1.CapacityTypeLabelKey, spot, onDemand, "reserved"))}
}

func TestSelect(t *testing.T) {
	const small, zero = 1e-8, 0
	for name, c := range map[string]struct {
		options  []cloudprovider.LaunchOption
		requests string
		want     []string
		kind     launch.ReservationKind
		dropped  []kit.Reason
	}{
		"spot before on demand": {
			options: []cloudprovider.LaunchOption{option("m5.large", "a", onDemand, 0.1), option("m5.large", "a", spot, 0.04)},
			want:    []string{"m5.large/a/spot"}, dropped: []kit.Reason{kit.OtherCapacityType},
		},
		"dear spot goes": {
			options: []cloudprovider.LaunchOption{option("m5.large", "a", onDemand, 0.1), option("c5.large", "a", spot, 0.12)},
			want:    []string{"m5.large/a/on-demand"}, dropped: []kit.Reason{kit.DearSpot},
		},
		"spot is compared with on demand of ordinary machines": {
			// The machine with a GPU is cheap on demand, but it goes first.
			options: []cloudprovider.LaunchOption{
				option("g5g.xlarge", "a", onDemand, 0.05, with("nvidia.com/gpu", "1")),
				option("m5.large", "a", onDemand, 0.1), option("m5.large", "a", spot, 0.06)},
			want: []string{"m5.large/a/spot"}, dropped: []kit.Reason{kit.OutOfTheOrdinary, kit.OtherCapacityType},
		},
		"bare metal is out of the ordinary": {
			options: []cloudprovider.LaunchOption{option("m5.metal", "a", onDemand, 0.05), option("m7i.metal-24xl", "a", onDemand, 0.05), option("m5.large", "a", onDemand, 0.1)},
			want:    []string{"m5.large/a/on-demand"}, dropped: []kit.Reason{kit.OutOfTheOrdinary, kit.OutOfTheOrdinary},
		},
		"bare metal of a size that is new": {
			options: []cloudprovider.LaunchOption{option("m9g.metal-12xl", "a", onDemand, 0.05), option("m5.large", "a", onDemand, 0.1)},
			want:    []string{"m5.large/a/on-demand"}, dropped: []kit.Reason{kit.OutOfTheOrdinary},
		},
		"a GPU that was asked for is not": {
			options:  []cloudprovider.LaunchOption{option("g4dn.xlarge", "a", onDemand, 0.5, with("nvidia.com/gpu", "1"))},
			requests: "nvidia.com/gpu=1", want: []string{"g4dn.xlarge/a/on-demand"},
		},
		"what has no image goes": {
			options: []cloudprovider.LaunchOption{option("noimage.large", "a", onDemand, 0.01), option("m5.large", "a", onDemand, 0.1)},
			want:    []string{"m5.large/a/on-demand"}, dropped: []kit.Reason{launch.NoImage},
		},
		"reservations go first, even with a GPU": {
			options: []cloudprovider.LaunchOption{
				option("m5.large", "a", spot, 0.01),
				option("p5.48xlarge", "a", "", small, reserved("cr-1", 2, standard, "false"), with("nvidia.com/gpu", "8"))},
			want: []string{"p5.48xlarge/a/reserved/cr-1"}, dropped: []kit.Reason{kit.OtherCapacityType},
		},
		"the cheapest kind of reservation": {
			options: []cloudprovider.LaunchOption{
				option("p5.48xlarge", "a", "", 9.8e-6, reserved("cr-block", 2, block, "false")),
				option("c5.large", "a", "", 8.5e-9, reserved("cr-default", 2, standard, "false"))},
			want: []string{"c5.large/a/reserved/cr-default"}, dropped: []kit.Reason{launch.OtherReservation},
		},
		"of one price the default kind": {
			options: []cloudprovider.LaunchOption{
				option("c5.large", "a", "", small, reserved("cr-i", 2, standard, "true")),
				option("c5.large", "a", "", small, reserved("cr-b", 2, block, "false")),
				option("c5.large", "a", "", small, reserved("cr-d", 2, standard, "false"))},
			want: []string{"c5.large/a/reserved/cr-d"}, dropped: []kit.Reason{launch.OtherReservation, launch.OtherReservation},
		},
		"interruptible reservations": {
			options: []cloudprovider.LaunchOption{option("c5.large", "a", "", small, reserved("cr-i", 2, standard, "true"))},
			want:    []string{"c5.large/a/reserved/cr-i"}, kind: launch.ReservationKind{Interruptible: true},
		},
		"one capacity block": {
			options: []cloudprovider.LaunchOption{
				option("p5.48xlarge", "a", "", 2e-6, reserved("cr-1", 9, block, "false")),
				option("p4d.24xlarge", "b", "", 1e-6, reserved("cr-2", 1, block, "false"))},
			want: []string{"p4d.24xlarge/b/reserved/cr-2"}, kind: launch.ReservationKind{Block: true}, dropped: []kit.Reason{launch.OtherReservation},
		},
		"the reservation with most left": {
			options: []cloudprovider.LaunchOption{
				option("c5.large", "a", "", small, reserved("cr-1", 1, standard, "false")),
				option("c5.large", "a", "", small, reserved("cr-2", 3, standard, "false")),
				option("c5.large", "b", "", small, reserved("cr-3", 1, standard, "false"))},
			want:    []string{"c5.large/a/reserved/cr-2", "c5.large/b/reserved/cr-3"},
			dropped: []kit.Reason{launch.OtherReservation},
		},
		"a full reservation does not count": {
			options: []cloudprovider.LaunchOption{
				option("c5.large", "a", "", zero+small, reserved("cr-1", 0, standard, "false")), option("m5.large", "a", onDemand, 0.1)},
			want: []string{"m5.large/a/on-demand"}, dropped: []kit.Reason{kit.Unlaunchable},
		},
		"nothing": {want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			req := request(c.options...)
			if c.requests != "" {
				req.Requests = resources.MustParse(c.requests)
			}
			all := images(c.options...)
			delete(all, "noimage.large")
			got := launch.Select(req, all)
			require.Equal(t, c.want, names(got.Options))
			require.Equal(t, c.kind, got.Reservation)
			var reasons []kit.Reason
			for _, d := range got.Dropped {
				reasons = append(reasons, d.Reason)
			}
			require.Equal(t, c.dropped, reasons)
			require.Len(t, c.options, len(c.want)+len(c.dropped), "each option is selected or dropped")
			slices.Reverse(req.Options)
			require.Equal(t, names(got.Options), names(launch.Select(req, all).Options), "the order of options does not matter")
		})
	}
	require.Empty(t, launch.Select(nil, nil).Options)
}

func many(n int, capacityType string) []cloudprovider.LaunchOption {
	var out []cloudprovider.LaunchOption
	for i := range n {
		for _, zone := range []string{"a", "b", "c"} {
			out = append(out, option(fmt.Sprintf("m%d.large", i+100), zone, capacityType, 0.1+float64(i)/100))
		}
	}
	return out
}

func TestSelectCutsToSixtyTypes(t *testing.T) {
	options := many(90, onDemand)
	got := launch.Select(request(options...), images(options...))
	types := map[string]bool{}
	for _, o := range got.Options {
		types[o.InstanceType.Name] = true
	}
	require.Len(t, types, launch.MaxTypes)
	require.Len(t, got.Options, 3*launch.MaxTypes)
	require.Equal(t, "m100.large/a/on-demand", got.Options[0].Key().String())
}

func TestReservationsGiveWayToMinValues(t *testing.T) {
	options := append(many(5, spot), option("c5.large", "a", "", 1e-8, reserved("cr-1", 2, standard, "false")))
	req := request(options...)
	req.Requirements = req.Requirements.With(requirements.Exists("node.kubernetes.io/instance-type").WithMinValues(3))
	got := launch.Select(req, images(options...))
	require.Equal(t, spot, got.CapacityType)
	require.Empty(t, got.Unmet)
	req.Requirements = req.Requirements.With(requirements.Exists("node.kubernetes.io/instance-type").WithMinValues(30))
	got = launch.Select(req, images(options...))
	require.Equal(t, "reserved", got.CapacityType, "if they hold nowhere, what is paid for is used")
	require.Len(t, got.Unmet, 1)
}

func TestInflexibleLaunchesAreTold(t *testing.T) {
	few, enough := many(4, onDemand), many(5, onDemand)
	require.Equal(t, 4, launch.Select(request(few...), images(few...)).InflexibleTypes)
	require.Zero(t, launch.Select(request(enough...), images(enough...)).InflexibleTypes)
	req := request(few...)
	req.Requirements = requirements.NewSet(requirements.In(karpv1.CapacityTypeLabelKey, onDemand))
	require.Zero(t, launch.Select(req, images(few...)).InflexibleTypes, "spot was not wanted")
}
