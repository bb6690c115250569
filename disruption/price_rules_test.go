package disruption_test

import (
	"fmt"
	"testing"
	"time"

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

// TestQuietNodesNeedLess: with HalveScoreAfter a saving that is too small for a node that pods have
// just come to is enough later, at an instant that Next names, and exactly from then on.
func TestQuietNodesNeedLess(t *testing.T) {
	_, medium, _, all := sizes()
	in := fleetOf(all, machine("n1", "default", medium, load("n1-pod", 1000))) // a small node for it saves half
	in.PodEvents = map[string]time.Time{"n1": noon}
	propose := func(since time.Duration, score float64, halve time.Duration) *disruption.Proposal {
		p := proposeAt(t, noon.Add(since), in, &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: score, HalveScoreAfter: halve}})
		return p
	}
	for _, tt := range []struct {
		score   float64
		falls   time.Duration // when the score of the saving, 0.5, is enough; 0 is never
		instant int           // how many instants of Next come before
	}{{0.9, 10 * time.Minute, 1}, {1.9, 20 * time.Minute, 2}, {3.9, 40 * time.Minute, 3}, {4.1, 0, 3}} {
		now := 5 * time.Minute
		for range tt.instant {
			p := propose(now, tt.score, 10*time.Minute)
			require.Empty(t, p.Actions, "score %v after %s", tt.score, now)
			require.True(t, p.Next.After(noon.Add(now)))
			now = p.Next.Sub(noon)
			require.Empty(t, propose(now-1, tt.score, 10*time.Minute).Actions)
		}
		last := propose(now, tt.score, 10*time.Minute)
		if tt.falls == 0 {
			require.Empty(t, last.Actions)
			require.Zero(t, last.Next)
			continue
		}
		require.Equal(t, tt.falls, now)
		require.Equal(t, []string{"Underutilized n1 -> small saves 0.100"}, deeds(last.Actions))
		never := propose(now, tt.score, 0)
		require.Empty(t, never.Actions)
		require.Zero(t, never.Next)
	}
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

// One dear node of a pool is that pool's average: what an eviction is worth is also
// weighed by what the other pools pay.
func TestADearPodIsMovedForLess(t *testing.T) {
	small, _, large, all := sizes()
	train := func() *corev1.Pod {
		return load("train", 7000, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{v1.NodePoolLabelKey: "gpu"} })
	}
	dear, cheaper := sizedType("dear", 8, 2.0), sizedType("cheaper", 8, 1.6)
	in := fleetOf(all)
	in.NodePools = append(in.NodePools, newPool("gpu"))
	in.InstanceTypes["gpu"] = []*cloudprovider.InstanceType{dear, cheaper}
	in.Nodes = append(in.Nodes, machine("n0", "gpu", dear, train()))
	p := propose(t, in, nil)
	require.Empty(t, p.Actions, "alone it scores 0.2 and a quarter is asked for")
	for i := range 4 {
		in.Nodes = append(in.Nodes, machine(fmt.Sprintf("n%d", i+1), "default", small, load(fmt.Sprintf("p%d", i), 1800)))
	}
	require.Equal(t, []string{"Underutilized n0 -> cheaper saves 0.400"}, deeds(propose(t, in, nil).Actions))

	// It is not the other way round: what others pay does not keep a cheap pool from
	// being tidied up.
	in = fleetOf(all, machine("n1", "default", large, load("a", 1500)), machine("n2", "default", large, load("b", 7900)))
	want := deeds(propose(t, in, nil).Actions)
	require.NotEmpty(t, want)
	in.NodePools = append(in.NodePools, newPool("gpu"))
	in.InstanceTypes["gpu"] = []*cloudprovider.InstanceType{cheaper}
	in.Nodes = append(in.Nodes, machine("n3", "gpu", sizedType("cheaper", 8, 1.1), train()))
	require.Equal(t, want, deeds(propose(t, in, nil).Actions))
}
