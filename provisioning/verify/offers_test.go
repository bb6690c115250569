package verify_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	overlays "github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

func TestReservations(t *testing.T) {
	// Both new nodes name reservations only: general-1 those of first, batch-1
	// those of second.
	only := func(first, second []string, room map[string]int) func(*scene) {
		return func(s *scene) {
			s.Small.Requirements = s.Small.Requirements.Without(v1.CapacityTypeLabelKey)
			s.Small.Offerings = nil
			for _, id := range []string{"cr-1", "cr-2"} {
				s.Small.Offerings = append(s.Small.Offerings, cloudprovider.Offering{
					Zone: "a", CapacityType: v1.CapacityTypeReserved, ReservationID: id, ReservationCapacity: room[id], Price: 0.05, Available: true,
				})
			}
			pick := func(n *provisioning.NewNode, ids []string) {
				n.Options = slices.DeleteFunc(scenes.Options(s.Small), func(o cloudprovider.LaunchOption) bool {
					return !slices.Contains(ids, o.Offering.ReservationID)
				})
			}
			pick(s.First(), first)
			pick(s.Second(), second)
		}
	}
	mixed := func(policy provisioning.ReservedPolicy) func(*scene) {
		return func(s *scene) {
			s.reserve(1)
			s.Second().Options = scenes.Options(s.Small)
			s.Plan.Cost, s.Plan.LowerBound = 0.051, 0
			s.Opts = &provisioning.Options{Reserved: policy}
		}
	}
	broken := rules(verify.RuleReservation)
	one, two, both := []string{"cr-1"}, []string{"cr-2"}, []string{"cr-1", "cr-2"}
	judge(t, []verdict{
		{"room for both", only(one, one, map[string]int{"cr-1": 2}), nil, ""},
		{"room for one", only(one, one, map[string]int{"cr-1": 1}), broken, "2 new nodes count on reservation cr-1, which has room for 1"},
		{"one each", only(one, two, map[string]int{"cr-1": 1, "cr-2": 1}), nil, ""},
		{"whichever is left", only(both, both, map[string]int{"cr-1": 2, "cr-2": 1}), nil, ""},
		{"the other may be first", only(both, one, map[string]int{"cr-1": 1, "cr-2": 1}), broken,
			"node batch-1: it names reservations only, cr-1, which have room for 1, but 2 new nodes that name nothing else may draw on them"},
		{"a mix falls back", mixed(provisioning.ReservedFallback), nil, ""},
		{"a mix where that is not allowed", mixed(provisioning.ReservedStrict), broken, "node batch-1: it names reservation cr-1 and other capacity, but the policy is Strict"},
	})
}

func TestOverlays(t *testing.T) {
	price := "0.01"
	overlay := &v1.NodeOverlay{}
	overlay.Name = "cheap"
	overlay.Spec.Requirements = []v1.NodeSelectorRequirement{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"small"}}}
	overlay.Spec.Price = &price
	s := newScene()
	s.In.Overlays = []*v1.NodeOverlay{overlay}
	found := verify.Plan(s.In, s.Plan, nil)
	require.NotEmpty(t, found, "the plan is made from the catalog as it was")
	require.Equal(t, verify.RuleOffering, found[0].Rule)
	require.Contains(t, found[0].Message, "the catalog says 0.01 USD/h")

	types, _, err := overlays.Apply(s.In.Overlays, s.In.NodePools, s.In.InstanceTypes, nil)
	require.NoError(t, err)
	for _, small := range types["general"] {
		if small.Name == "small" {
			s.First().Options, s.Second().Options = scenes.Options(small, s.Large), scenes.Options(small)
		}
	}
	s.Plan.Cost, s.Plan.LowerBound = 0.02, 0
	require.Empty(t, verify.Plan(s.In, s.Plan, nil))
}

// TestGapCountsFees: the gap of a plan is judged by the fees that it was made with.
func TestGapCountsFees(t *testing.T) {
	in := newScene().In
	in.Nodes, in.Pods = nil, slices.Clone(newScene().Webs)
	plan := solved(t, in, &provisioning.Options{NodeFee: 0.5})
	require.NotEmpty(t, plan.Create)
	require.Empty(t, verify.Plan(in, plan, &provisioning.Options{NodeFee: 0.5}))
	plan.ObjectiveBound /= 2
	require.Empty(t, verify.Plan(in, plan, &provisioning.Options{NodeFee: 0.5}), "the gap follows from the bound")
	found := verify.Plan(in, plan, &provisioning.Options{NodeFee: 3})
	require.Len(t, found, 1)
	require.Equal(t, verify.RuleAccounts, found[0].Rule)
	require.Contains(t, found[0].Message, "Gap is")
}
