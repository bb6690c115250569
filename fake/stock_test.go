package fake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
)

func freeOf(t testing.TB, cloud *fake.Cloud, key cloudprovider.OfferingKey) int {
	t.Helper()
	n, err := cloud.Free(key)
	require.NoError(t, err)
	return n
}

func TestStockRunsDry(t *testing.T) {
	cloud := world(t, fake.Options{Stock: []fake.Stock{{Count: 3}, {Scope: keySpotA.Scope(), Count: 2}}})
	first := mustLaunch(t, cloud, "one", spotA)
	mustLaunch(t, cloud, "two", spotA)
	require.Zero(t, freeOf(t, cloud, keySpotA))
	dry := ask(t, cloud, "three", spotA)
	require.Len(t, dry.Options, 1, "the catalog does not tell")
	_, err := cloud.Create(t.Context(), dry)
	require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)
	var refused *cloudprovider.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, []cloudprovider.OfferingKey{keySpotA}, refused.Offerings)

	// With more options the next one is launched.
	require.Equal(t, "b", mustLaunch(t, cloud, "four", m5+", karpenter.sh/capacity-type = spot").Zone)
	// What is deleted comes back, and a token that led to nothing may be used.
	require.NoError(t, cloud.Delete(t.Context(), first.ID))
	require.Equal(t, 1, freeOf(t, cloud, keySpotA))
	_, err = cloud.Create(t.Context(), dry)
	require.NoError(t, err)
	require.Equal(t, 1, cloud.Stats().Refused)
}

// One call of the cloud looks at so many instance types and no more: what it refuses
// is what it has looked at, and who asks again without that comes further.
func TestLaunchLimit(t *testing.T) {
	for limit, want := range map[int]struct{ launched, refused string }{
		0: {"c7g.large", ""}, 1: {"", "m5.large m5.large m5.large m5.large"}, 2: {"c7g.large", ""}} {
		cloud := world(t, fake.Options{LaunchLimit: limit, Stock: []fake.Stock{{Scope: cloudprovider.Scope{InstanceType: "m5.large"}}}})
		req, arm := ask(t, cloud, "one", m5), ask(t, cloud, "one", "kubernetes.io/arch = arm64")
		req.Options = append(req.Options, arm.Options...)
		instance, err := cloud.Create(t.Context(), req)
		if want.launched != "" {
			require.NoError(t, err)
			require.Equal(t, want.launched, instance.Type)
			continue
		}
		var refused *cloudprovider.Error
		require.ErrorAs(t, err, &refused)
		var names []string
		for _, o := range refused.Offerings {
			names = append(names, o.InstanceType)
		}
		require.Equal(t, want.refused, strings.Join(names, " "))
		_, err = cloud.Create(t.Context(), arm)
		require.NoError(t, err)
	}
	_, err := fake.New(&fake.Options{LaunchLimit: -1})
	require.ErrorContains(t, err, "LaunchLimit: -1")
}

func TestStockIsBackWhenTheMachineIsGone(t *testing.T) {
	cloud := world(t, fake.Options{Stock: []fake.Stock{{Count: 1}}, Timing: fake.Timing{Shutdown: fake.Exactly(minute)}})
	instance := mustLaunch(t, cloud, "one", spotA)
	require.NoError(t, cloud.Delete(t.Context(), instance.ID))
	cloud.Advance(minute - 1)
	require.Zero(t, freeOf(t, cloud, keySpotA))
	cloud.Advance(1)
	require.Equal(t, 1, freeOf(t, cloud, keySpotA))

	// Somebody else has what the cloud took back.
	mustLaunch(t, cloud, "two", spotA)
	require.NoError(t, cloud.Do(fake.Interrupt(fake.Target{}, 0)))
	cloud.Advance(time.Hour)
	require.Zero(t, freeOf(t, cloud, keySpotA))
}

