package consolidation

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// One of many nodes that are alike, replaced at half its price, scores exactly what
// Balanced asks for, whatever the sum of their prices has in its last digits.
func TestBalancedTakesExactlyTheThreshold(t *testing.T) {
	for count := 1; count <= 40; count++ {
		for cents := 1; cents <= 100; cents++ {
			price := float64(cents) / 100
			r, members := balancedFleet(count, price)
			text := fmt.Sprintf("%d nodes at %g", count, price)
			v := r.balanced(members[:1], price-price/2)
			require.False(t, v.Bad(), "%s: %s", text, v.Detail)
			v = r.balanced(members[:1], price*0.499)
			require.Equal(t, rule.Balanced, v.Rule, text)
		}
	}
}

// balancedFleet returns a pool of nodes that are alike, each with one pod.
func balancedFleet(count int, price float64) (*Rules, []*state.StateNode) {
	p := &state.NodePool{NodePool: &v1.NodePool{}, Policy: v1.ConsolidationPolicyBalanced}
	for range count {
		p.Members = append(p.Members, &state.StateNode{PoolName: "web", Pool: p, Cost: podlife.OneEviction,
			Offering: &cloudprovider.Offering{Price: price}})
	}
	f := &state.Cluster{PoolNames: []string{"web"}, Pools: map[string]*state.NodePool{"web": p}}
	return NewRules(f, Settings{}), p.Members
}
