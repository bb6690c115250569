package disruption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/fake"
	fakecatalog "github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

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