func TestStockIsRefilled(t *testing.T) {
	cloud := world(t, fake.Options{Stock: []fake.Stock{
		{Count: 2, Every: 10 * minute},
		{Scope: cloudprovider.Scope{Zone: "b"}, Count: 0, Every: minute, Most: 3},
	}})
	keySpotB := keySpotA
	keySpotB.Zone = "b"
	mustLaunch(t, cloud, "one", spotA)
	for _, c := range []struct {
		d    time.Duration
		a, b int
	}{{0, 1, 0}, {59 * second, 1, 0}, {second, 1, 1}, {2 * minute, 1, 3}, {time.Hour, 2, 3}} {
		cloud.Advance(c.d)
		require.Equal(t, c.a, freeOf(t, cloud, keySpotA), cloud.Now())
		require.Equal(t, c.b, freeOf(t, cloud, keySpotB), cloud.Now())
	}
	// Time in which it was full does not count.
	mustLaunch(t, cloud, "two", spotB)
	require.Equal(t, 2, freeOf(t, cloud, keySpotB))
	cloud.Advance(minute)
	require.Equal(t, 3, freeOf(t, cloud, keySpotB))
	// By hand there is no such end.
	require.NoError(t, cloud.Do(fake.Refill(cloudprovider.Scope{}, 10)))
	require.Equal(t, 13, freeOf(t, cloud, keySpotB))
	require.NoError(t, cloud.Do(fake.SetStock(keySpotB.Scope(), fake.Unlimited)))
	require.Equal(t, fake.Unlimited, freeOf(t, cloud, keySpotB))
	require.NoError(t, cloud.Do(fake.Refill(cloudprovider.Scope{}, 10)))
	require.Equal(t, fake.Unlimited, freeOf(t, cloud, keySpotB))
}

func TestFreeOfWhatIsNotThere(t *testing.T) {
	cloud := world(t, fake.Options{})
	require.Equal(t, fake.Unlimited, freeOf(t, cloud, keySpotA))
	_, err := cloud.Free(cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "mars"})
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	_, err = cloud.Free(cloudprovider.OfferingKey{InstanceType: "m9.large"})
	require.ErrorContains(t, err, `no instance type "m9.large"`)
}

// reserved returns the reserved offerings that the catalog shows.
func reserved(t testing.TB, cloud *fake.Cloud) (out []string) {
	t.Helper()
	types, err := cloud.InstanceTypes(t.Context(), nil)
	require.NoError(t, err)
	for _, it := range types {
		require.NoError(t, it.Validate())
		for i := range it.Offerings {
			if o := &it.Offerings[i]; o.CapacityType == v1.CapacityTypeReserved {
				out = append(out, fmt.Sprintf("%s available=%t capacity=%d launchable=%t", o.Key(it.Name), o.Available, o.ReservationCapacity, o.Launchable()))
			}
		}
	}
	return out
}

const inReservation = "karpenter.sh/capacity-type = reserved"

func TestReservationIsShared(t *testing.T) {
	cloud := world(t, fake.Options{Reservations: []fake.Reservation{
		{ID: "cr-1", Capacity: 2, InstanceTypes: []string{"m5.large", "c7g.large"}, Zones: []string{"a"}},
	}})
	before := reserved(t, cloud)
	require.Equal(t, []string{
		"c7g.large/a/reserved/cr-1 available=true capacity=2 launchable=true",
		"m5.large/a/reserved/cr-1 available=true capacity=2 launchable=true",
	}, before)
	one := mustLaunch(t, cloud, "one", inReservation+", "+m5)
	require.Equal(t, "cr-1", one.ReservationID)
	require.Equal(t, v1.CapacityTypeReserved, one.Labels[v1.CapacityTypeLabelKey])
	require.Less(t, one.Price, 1e-6, "it is paid for")
	req := ask(t, cloud, "three", inReservation)
	mustLaunch(t, cloud, "two", inReservation+", node.kubernetes.io/instance-type = c7g.large")
	require.Equal(t, []string{
		"c7g.large/a/reserved/cr-1 available=true capacity=0 launchable=false",
		"m5.large/a/reserved/cr-1 available=true capacity=0 launchable=false",
	}, reserved(t, cloud), "full is not unavailable")
	_, err := cloud.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)

	require.NoError(t, cloud.Do(fake.SetReservation("cr-1", 1)))
	require.Zero(t, freeOf(t, cloud, one.OfferingKey()), "more run than it holds")
	require.NoError(t, cloud.Delete(t.Context(), one.ID))
	require.Zero(t, freeOf(t, cloud, one.OfferingKey()))
	require.NoError(t, cloud.Do(fake.SetReservation("cr-1", 3)))
	require.Equal(t, 2, freeOf(t, cloud, one.OfferingKey()))
}

