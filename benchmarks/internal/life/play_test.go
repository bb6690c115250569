package life_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

const onePool = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
`

// small is a trace of twenty minutes: two pods that need one machine. A machine is ready after 90
// seconds, and gone 30 seconds after it is deleted.
func small(t *testing.T) (*life.Trace, float64) {
	types, err := catalog.New(&catalog.Options{Families: []string{"m6i"}, Where: requirements.MustParse("node.kubernetes.io/instance-type in (m6i.xlarge)"), Zones: []catalog.Zone{{Name: "us-east-1a"}}})
	require.NoError(t, err)
	require.Len(t, types, 1)
	cloud, err := fake.New(&fake.Options{InstanceTypes: types, Now: func() time.Time { return twodays.Start },
		Timing: fake.Timing{Launch: fake.Exactly(time.Minute), Initialization: fake.Exactly(30 * time.Second), Shutdown: fake.Exactly(30 * time.Second)}})
	require.NoError(t, err)
	pool, err := v1.DecodeNodePool([]byte(onePool))
	require.NoError(t, err)
	pool.Default()
	web := simcluster.Deployment("web", "cpu=1, memory=2Gi", func(time.Time) int { return 2 })
	price := 0.0
	for _, o := range types[0].Offerings {
		if o.CapacityType == v1.CapacityTypeOnDemand {
			price = o.Price
		}
	}
	require.NotZero(t, price)
	return &life.Trace{Length: 20 * time.Minute, Sample: time.Minute, Cloud: cloud, Provider: cloud, Pools: []*v1.NodePool{pool},
		Daemon: twodays.Daemon(), Workloads: []*simcluster.Workload{web}}, price
}

// scripted launches a machine in its first turn. At ten minutes it replaces the machine by another,
// and evicts the pods.
type scripted struct {
	life.Site
	old string
}

func (s *scripted) Step(ctx context.Context) error {
	switch s.Cluster.Now().Sub(twodays.Start) {
	case life.Tick:
		return s.launch(ctx, "first")
	case 10 * time.Minute:
		if err := s.Provider.Delete(ctx, s.old); err != nil {
			return err
		}
		for _, p := range s.Cluster.Pods.All() {
			if p.Work == nil {
				continue
			}
			if err := s.Cluster.Evict(&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}}); err != nil {
				return err
			}
		}
		return s.launch(ctx, "second")
	}
	return nil
}

func (s *scripted) launch(ctx context.Context, token string) error {
	types, err := s.Provider.InstanceTypes(ctx, s.Pools[0])
	if err != nil {
		return err
	}
	request := cloudprovider.LaunchRequest{Token: token, NodePool: s.Pools[0].Name, NodeClassRef: *s.Pools[0].Spec.Template.Spec.NodeClassRef}
	for i := range types[0].Offerings {
		if o := &types[0].Offerings[i]; o.CapacityType == v1.CapacityTypeOnDemand {
			request.Options = append(request.Options, cloudprovider.LaunchOption{InstanceType: types[0], Offering: o})
		}
	}
	instance, err := s.Provider.Create(ctx, request)
	if err == nil {
		s.old = instance.ID
	}
	return err
}

// TestFigures plays a trace whose figures were computed by hand. The first machine is launched
// after 5 seconds, deleted after 600 and gone after 630. The second is launched after 600 seconds
// and runs to the end; the turn of its launch is billed too. Pods come after 5 seconds, and again
// after 605; they are bound when a machine is ready, after 95 and 690 seconds.
func TestFigures(t *testing.T) {
	trace, price := small(t)
	f, err := life.Play(t.Context(), trace, func(site life.Site) (life.Contender, error) { return &scripted{Site: site}, nil }, nil)
	require.NoError(t, err)
	require.InDelta(t, price*(625+605)/3600, f.Bill, 1e-9)
	require.InDelta(t, price*1200/3600, f.FromEmpty, 1e-9)
	require.LessOrEqual(t, f.Bound, f.FromEmpty)
	require.Equal(t, 85*time.Second, f.Median)
	require.Equal(t, 90*time.Second, f.P99)
	require.Equal(t, 4, f.Pods)
	require.Zero(t, f.Pending)
	require.Equal(t, 2, f.Evictions)
	require.Equal(t, 2, f.Launches)
	require.InDelta(t, 2*(1200-5)/86400.0, f.PodDays, 0.01/24)
	require.InDelta(t, 1/f.PodDays*2, f.EvictionsPerPodDay(), 1e-9)
}

// TestWarmup: what happens before the trace is measured does not count.
func TestWarmup(t *testing.T) {
	trace, price := small(t)
	trace.Warmup, trace.Length = 5*time.Minute, 4*time.Minute
	f, err := life.Play(t.Context(), trace, func(site life.Site) (life.Contender, error) { return &scripted{Site: site}, nil }, nil)
	require.NoError(t, err)
	require.InDelta(t, price*240/3600, f.Bill, 1e-9)
	require.Equal(t, f.Bill, f.FromEmpty)
	require.Zero(t, f.Pods)
	require.Zero(t, f.Launches)
	require.Equal(t, 4*time.Minute, f.Length)
}
