package overlay_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
)

// randomOverlays makes overlays that overlap a lot.
func randomOverlays(r *rand.Rand) []*v1.NodeOverlay {
	selectors := []string{"", "topology.kubernetes.io/zone = a", "karpenter.sh/capacity-type = spot", "karpenter.sh/nodepool = p1",
		"node.kubernetes.io/instance-type in (t0, t2)", "team = a", "!team", "topology.kubernetes.io/zone notin (a), team"}
	changes := []string{"2", "0", "+10%", "-100%", "-0.1", "example.com/gpu=1", "example.com/gpu=2, example.com/nic=1", "odd=1", "1.2.3"}
	var out []*v1.NodeOverlay
	for i := range 1 + r.Intn(6) {
		weight := int32(r.Intn(3))
		out = append(out, newOverlay(fmt.Sprintf("o%d", i), weight, selectors[r.Intn(len(selectors))], changes[r.Intn(len(changes))]))
	}
	return out
}

func randomOverlayPools(r *rand.Rand) []*v1.NodePool {
	reqs := []string{"", "team = a", "team in (a, b)", "topology.kubernetes.io/zone = b", "team"}
	var out []*v1.NodePool
	for i := range 1 + r.Intn(3) {
		out = append(out, overlayPool(fmt.Sprintf("p%d", i), reqs[r.Intn(len(reqs))]))
	}
	return out
}

func overlayTypes() []*cloudprovider.InstanceType {
	return []*cloudprovider.InstanceType{overlayType("t0", "", 1), overlayType("t1", "", 2), overlayType("t2", "", 3)}
}

// bruteWinner finds who sets something of a type by asking for each overlay on
// its own whether it does, and comparing weights.
func bruteWinner(alone map[string]*cloudprovider.InstanceType, overlays []*v1.NodeOverlay, sets func(*cloudprovider.InstanceType) bool) (winner string, losers int) {
	best := int32(-1)
	for _, o := range overlays {
		if !sets(alone[o.Name]) {
			continue
		}
		weight := int32(0)
		if o.Spec.Weight != nil {
			weight = *o.Spec.Weight
		}
		switch {
		case weight > best:
			best, winner, losers = weight, o.Name, 0
		case weight == best:
			winner = min(winner, o.Name)
			losers++
		}
	}
	return winner, losers
}

// TestLawOneByOne: what is decided together is what a look at each price
// and each resource alone gives.
func TestLawOneByOne(t *testing.T) {
	for seed := range int64(60) {
		r := rand.New(rand.NewSource(seed))
		overlays, pools := randomOverlays(r), randomOverlayPools(r)
		out, statuses := applyOverlays(t, overlays, pools, overlayTypes()...)
		conflicts, losers := 0, 0
		for _, pool := range pools {
			for i, itype := range out[pool.Name] {
				alone := map[string]*cloudprovider.InstanceType{}
				for _, o := range overlays {
					changed, _ := applyOverlays(t, []*v1.NodeOverlay{o}, []*v1.NodePool{pool}, overlayTypes()...)
					alone[o.Name] = changed[pool.Name][i]
				}
				for j := range itype.Offerings {
					winner, n := bruteWinner(alone, overlays, func(t *cloudprovider.InstanceType) bool { return t.Offerings[j].PriceOverlay != "" })
					losers += n
					require.Equal(t, winner, itype.Offerings[j].PriceOverlay, "seed %d", seed)
					if winner != "" {
						require.Equal(t, alone[winner].Offerings[j].Price, itype.Offerings[j].Price, "seed %d", seed)
					}
				}
				for _, name := range []corev1.ResourceName{"example.com/gpu", "example.com/nic", "odd"} {
					winner, n := bruteWinner(alone, overlays, func(t *cloudprovider.InstanceType) bool { return t.CapacityOverlays[name] != "" })
					losers += n
					require.Equal(t, winner, itype.CapacityOverlays[name], "seed %d", seed)
					if winner != "" {
						require.Equal(t, alone[winner].Capacity.Get(name), itype.Capacity.Get(name), "seed %d", seed)
					}
				}
			}
		}
		for _, status := range statuses {
			conflicts += len(status.Conflicts)
		}
		require.Equal(t, losers, conflicts, "seed %d: every overlay that gives way says so, once for each place", seed)
	}
}

// TestLawOrderOfInput: shuffled overlays and pools give the same, and
// the input is left alone.
func TestLawOrderOfInput(t *testing.T) {
	for seed := range int64(100) {
		r := rand.New(rand.NewSource(seed))
		overlays, pools := randomOverlays(r), randomOverlayPools(r)
		types := overlayCatalogs(pools, overlayTypes()...)
		want, wantStatuses, err := overlay.Apply(overlays, pools, types, nil)
		require.NoError(t, err)
		require.Equal(t, overlayCatalogs(pools, overlayTypes()...), types, "seed %d: the input changed", seed)
		again := rand.New(rand.NewSource(seed))
		require.Equal(t, randomOverlays(again), overlays, "seed %d: the overlays changed", seed)
		require.Equal(t, randomOverlayPools(again), pools, "seed %d: the pools changed", seed)
		r.Shuffle(len(overlays), func(i, j int) { overlays[i], overlays[j] = overlays[j], overlays[i] })
		r.Shuffle(len(pools), func(i, j int) { pools[i], pools[j] = pools[j], pools[i] })
		got, gotStatuses, err := overlay.Apply(overlays, pools, types, nil)
		require.NoError(t, err)
		require.Equal(t, want, got, "seed %d", seed)
		require.Equal(t, wantStatuses, gotStatuses, "seed %d", seed)
	}
}

// TestLawStaySound: whatever valid overlays do, sound types stay sound.
func TestLawStaySound(t *testing.T) {
	for seed := range int64(100) {
		r := rand.New(rand.NewSource(seed))
		overlays, pools := randomOverlays(r), randomOverlayPools(r)
		out, _ := applyOverlays(t, overlays, pools, overlayTypes()...)
		for _, catalog := range out {
			for _, itype := range catalog {
				require.NoError(t, itype.Validate(), "seed %d", seed)
			}
		}
	}
}
