package compare_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// changed returns a side whose pools were edited.
func changed(t *testing.T, s compare.Side, edit func(*v1.NodePool)) compare.Side {
	p := s.Policies()
	p.NodePools = nil
	for _, pool := range s.Input.NodePools {
		pool = pool.DeepCopy()
		edit(pool)
		p.NodePools = append(p.NodePools, pool)
	}
	out, err := s.With(p)
	require.NoError(t, err)
	return out
}

func compared(t *testing.T, before, after compare.Side) *compare.Comparison {
	c, err := compare.Compare(t.Context(), noon, before, after, nil)
	require.NoError(t, err)
	for i := 1; i < len(c.Differences); i++ {
		require.Negative(t, c.Differences[i-1].Compare(c.Differences[i]))
	}
	return c
}

// of returns the differences of a kind.
func of(c *compare.Comparison, kind compare.Kind) (out []compare.Difference) {
	for _, d := range c.Differences {
		if d.Kind == kind {
			out = append(out, d)
		}
	}
	return out
}

func onDemand(name string) *v1.NodePool {
	return pool(name, in(corev1.LabelArchStable, v1.ArchitectureAmd64), in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
}

// TestSpotIsAllowed: the same pods for less, from empty and from what runs.
func TestSpotIsAllowed(t *testing.T) {
	before := running([]*v1.NodePool{onDemand("general")}, pods("web", 9, "1500m", "5Gi"))
	c := compared(t, before, changed(t, before, func(p *v1.NodePool) {
		p.Spec.Template.Spec.Requirements = p.Spec.Template.Spec.Requirements[:1]
	}))
	fresh, settled := of(c, compare.KindFreshCost), of(c, compare.KindSettledCost)
	require.Len(t, fresh, 1)
	require.Less(t, fresh[0].New, fresh[0].Old)
	require.Contains(t, fresh[0].Why, "spot of general")
	require.NotEmpty(t, fresh[0].Nodes)
	require.Len(t, settled, 1)
	require.Less(t, settled[0].New, settled[0].Old)
	require.InDelta(t, c.New.Settled.Bill.Cost, settled[0].New, 1e-9)
	require.Empty(t, of(c, compare.KindDrift), "a node that the pool could still have has not drifted")
	evicted := of(c, compare.KindEvicted)
	require.Len(t, evicted, 1)
	require.InDelta(t, 9, evicted[0].New, 1e-9)
	require.Contains(t, evicted[0].String(), "Evicted: 9, was 0: ")
}

// TestALimitIsLowered: pods that a plan from empty could not place any more, with the
// reason; what runs stays.
func TestALimitIsLowered(t *testing.T) {
	before := running([]*v1.NodePool{onDemand("general")}, pods("web", 9, "1500m", "5Gi"))
	c := compared(t, before, changed(t, before, func(p *v1.NodePool) {
		p.Spec.Limits = v1.Limits{corev1.ResourceCPU: resource.MustParse("8")}
	}))
	lost := of(c, compare.KindUnplaced)
	require.NotEmpty(t, lost)
	require.InDelta(t, 0, lost[0].Old, 0)
	require.InDelta(t, 1, lost[0].New, 0)
	require.Contains(t, lost[0].String(), "Unplaced of shop/web-6f7d-")
	require.Contains(t, lost[0].String(), "pending, was placed: ")
	require.Contains(t, lost[0].Why, "limit")
	require.Empty(t, of(c, compare.KindPending))
	require.Empty(t, of(c, compare.KindSettledCost))
}

// TestDriftWaitsForItsBudget: a label of the template is changed, and nodes go when a
// budget opens at six; of a pool whose budget is 0 they stay.
func TestDriftWaitsForItsBudget(t *testing.T) {
	before := running([]*v1.NodePool{onDemand("general")}, pods("web", 9, "1500m", "5Gi"))
	edit := func(budgets ...v1.Budget) compare.Side {
		return changed(t, before, func(p *v1.NodePool) {
			p.Spec.Template.Labels = map[string]string{"team": "shop"}
			p.Spec.Disruption.Budgets = budgets
		})
	}
	closed, length := "0 6 * * *", &metav1.Duration{Duration: 12 * time.Hour}
	c := compared(t, before, edit(v1.Budget{Nodes: "0", Schedule: &closed, Duration: length}))
	drifts := of(c, compare.KindDrift)
	require.Len(t, drifts, len(before.Input.Nodes))
	for _, d := range drifts {
		require.InDelta(t, compare.NotDrifted, d.Old, 0)
		require.InDelta(t, 6, d.New, 0.5, "%s", d)
		require.Equal(t, []string{d.Object}, d.Nodes)
	}
	require.Contains(t, drifts[0].String(), "gone after 6h, was not drifted: NodePoolDrifted")
	require.True(t, c.New.Settled.Rested)

	c = compared(t, before, edit(v1.Budget{Nodes: "0"}))
	drifts = of(c, compare.KindDrift)
	require.Len(t, drifts, len(before.Input.Nodes))
	require.InDelta(t, compare.Stays, drifts[0].New, 0)
	require.Contains(t, drifts[0].String(), "drifted and stays, was not drifted: ")
	require.Contains(t, drifts[0].Why, "budget")
}

// TestAPoolGoes: its nodes are removed, and their pods find places in another.
func TestAPoolGoes(t *testing.T) {
	other := pool("other", in(corev1.LabelArchStable, v1.ArchitectureArm64))
	weight := int32(50)
	general := onDemand("general")
	general.Spec.Weight = &weight
	before := running([]*v1.NodePool{general, other}, pods("web", 5, "1500m", "5Gi"))
	p := before.Policies()
	p.NodePools = p.NodePools[1:]
	after, err := before.With(p)
	require.NoError(t, err)
	c := compared(t, before, after)
	require.Empty(t, of(c, compare.KindPending))
	var objects []string
	for _, d := range of(c, compare.KindSettledPoolCost) {
		objects = append(objects, d.Object)
	}
	require.Equal(t, []string{"general on-demand", "other spot"}, objects)
	require.Equal(t, 5, c.New.Settled.Evicted)
	for _, n := range c.New.Settled.Input.Nodes {
		require.Equal(t, "other", n.NodeClaim.Labels[v1.NodePoolLabelKey])
	}
}

// TestPoolsArePaired: a pool under a new name takes the nodes of the old over; without a
// pair the message says how to make one.
func TestPoolsArePaired(t *testing.T) {
	before := running([]*v1.NodePool{onDemand("general")}, pods("web", 5, "1500m", "5Gi"))
	p := before.Policies()
	p.NodePools = []*v1.NodePool{onDemand("default")}
	p.InstanceTypes = map[string][]*cloudprovider.InstanceType{"default": before.Input.InstanceTypes["general"]}
	_, err := before.With(p)
	require.EqualError(t, err, `no NodePool of today (general) has the name of a new one (default): say in Policies.Pairs which new one takes the place of which, such as "general": "default"`)

	p.Pairs = map[string]string{"general": "default"}
	after, err := before.With(p)
	require.NoError(t, err)
	require.Equal(t, "general", before.Input.Nodes[0].NodeClaim.Labels[v1.NodePoolLabelKey])
	c := compared(t, before, after)
	require.Equal(t, c.Old.Settled.Bill.Cost, c.New.Settled.Bill.Cost)
	require.Empty(t, of(c, compare.KindFreshCost))
	require.Zero(t, c.New.Settled.Evicted)

	p.Pairs = map[string]string{"generic": "default", "general": "standard", "other": "default"}
	_, err = before.With(p)
	for _, want := range []string{
		`Policies.Pairs: there is no NodePool "generic" today to pair with "default"; today's are general`,
		`Policies.Pairs: there is no NodePool "standard" among the new ones to take the place of "general"; the new ones are default`,
		`Policies.Pairs: NodePool "default" takes the place of both "generic" and "other"; pair it with one`,
	} {
		require.ErrorContains(t, err, want)
	}
}

// TestSidesAtFault: both sides are told of, two clusters are none, and options are read.
func TestSidesAtFault(t *testing.T) {
	s := running([]*v1.NodePool{onDemand("general")}, pods("web", 3, "1500m", "5Gi"))
	other := s
	other.Input.Nodes = slices.Clone(s.Input.Nodes)[1:]
	_, err := compare.Compare(t.Context(), noon, s, other, nil)
	require.ErrorContains(t, err, `the new side lacks node "`)
	require.ErrorContains(t, err, `the new side lacks pod "shop/web-6f7d-`)

	bad := s
	bad.Input.NodePools = append(slices.Clone(s.Input.NodePools), s.Input.NodePools[0])
	_, err = compare.Compare(t.Context(), noon, bad, bad, nil)
	require.ErrorContains(t, err, "the old side: ")
	require.ErrorContains(t, err, "the new side: ")

	_, err = compare.Compare(t.Context(), noon, s, s, &compare.Options{MaxRounds: -1, Parallel: -1})
	require.ErrorContains(t, err, "MaxRounds is -1; use 0 for the default, or a positive number")
	require.ErrorContains(t, err, "Parallel is -1; use 0 for the default, or a positive number")
}

// TestTheWayIsBounded: a side that has not come to rest says why it was not followed.
func TestTheWayIsBounded(t *testing.T) {
	testlong.Alone(t)
	s := scaledDown(running([]*v1.NodePool{onDemand("general")}, append(pods("web", 9, "1500m", "5Gi"), pods("api", 9, "900m", "1Gi")...)),
		func(p *corev1.Pod) bool { return p.Name[len(p.Name)-1]%3 != 0 })
	full, err := compare.Settle(t.Context(), noon, s, nil)
	require.NoError(t, err)
	require.True(t, full.Rested)
	require.NotEmpty(t, full.Rounds)
	require.Less(t, full.Bill.Cost, full.Today.Cost)
	require.GreaterOrEqual(t, full.Peak, full.Today.Nodes)
	cut, err := compare.Settle(t.Context(), noon, s, &compare.Options{MaxRounds: 1})
	require.NoError(t, err)
	require.False(t, cut.Rested)
	require.Equal(t, "stopped after 1 proposal: Options.MaxRounds", cut.Why)
}

// TestOptionsDiffer: the same cluster with another engine is another side.
func TestOptionsDiffer(t *testing.T) {
	before := running([]*v1.NodePool{onDemand("general")}, pods("web", 9, "1500m", "5Gi"))
	before = scaledDown(before, func(p *corev1.Pod) bool {
		return p.Name != "web-6f7d-3" && p.Name != "web-6f7d-4" && p.Name != "web-6f7d-5"
	})
	after := before
	after.Options = &disruption.Options{Consolidation: disruption.ConsolidationOptions{NoReplacements: true}}
	c := compared(t, before, after)
	require.Empty(t, of(c, compare.KindFreshCost))
	require.LessOrEqual(t, c.Old.Settled.Bill.Cost, c.New.Settled.Bill.Cost)
}

// The receiver gets the progress of both sides, and not of the proposals within them.
func TestCompareTellsHowFarItIs(t *testing.T) {
	side := running([]*v1.NodePool{onDemand("general")}, pods("web", 9, "1500m", "5Gi"))
	var stages []string
	ctx := progress.With(context.Background(), func(e progress.Event) {
		assert.Equal(t, "compare.Compare", e.Work)
		stages = append(stages, e.Stage)
	})
	_, err := compare.Compare(ctx, noon, side, side, nil)
	require.NoError(t, err)
	for _, want := range []string{"old side, proposals", "new side, proposals", "old side, planning from empty", "new side, planning from empty"} {
		assert.Contains(t, stages, want)
	}

	var works []string
	ctx = progress.With(context.Background(), func(e progress.Event) { works = append(works, e.Work) })
	_, err = compare.Settle(ctx, noon, side, nil)
	require.NoError(t, err)
	_, err = compare.FromEmpty(ctx, noon, side)
	require.NoError(t, err)
	require.Equal(t, []string{"compare.Settle", "compare.FromEmpty"}, slices.Compact(works))
}
