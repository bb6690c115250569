package pack_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// TestTierTakesNothingForOtherOptions counts what is allocated for new nodes of a hundred
// options, beside some that nobody may use: no more than sets of them take.
func TestTierTakesNothingForOtherOptions(t *testing.T) {
	bytes := func(others int) int {
		p := &pack.Problem{Dims: 1, Pools: []pack.Pool{{Last: 100}, {First: 100, Last: 100 + others, Tier: 1}}}
		other := []int64{1_000}
		for o := range 100 + others {
			p.Options = append(p.Options, pack.Option{Price: float64(1 + o), Capacity: other})
			if o < 100 {
				p.Options[o].Capacity = []int64{int64(1 + o)}
			}
		}
		p.Capacities = pack.NewCapacities(p.Options, []int{0, 100}, 1)
		may := bitset.New(len(p.Options))
		may.AddRange(0, 100)
		p.Classes = []pack.Class{{Request: []int64{1}, Count: 1, Variants: []pack.Variant{{Options: may}}}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		pack.New(p).Ready()
		runtime.ReadMemStats(&after)
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	bytes(0)
	few, many := bytes(1_000), bytes(50_000)
	t.Log(few, many)
	require.Less(t, many, few+3*50_000)
}
