package compare_test

import (
	"context"
	"fmt"
	"log"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// half returns a cluster of which half of the pods are gone, with the budgets given.
func half(budgets ...v1.Budget) compare.Side {
	s := scaledDown(running([]*v1.NodePool{onDemand("general")}, append(pods("web", 12, "1500m", "5Gi"), pods("api", 12, "900m", "1Gi")...)),
		func(p *corev1.Pod) bool { return p.Name[len(p.Name)-1]%2 == 0 })
	pool := s.Input.NodePools[0].DeepCopy()
	pool.Spec.Disruption.Budgets = budgets
	s.Input.NodePools = []*v1.NodePool{pool}
	return s
}

// TestBudgetsHaveAPrice: one that closes the pool holds all up, one that is open nothing, and
// of two that close it each alone holds nothing more up.
func TestBudgetsHaveAPrice(t *testing.T) {
	testlong.Alone(t)
	open, err := compare.Budgets(t.Context(), noon, half(v1.Budget{Nodes: "100%"}))
	require.NoError(t, err)
	require.Empty(t, open)

	closed := v1.Budget{Nodes: "0", Reasons: []v1.DisruptionReason{v1.DisruptionReasonUnderutilized}}
	prices, err := compare.Budgets(t.Context(), noon, half(closed, v1.Budget{Nodes: "100%"}))
	require.NoError(t, err)
	require.Len(t, prices, 1)
	require.Equal(t, 0, prices[0].Index)
	require.Equal(t, closed, prices[0].Budget)
	require.Positive(t, prices[0].Saves)
	require.Positive(t, prices[0].Actions)

	twice, err := compare.Budgets(t.Context(), noon, half(closed, v1.Budget{Nodes: "0"}))
	require.NoError(t, err)
	require.Empty(t, twice)

	// What it holds up is what may begin to be saved without it.
	with, err := compare.Settle(t.Context(), noon, half(closed), nil)
	require.NoError(t, err)
	without, err := compare.Settle(t.Context(), noon, half(v1.Budget{Nodes: "100%", Reasons: closed.Reasons}), nil)
	require.NoError(t, err)
	prices, err = compare.Budgets(t.Context(), noon, half(closed))
	require.NoError(t, err)
	require.InDelta(t, with.AtOnce-without.AtOnce, prices[0].Saves, 1e-9)
}

// Consolidation is closed for now: what does that cost?
func ExampleBudgets() {
	prices, err := compare.Budgets(context.Background(), noon, half(v1.Budget{Nodes: "0"}))
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range prices {
		fmt.Println(p)
	}

	// Output:
	// NodePool general: budget nodes=0: it holds up 0.6610 USD/h
}
