package fake_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/internal/golden"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// world returns a cloud with m5.large and c7g.large in two zones, and the options
// given.
func world(t testing.TB, opts fake.Options) *fake.Cloud {
	t.Helper()
	if opts.InstanceTypes == nil {
		opts.InstanceTypes = twoTypes(t)
	}
	cloud, err := fake.New(&opts)
	require.NoError(t, err)
	return cloud
}

func twoTypes(t testing.TB) []*cloudprovider.InstanceType {
	t.Helper()
	types, err := twoOfThem()
	require.NoError(t, err)
	out := make([]*cloudprovider.InstanceType, 0, len(types))
	for _, it := range types {
		out = append(out, it.Clone())
	}
	return out
}

// withReservation is twoTypes with offerings of the reservation cr for both types in both zones.
func withReservation(t testing.TB, capacity int) []*cloudprovider.InstanceType {
	t.Helper()
	types := twoTypes(t)
	for _, it := range types {
		for _, zone := range []string{"a", "b"} {
			o := cloudprovider.Offering{Zone: zone, CapacityType: v1.CapacityTypeReserved, Price: 1e-9, Available: true, ReservationID: "cr", ReservationCapacity: capacity}
			it.Offerings = append(it.Offerings, o)
		}
		it.Requirements = it.Requirements.Without(v1.CapacityTypeLabelKey).With(
			requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand, v1.CapacityTypeReserved, v1.CapacityTypeSpot))
	}
	return types
}

// twoOfThem makes them once.
var twoOfThem = sync.OnceValues(func() ([]*cloudprovider.InstanceType, error) {
	return catalog.New(&catalog.Options{
		Zones: []catalog.Zone{{Name: "a"}, {Name: "b"}}, Types: []string{"m5.large", "c7g.large"},
	})
})

// ask returns a request for what where admits, from what the cloud shows, to the
// extent that it can be launched.
func ask(t testing.TB, cloud *fake.Cloud, token, where string) cloudprovider.LaunchRequest {
	t.Helper()
	return cloudprovider.LaunchRequest{
		Token: token, Name: token, NodePool: "general",
		NodeClassRef: v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
		Options:      launch.Compatible(catalogOf(t, cloud), requirements.MustParse(where)),
	}
}

func catalogOf(t testing.TB, cloud *fake.Cloud) []*cloudprovider.InstanceType {
	t.Helper()
	types, err := cloud.InstanceTypes(t.Context(), nil)
	require.NoError(t, err)
	return types
}

func create(t testing.TB, cloud *fake.Cloud, req cloudprovider.LaunchRequest) *cloudprovider.Instance {
	t.Helper()
	instance, err := cloud.Create(t.Context(), req)
	require.NoError(t, err)
	return instance
}

func listed(t testing.TB, cloud *fake.Cloud) []*cloudprovider.Instance {
	t.Helper()
	list, err := cloud.List(t.Context())
	require.NoError(t, err)
	return list
}

func mustLaunch(t testing.TB, cloud *fake.Cloud, token, where string) *cloudprovider.Instance {
	t.Helper()
	return create(t, cloud, ask(t, cloud, token, where))
}

const (
	m5     = "node.kubernetes.io/instance-type = m5.large"
	spotA  = m5 + ", karpenter.sh/capacity-type = spot, topology.kubernetes.io/zone = a"
	spotB  = m5 + ", karpenter.sh/capacity-type = spot, topology.kubernetes.io/zone = b"
	odA    = m5 + ", karpenter.sh/capacity-type = on-demand, topology.kubernetes.io/zone = a"
	inA    = "topology.kubernetes.io/zone = a"
	anySp  = "karpenter.sh/capacity-type = spot"
	minute = time.Minute
	second = time.Second
)

var keySpotA = cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "a", CapacityType: v1.CapacityTypeSpot}

