package provisioning_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func TestVerifyReservations(t *testing.T) {
	// Both new nodes name reservations only: general-1 those of first, batch-1
	// those of second.
	only := func(first, second []string, room map[string]int) func(*scene) {
		return func(s *scene) {
			s.small.Requirements = s.small.Requirements.Without(v1.CapacityTypeLabelKey)
			s.small.Offerings = nil
			for _, id := range []string{"cr-1", "cr-2"} {
				s.small.Offerings = append(s.small.Offerings, cloudprovider.Offering{
					Zone: "a", CapacityType: v1.CapacityTypeReserved, ReservationID: id, ReservationCapacity: room[id], Price: 0.05, Available: true,
				})
			}
			pick := func(n *provisioning.NewNode, ids []string) {
				n.Options = slices.DeleteFunc(sceneOptions(s.small), func(o cloudprovider.LaunchOption) bool {
					return !slices.Contains(ids, o.Offering.ReservationID)
				})
			}
			pick(s.first(), first)
			pick(s.second(), second)
		}
	}
	mixed := func(policy provisioning.ReservedPolicy) func(*scene) {
		return func(s *scene) {
			s.reserve(1)
			s.second().Options = sceneOptions(s.small)
			s.plan.Cost, s.plan.LowerBound = 0.051, 0
			s.opts = &provisioning.Options{Reserved: policy}
		}
	}
	broken := rules(provisioning.RuleReservation)
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

func TestVerifyOverlays(t *testing.T) {
	price := "0.01"
	overlay := &v1.NodeOverlay{}
	overlay.Name = "cheap"
	overlay.Spec.Requirements = []v1.NodeSelectorRequirement{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"small"}}}
	overlay.Spec.Price = &price
	s := newScene()
	s.in.Overlays = []*v1.NodeOverlay{overlay}
	found := provisioning.Verify(s.in, s.plan, nil)
	require.NotEmpty(t, found, "the plan is made from the catalog as it was")
	require.Equal(t, provisioning.RuleOffering, found[0].Rule)
	require.Contains(t, found[0].Message, "the catalog says 0.01 USD/h")

	types, _, err := cloudprovider.ApplyOverlays(s.in.Overlays, s.in.NodePools, s.in.InstanceTypes, nil)
	require.NoError(t, err)
	for _, small := range types["general"] {
		if small.Name == "small" {
			s.first().Options, s.second().Options = sceneOptions(small, s.large), sceneOptions(small)
		}
	}
	s.plan.Cost, s.plan.LowerBound = 0.02, 0
	require.Empty(t, provisioning.Verify(s.in, s.plan, nil))
}