func TestReservationEnds(t *testing.T) {
	cloud := world(t, fake.Options{Reservations: []fake.Reservation{
		{ID: "kept", Capacity: 1, InstanceTypes: []string{"m5.large"}, Zones: []string{"a"}, Expires: epoch.Add(time.Hour)},
		{ID: "past", Capacity: 1, InstanceTypes: []string{"m5.large"}, Zones: []string{"a"}, Expires: epoch.Add(-time.Hour), Warning: minute},
		{ID: "block", Capacity: 2, InstanceTypes: []string{"m5.large"}, Zones: []string{"b"}, Price: 0.01, Expires: epoch.Add(time.Hour), Warning: 10 * minute},
	}})
	require.Contains(t, reserved(t, cloud), "m5.large/a/reserved/past available=false capacity=0 launchable=false")
	kept := mustLaunch(t, cloud, "kept", inReservation+", topology.kubernetes.io/zone = a")
	block := mustLaunch(t, cloud, "block", inReservation+", topology.kubernetes.io/zone = b")
	require.InDelta(t, 0.01, block.Price, 0)

	cloud.Advance(50 * minute)
	notices, err := cloud.Interruptions(t.Context())
	require.NoError(t, err)
	require.Len(t, notices, 1)
	require.Equal(t, cloudprovider.InterruptionReservation, notices[0].Kind)
	require.Equal(t, block.ID, notices[0].InstanceID)
	require.Equal(t, epoch.Add(time.Hour), notices[0].Deadline)
	require.Contains(t, reserved(t, cloud), "m5.large/b/reserved/block available=false capacity=0 launchable=false", "nobody can get in any more")

	cloud.Advance(10 * minute)
	_, err = cloud.Get(t.Context(), block.ID)
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
	_, err = cloud.Get(t.Context(), kept.ID)
	require.NoError(t, err, "without a warning they run on")
	require.NotContains(t, fmt.Sprint(reserved(t, cloud)), "available=true")

	require.NoError(t, cloud.Do(fake.SetReservation("kept", 2)))
	require.Contains(t, reserved(t, cloud), "m5.large/a/reserved/kept available=true capacity=1 launchable=true")
	require.NoError(t, cloud.Do(fake.EndReservation("kept", minute)))
	cloud.Advance(minute)
	_, err = cloud.Get(t.Context(), kept.ID)
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
}

// A catalog can bring its reservations along; the smallest capacity counts.
func TestReservationOfTheCatalog(t *testing.T) {
	types, err := catalog.Read([]byte(`
instanceTypes:
- name: big
  requirements:
  - {key: kubernetes.io/arch, operator: In, values: [riscv64]}
  - {key: kubernetes.io/os, operator: In, values: [linux]}
  capacity: {cpu: 16, memory: 64Gi, pods: 110}
  offerings:
  - {zone: a, capacityType: reserved, price: 0.1, reservationID: cr, reservationCapacity: 3}
  - {zone: b, capacityType: reserved, price: 0.1, reservationID: cr, reservationCapacity: 2}
`))
	require.NoError(t, err)
	cloud := world(t, fake.Options{InstanceTypes: types})
	require.Equal(t, []string{"big/a/reserved/cr available=true capacity=2 launchable=true", "big/b/reserved/cr available=true capacity=2 launchable=true"}, reserved(t, cloud))
	cloud = world(t, fake.Options{InstanceTypes: types, Reservations: []fake.Reservation{{ID: "cr", Capacity: 9}}})
	require.Equal(t, []string{"big/a/reserved/cr available=true capacity=9 launchable=true", "big/b/reserved/cr available=true capacity=9 launchable=true"}, reserved(t, cloud))
	require.Equal(t, "image-riscv64", mustLaunch(t, cloud, "one", "").ImageID)
}
