package disruption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

const generation = "example.com/generation"

// ofGeneration says what a type is, nothing if it says nothing.
func ofGeneration(t *cloudprovider.InstanceType, value string) *cloudprovider.InstanceType {
	if value != "" {
		t.Requirements = t.Requirements.With(requirements.In(generation, value))
	}
	return t
}

func generations(least int) func(*v1.NodePool) {
	return func(p *v1.NodePool) {
		p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
			{Key: generation, Operator: corev1.NodeSelectorOpIn, Values: []string{"new", "old"}, MinValues: &least}}
	}
}

// A label that a type does not declare has what the pool gives the node, one value
// whatever is launched, so it is no choice. The engine counts so, and what is left of
// the options of a replacement is counted in the same way.
func TestMinValuesOfCheaperOptions(t *testing.T) {
	for _, tt := range []struct {
		name  string
		third string // generation of the cheapest type
		price float64
		want  []string
	}{
		{"the only new one is too dear", "", 1.2, []string{}},
		{"it is cheaper as well", "", 0.8, []string{"Underutilized n1 -> cheapest saves 0.900"}},
		{"the cheapest is new too", "new", 1.2, []string{"Underutilized n1 -> cheapest saves 0.900"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			types := []*cloudprovider.InstanceType{ofGeneration(sizedType("cheapest", 2, 0.1), tt.third),
				ofGeneration(sizedType("cheap", 2, 0.2), "old"), ofGeneration(sizedType("dear", 2, tt.price), "new"),
				ofGeneration(sizedType("large", 8, 1), "old")}
			in := fleetOf(types, with(machine("n1", "default", types[3], load("a", 1000)), withLabel(generation, "old")))
			generations(2)(in.NodePools[0])
			p := propose(t, in, anySaving())
			require.Equal(t, tt.want, deeds(p.Actions), "%v", p.Blocked)
			for _, a := range p.Actions {
				require.Empty(t, a.Replacements[0].MissedMinValues())
			}
			if len(tt.want) == 0 {
				require.Equal(t, "the cheaper ways to launch its replacement have 1 value of example.com/generation, and minValues of its NodePool \"default\" is 2",
					lastOf(p.Blocked, disruption.MethodConsolidation).Detail)
			}
		})
	}
}

// A minimum that cannot be had with all types is no reason to launch by more of them
// than SpotFloor says.
func TestSpotFloorWhereMinValuesAreRelaxed(t *testing.T) {
	big := ofGeneration(sizedType("big", 8, 0, spot("a", 1)), "old")
	types := []*cloudprovider.InstanceType{big}
	for i := range 20 {
		types = append(types, ofGeneration(sizedType(fmt.Sprintf("t%02d", i), 2, 0, spot("a", 0.1+float64(i)/1000)), "old"))
	}
	n := with(machine("n1", "default", big, load("a", 1000)), withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot), withLabel(generation, "old"))
	in := fleetOf(types, n)
	generations(2)(in.NodePools[0])
	p := propose(t, in, &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: -1, SpotFloor: 3}, Provisioning: &provisioning.Options{MinValues: provisioning.BestEffort}})
	require.Equal(t, []string{"Underutilized n1 -> t00 saves 0.900"}, deeds(p.Actions), "%v", p.Blocked)
	require.True(t, p.Actions[0].Replacements[0].MinValuesRelaxed)
	require.Len(t, p.Actions[0].Replacements[0].Options, 3)
}

// TestSpotNodesDoNotTakeTheWayOverOnDemand: a spot node that may not be replaced by
// cheaper spot capacity is not replaced by dearer capacity on demand either, which that
// would replace next. What costs less than spot is welcome.
func TestSpotNodesDoNotTakeTheWayOverOnDemand(t *testing.T) {
	large := sizedType("large", 16, 0, onDemand("a", 1.6), spot("a", 0.5))
	small := sizedType("small", 2, 0, onDemand("a", 0.2), spot("a", 0.06))
	bargain := sizedType("bargain", 2, 0, onDemand("a", 0.05), spot("a", 0.06))
	node := func() provisioning.Node {
		return with(machine("n1", "default", large, load("a", 1500)), withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot))
	}
	for _, o := range []*disruption.Options{nil, {Consolidation: disruption.ConsolidationOptions{NoSpotToSpot: true}}, {Consolidation: disruption.ConsolidationOptions{MinimumScore: -1}}} {
		p := propose(t, fleetOf([]*cloudprovider.InstanceType{large, small}, node()), o)
		require.Empty(t, p.Actions)
		require.Equal(t, []string{"n1 SpotToSpot"}, why(p))
		p = propose(t, fleetOf([]*cloudprovider.InstanceType{large, small, bargain}, node()), o)
		require.Equal(t, []string{"Underutilized n1 -> bargain saves 0.450"}, deeds(p.Actions))
	}
}
