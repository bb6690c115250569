package disruption_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/fake"
	fakecatalog "github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
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

// livingCluster is pools and pods on machines of the fake cloud. Pods come up at
// once where they are put.
type livingCluster struct {
	cloud  *fake.Cloud
	in     disruption.Input
	claims []*v1.NodeClaim
	pods   map[string][]*corev1.Pod // by NodeClaim
}

func newLivingCluster(t *testing.T) *livingCluster {
	t.Helper()
	catalog, err := fakecatalog.New(&fakecatalog.Options{Families: []string{"c5", "m5", "m6a", "r5"},
		Where: requirements.MustParse("karpenter.k8s.aws/instance-cpu < 17"), Zones: []fakecatalog.Zone{{Name: "a"}, {Name: "b"}}})
	require.NoError(t, err)
	cloud, err := fake.New(&fake.Options{InstanceTypes: catalog, Now: func() time.Time { return noon }})
	require.NoError(t, err)
	c := &livingCluster{cloud: cloud, pods: map[string][]*corev1.Pod{}}
	c.in = fleetOf(nil)
	c.in.InstanceTypes["default"], err = cloud.InstanceTypes(t.Context(), c.in.NodePools[0])
	require.NoError(t, err)
	return c
}

// launch has the cloud make a machine for a NodeClaim.
func (c *livingCluster) launch(t *testing.T, claim *v1.NodeClaim, n *provisioning.NewNode) {
	t.Helper()
	claim.UID, claim.CreationTimestamp = types.UID(claim.Name), at(c.cloud.Now().Sub(noon))
	instance, err := c.cloud.Create(t.Context(), n.Request(claim.Name))
	require.NoError(t, err)
	claim.Status.ProviderID = instance.ID
	claim.Status.Capacity, claim.Status.Allocatable = instance.Capacity.ResourceList(), instance.Allocatable.ResourceList()
	for key, value := range instance.Labels {
		claim.Labels[key] = value
	}
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized} {
		setCondition(claim, kind, "True", c.cloud.Now())
	}
	c.claims = append(c.claims, claim)
}

func (c *livingCluster) bind(claim string, p *corev1.Pod) {
	c.pods[claim] = append(c.pods[claim], p)
}

// snapshot returns the cluster as it is.
func (c *livingCluster) snapshot() disruption.Input {
	in := c.in
	nodes := map[string]*corev1.Node{}
	for _, n := range c.cloud.Nodes() {
		nodes[n.Spec.ProviderID] = n
	}
	for _, claim := range c.claims {
		n := provisioning.Node{Node: nodes[claim.Status.ProviderID], NodeClaim: claim}
		for _, p := range c.pods[claim.Name] {
			n.Pods = append(n.Pods, podlife.Moved(p, n.Name()))
		}
		in.Nodes = append(in.Nodes, n)
	}
	return in
}

// carryOut does what an action says: it launches, moves and deletes.
func (c *livingCluster) carryOut(t *testing.T, f *disruption.Cluster, a disruption.Action) {
	t.Helper()
	command, err := f.Command(a)
	require.NoError(t, err)
	for i, claim := range command.Claims {
		c.launch(t, claim, &a.Replacements[i])
	}
	gone := map[string]string{} // claim of each node
	for _, target := range a.Targets {
		gone[target.Node] = target.NodeClaim
		require.NoError(t, c.cloud.Delete(t.Context(), target.ProviderID))
		c.claims = slices.DeleteFunc(c.claims, func(claim *v1.NodeClaim) bool { return claim.Name == target.NodeClaim })
		for _, p := range c.pods[target.NodeClaim] {
			require.True(t, slices.ContainsFunc(a.Moves, func(m disruption.Move) bool { return m.Pod.Name == p.Name }), "%s has no place", p.Name)
		}
		delete(c.pods, target.NodeClaim)
	}
	claimOf := map[string]string{}
	for _, n := range c.snapshot().Nodes {
		claimOf[n.Name()] = n.NodeClaim.Name
	}
	for _, m := range a.Moves {
		if m.Replacement >= 0 {
			c.bind(command.Claims[m.Replacement].Name, m.Pod)
			continue
		}
		require.Contains(t, claimOf, m.Node)
		c.bind(claimOf[m.Node], m.Pod)
	}
}

// TestMachinesOfACloudComeToRest: what is launched, registered and deleted are
// machines of the fake cloud.
func TestMachinesOfACloudComeToRest(t *testing.T) {
	t.Parallel()
	n := int(testlong.Problems(12, 1))
	saved := 0
	for seed := range n {
		m := newMaker(uint64(900 + seed))
		c := newLivingCluster(t)
		for wave := range 3 { // pods come, and two thirds of them go
			in := c.snapshot().Input
			for i := range 10 + m.IntN(20) {
				in.Pods = append(in.Pods, load(fmt.Sprintf("w%d-%d", wave, i), 100*(1+m.Int64N(30))))
			}
			plan, err := provisioning.Solve(t.Context(), in, nil)
			require.NoError(t, err)
			require.Empty(t, plan.Unplaced)
			for i := range plan.Create {
				claim := plan.Create[i].NodeClaim()
				claim.Name, claim.GenerateName = fmt.Sprintf("%s-%d-%d", plan.Create[i].Name, wave, i), ""
				c.launch(t, claim, &plan.Create[i])
				for _, p := range plan.Create[i].Pods {
					if m.chance(34) {
						c.bind(claim.Name, p)
					}
				}
			}
		}
		first, last := 0.0, 0.0
		for round := 0; ; round++ {
			require.Less(t, round, 30, "seed %d does not come to rest", seed)
			c.cloud.Advance(time.Hour)
			now := c.cloud.Now()
			in := c.snapshot()
			p := proposeAt(t, now, in, nil)
			if first == 0 {
				first = p.CostBefore
			}
			last = p.CostBefore
			if len(p.Actions) == 0 {
				break
			}
			f, err := disruption.Observe(now, in, nil)
			require.NoError(t, err)
			for _, a := range p.Actions {
				c.carryOut(t, f, a)
			}
		}
		if last < first {
			saved++
		}
		c.cloud.Advance(300 * time.Hour)
		again := proposeAt(t, c.cloud.Now(), c.snapshot(), nil)
		require.Empty(t, deeds(again.Actions), "seed %d: a second run finds nothing", seed)
		machines, err := c.cloud.List(t.Context())
		require.NoError(t, err)
		require.Len(t, machines, len(c.claims), "no machine is left behind")
	}
	require.Equal(t, n, saved)
}