// A day in the life of a cloud with everything switched on comes out the same,
// byte for byte, every time.
func TestStory(t *testing.T) {
	golden.Equal(t, "# Machines start, run dry, are interrupted, break, drift and go, with everything switched on.\n"+story(t, 7), "log", "story.txt")
	require.Equal(t, story(t, 7), story(t, 7))
	require.NotEqual(t, story(t, 7), story(t, 8), "the seed decides")
}

func story(t *testing.T, seed uint64) string {
	cloud := world(t, fake.Options{
		Seed: seed,
		Timing: fake.Timing{
			Launch: fake.Span{Min: 20 * time.Second, Max: 40 * time.Second}, Registration: fake.Exactly(5 * time.Second),
			Initialization: fake.Span{Min: 10 * time.Second, Max: time.Minute},
			Shutdown:       fake.Exactly(30 * time.Second), Reboot: fake.Exactly(45 * time.Second),
		},
		InstanceTypes: withReservation(t, 1),
		ListLag:       2 * time.Second,
		Stock:         []fake.Stock{{Count: 1}, {Scope: cloudprovider.Scope{CapacityType: v1.CapacityTypeSpot}, Count: 2}},
		Spot:          fake.Spot{Every: 5 * minute, Swing: 0.3, Lifetime: 2 * time.Hour},
	})
	require.NoError(t, cloud.Script(
		fake.Fault{Op: "create", Nth: 5, Err: fake.ErrLost},
		fake.Fault{Op: "create", Every: 3, Err: &cloudprovider.Error{Kind: cloudprovider.KindThrottled, RetryAfter: 15 * time.Second}},
		fake.Fault{Op: "delete", Times: 1, Err: cloudprovider.ErrThrottled},
	))
	require.NoError(t, cloud.After(90*minute, fake.Action{Image: fake.Image{ID: "image-2", Architecture: "x86_64"}}))
	lockup := fake.NodeFault{Type: "KernelReady", Status: corev1.ConditionFalse, Reason: "SoftLockup", CuredByReboot: true}
	spots := fake.Stock{Scope: cloudprovider.Scope{CapacityType: v1.CapacityTypeSpot}, Count: 1}
	require.NoError(t, cloud.After(10*minute, fake.Action{Stock: &spots}))
	require.NoError(t, cloud.After(2*time.Hour, fake.Action{Target: fake.Target{Count: 2}, Break: lockup}))
	require.NoError(t, cloud.After(160*minute, fake.Action{Reservation: fake.Reservation{ID: "cr"}},
		fake.Action{Notice: cloudprovider.InterruptionReservation, Warning: 20 * minute}))
	for i := range 8 {
		for {
			_, err := cloud.Create(t.Context(), ask(t, cloud, fmt.Sprint("web-", i), m5))
			if err == nil {
				break
			}
			cloud.Advance(max(cloudprovider.RetryAfter(err), minute))
		}
		cloud.Advance(5 * time.Second)
	}
	for range 24 {
		cloud.Advance(10 * minute)
		notices, err := cloud.Interruptions(t.Context())
		require.NoError(t, err)
		require.NoError(t, cloudprovider.Acknowledge(t.Context(), cloud, notices...))
		for _, n := range cloud.Nodes() {
			for _, condition := range n.Status.Conditions {
				if condition.Type == "KernelReady" && condition.Status == corev1.ConditionFalse {
					require.NoError(t, cloud.Reboot(t.Context(), n.Spec.ProviderID, fmt.Sprint("repair of ", condition.LastTransitionTime.Unix())))
				}
			}
		}
	}
	for _, instance := range listed(t, cloud) {
		if !instance.Deleting {
			if err := cloud.Delete(t.Context(), instance.ID); err != nil {
				require.NoError(t, cloud.Delete(t.Context(), instance.ID))
			}
		}
	}
	cloud.Advance(minute)
	var b strings.Builder
	b.WriteString(cloud.Log())
	fmt.Fprintf(&b, "%+v\n", cloud.Stats())
	return b.String()
}
