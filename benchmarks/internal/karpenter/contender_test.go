package karpenter_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/karpenter"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/traces"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
)

// watched keeps the cluster of a play.
func watched(cluster **simcluster.Cluster) life.Start {
	start := karpenter.New("")
	return func(site life.Site) (life.Contender, error) {
		*cluster = site.Cluster
		return start(site)
	}
}

// TestHour: Karpenter launches what an hour of the two days needs, removes nodes, and costs more than the bound.
func TestHour(t *testing.T) {
	trace, err := traces.New("hour", 1)
	require.NoError(t, err)
	var cluster *simcluster.Cluster
	f, err := life.Play(t.Context(), trace, watched(&cluster), nil)
	require.NoError(t, err)
	require.Zero(t, f.Pending)
	require.NotZero(t, f.Launches)
	require.NotZero(t, f.Evictions, "consolidation")
	require.Greater(t, f.Bill, f.Bound)
	require.Less(t, f.P99, 5*time.Minute)
	require.Less(t, f.EndNodes, f.Launches, "nodes that were removed are gone")
	for _, node := range cluster.Nodes.All() {
		require.Equal(t, "true", node.Labels["karpenter.sh/registered"], node.Name)
	}
}

// TestFinished: consolidateAfter counts from the end of the last pod of a Job.
func TestFinished(t *testing.T) {
	nodesAfter := func(length time.Duration) int {
		trace, err := traces.New("hour", 1)
		require.NoError(t, err)
		trace.Length, trace.Workloads = length, []*simcluster.Workload{{Name: "batch", Every: time.Minute, Runs: 15 * time.Minute,
			Template: simcluster.PodSpec("cpu=900m, memory=1500Mi"), Replicas: func(time.Time) int { return 20 }}}
		for i, pool := range trace.Pools {
			trace.Pools[i] = pool.DeepCopy()
			trace.Pools[i].Spec.Disruption.ConsolidateAfter = v1.MustParseNillableDuration("10m")
		}
		f, err := life.Play(t.Context(), trace, karpenter.New(""), nil)
		require.NoError(t, err)
		require.NotZero(t, f.Launches)
		return f.EndNodes
	}
	require.NotZero(t, nodesAfter(24*time.Minute))
	require.Zero(t, nodesAfter(40*time.Minute))
}

// restarted starts Karpenter anew in each turn of five minutes.
type restarted struct {
	life.Contender
	site  life.Site
	start life.Start
}

// Step is a turn, after a restart now and then.
func (r *restarted) Step(ctx context.Context) (err error) {
	if r.site.Cluster.Now().Unix()%300 == 0 {
		if r.Contender, err = r.start(r.site); err != nil {
			return err
		}
	}
	return r.Contender.Step(ctx)
}

// TestRestart: Karpenter finds its NodeClaims and nodes again, and costs about as much as without restarts.
func TestRestart(t *testing.T) {
	play := func(again bool) *life.Figures {
		trace, err := traces.New("hour", 1)
		require.NoError(t, err)
		trace.Length = 20 * time.Minute
		start := karpenter.New("")
		f, err := life.Play(t.Context(), trace, func(site life.Site) (life.Contender, error) {
			c, err := start(site)
			if again {
				c = &restarted{c, site, start}
			}
			return c, err
		}, nil)
		require.NoError(t, err)
		return f
	}
	plain, restarted := play(false), play(true)
	require.Zero(t, restarted.Pending)
	require.Less(t, restarted.Bill, 1.3*plain.Bill)
}
