package disruption

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// One of many nodes that are alike, replaced at half its price, scores exactly what
// Balanced asks for, whatever the sum of their prices has in its last digits.
func TestBalancedTakesExactlyTheThreshold(t *testing.T) {
	for count := 1; count <= 40; count++ {
		for cents := 1; cents <= 100; cents++ {
			price := float64(cents) / 100
			f, members := balancedFleet(count, price)
			text := fmt.Sprintf("%d nodes at %g", count, price)
			v := f.balanced(f.poolTotals(), members[:1], price-price/2)
			require.False(t, v.bad(), "%s: %s", text, v.detail)
			v = f.balanced(f.poolTotals(), members[:1], price*0.499)
			require.Equal(t, ruleBalanced, v.rule, text)
		}
	}
}

// balancedFleet is a pool of nodes that are alike, each with one pod.
func balancedFleet(count int, price float64) (*Cluster, []*stateNode) {
	p := &nodePool{NodePool: &v1.NodePool{}, policy: v1.ConsolidationPolicyBalanced}
	for range count {
		p.members = append(p.members, &stateNode{poolName: "web", pool: p, cost: oneEviction,
			offering: &cloudprovider.Offering{Price: price}})
	}
	f := &Cluster{opts: (*Options)(nil).withDefaults(), poolNames: []string{"web"}, pools: map[string]*nodePool{"web": p}}
	return f, p.members
}
