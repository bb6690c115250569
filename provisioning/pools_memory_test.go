package provisioning_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
)

// manyPools returns the input of genericInput with a number of pools, one for each of as
// many teams. Half of the pods ask for the pool of one of eight teams.
func manyPools(pools, types int) provisioning.Input {
	in := scenes.Generic(100, types)
	model, catalog := in.NodePools[0], in.InstanceTypes["default"]
	in.NodePools = nil
	for i := range pools {
		pool := model.DeepCopy()
		pool.Name = fmt.Sprintf("team-%03d", i)
		pool.Spec.Template.Labels = map[string]string{"team": pool.Name}
		in.NodePools = append(in.NodePools, pool)
		in.InstanceTypes[pool.Name] = catalog
	}
	for i, pod := range in.Pods {
		if i%2 == 0 {
			pod.Spec.NodeSelector = map[string]string{"team": fmt.Sprintf("team-%03d", i%8)}
		}
	}
	return in
}

// allocated says how many bytes a call allocates.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestMemoryIsLinearInPools: each further pool takes no more memory than the one
// before. What is kept about options by pool must not be over the options of all.
func TestMemoryIsLinearInPools(t *testing.T) {
	of := map[int]float64{}
	for _, pools := range []int{8, 16, 32} {
		in := manyPools(pools, 500)
		of[pools] = float64(allocated(func() {
			solved(t, in, nil)
		}))
	}
	from8, from16 := (of[16]-of[8])/8, (of[32]-of[16])/16
	t.Logf("each pool of 9 to 16 takes %.0f KB, each of 17 to 32 %.0f KB", from8/1024, from16/1024)
	require.Less(t, from16, 1.2*from8)
}
