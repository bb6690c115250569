package disruption_test

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// More clusters for a longer run: DOVETAIL_LONG=all go test -run ComesToRest -clusters 1000
var (
	manyClusters = flag.Int("clusters", 120, "how many random clusters come to rest")
	firstCluster = flag.Int("first-cluster", 0, "seed of the first of them")
)

// mixed returns a random cluster with something of everything that moves nodes: all
// policies, times and floors, limits, drift, notices of the cloud, static pools,
// held pods, pods that wait and offerings that ran dry. Without FreePodsAreEmpty,
// with which nothing comes to rest.
func (m *maker) mixed(most int) (disruption.Input, *disruption.Options) {
	in := m.cluster(most)
	in.Drift = map[string]cloudprovider.Drift{}
	for i, p := range in.NodePools {
		d := &p.Spec.Disruption
		d.ConsolidationPolicy = pick(m, v1.ConsolidationPolicyWhenEmpty, v1.ConsolidationPolicyWhenEmptyOrUnderutilized,
			v1.ConsolidationPolicyWhenEmptyOrUnderutilized, v1.ConsolidationPolicyBalanced)
		d.ConsolidateAfter = pick(m, v1.NewDuration(0), v1.NewDuration(30*time.Second), v1.NewDuration(time.Hour), v1.NewDuration(0))
		if m.chance(5) {
			d.ConsolidateAfter = v1.NeverDuration()
		}
		if m.chance(25) {
			p.Spec.Limits = v1.Limits{corev1.ResourceCPU: *resource.NewQuantity(int64(8+m.IntN(12*most)), resource.DecimalSI)}
		}
		if i == 1 && m.chance(20) {
			replicas(int64(m.IntN(4)), 10)(p)
		}
	}
	for _, n := range in.Nodes {
		if m.chance(10) {
			in.Drift[n.NodeClaim.Name] = cloudprovider.Drift{Reason: "AMIDrift"}
		}
		if m.chance(4) {
			in.Interruptions = append(in.Interruptions, cloudprovider.Interruption{ID: n.Name(), InstanceID: "cloud://" + n.Name(),
				Kind: pick(m, cloudprovider.InterruptionSpot, cloudprovider.InterruptionRebalance), At: noon})
		}
		for _, p := range n.Pods {
			if m.chance(4) {
				note(v1.DoNotDisruptAnnotationKey, pick(m, "true", "1h"))(p)
			}
			if m.chance(10) {
				note(v1.DisruptionCostAnnotationKey, pick(m, "-134217728", "2147483647"))(p)
			}
		}
	}
	opts := &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: pick(m, 0, 0, -1, 0.2), NoReplacements: m.chance(10), NoSpotToSpot: m.chance(30), SpotFloor: pick(m, 0, -1, 2), MaxNodes: pick(m, 0, 0, 1, 3), MinimumSaving: pick(m, 0, 0.01)}, EvictAtOnce: m.chance(20), Lifecycle: disruption.LifecycleOptions{ActOnRebalance: m.chance(50)}, Drift: disruption.DriftOptions{TerminateFirst: m.chance(50)}}
	if m.chance(30) {
		o := &in.InstanceTypes["default"][m.IntN(4)].Offerings[m.IntN(6)]
		in.UnavailableOfferings = []disruption.UnavailableOffering{{Offering: o.Key("t1"), At: noon}}
	}
	return in, opts
}

// atRest carries out what is proposed, and what package provisioning plans for
// pods that wait, until neither has anything to do. All that is known of the
// market is passed on.
func atRest(t testing.TB, seed int, in disruption.Input, opts *disruption.Options) (rest disruption.Input, now time.Time, rounds int) {
	t.Helper()
	now = noon
	for rounds = range 100 {
		p, faults, err := disruption.Propose(t.Context(), now, in, opts)
		require.NoError(t, err)
		require.Empty(t, faults, "seed %d", seed)
		plan, err := provisioning.Solve(t.Context(), in.Input, opts.Provisioning)
		require.NoError(t, err)
		if len(p.Actions) == 0 && len(plan.Create)+len(plan.Bind) == 0 {
			return in, now, rounds
		}
		for _, a := range p.Actions {
			if a.Reason == disruption.Underutilized {
				require.Positive(t, a.Savings, "seed %d: %s", seed, a)
			}
		}
		market := p.CatalogCache
		now = now.Add(3 * time.Hour)
		if in, err = disruption.After(now, in, p.Actions, opts); err != nil {
			require.NoError(t, err, "seed %d", seed)
		}
		again, err := provisioning.Solve(t.Context(), in.Input, opts.Provisioning)
		require.NoError(t, err)
		in = disruption.AfterPlan(now, in, again)
		in.CatalogCache = market
		now = now.Add(3 * time.Hour)
	}
	t.Fatalf("seed %d does not come to rest", seed)
	return in, now, rounds
}

// TestAnyClusterComesToRest: applying proposals ends, and then there is none even
// long after, nor without what was passed on.
func TestAnyClusterComesToRest(t *testing.T) {
	t.Parallel()
	n := int(testlong.Problems(*manyClusters, 4))
	most, all, moved := 0, 0, 0
	for seed := *firstCluster; seed < *firstCluster+n; seed++ {
		m := newMaker(uint64(50_000 + seed))
		in, opts := m.mixed(pick(m, 4, 6, 10))
		rest, now, rounds := atRest(t, seed, in, opts)
		most, all = max(most, rounds), all+rounds
		if rounds > 0 {
			moved++
		}
		rest.CatalogCache = nil
		for _, later := range []time.Duration{0, 300 * time.Hour} {
			again, _, err := disruption.Propose(t.Context(), now.Add(later), rest, opts)
			require.NoError(t, err)
			require.Empty(t, deeds(again.Actions), "seed %d: a second run finds nothing, %s later", seed, later)
		}
	}
	t.Logf("%d clusters: %d rounds on average, %d at most", n, all/n, most)
	require.Greater(t, moved, n/2, "the clusters are such that there is something to do")
}
