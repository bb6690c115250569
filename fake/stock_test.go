package fake_test

import (
	"fmt"
	"testing"

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

func TestStockChanges(t *testing.T) {
	cloud := world(t, fake.Options{Stock: []fake.Stock{{Count: 2}}})
	keySpotB := keySpotA
	keySpotB.Zone = "b"
	mustLaunch(t, cloud, "one", spotA)
	for _, n := range []int{0, 7, fake.Unlimited, 3} {
		require.NoError(t, cloud.Do(fake.Action{Stock: &fake.Stock{Scope: cloudprovider.Scope{Zone: "b"}, Count: n}}))
		require.Equal(t, 1, freeOf(t, cloud, keySpotA))
		require.Equal(t, n, freeOf(t, cloud, keySpotB))
	}
	require.Contains(t, cloud.Log(), "+0s changed stock: set stock of zone=b to unlimited")
}

func TestFreeOfWhatIsNotThere(t *testing.T) {
	cloud := world(t, fake.Options{})
	require.Equal(t, fake.Unlimited, freeOf(t, cloud, keySpotA))
	_, err := cloud.Free(cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "mars"})
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
}

// reserved returns the reserved offerings that the catalog shows.
func reserved(t testing.TB, cloud *fake.Cloud) (out []string) {
	t.Helper()
	for _, it := range catalogOf(t, cloud) {
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
	cloud := world(t, fake.Options{InstanceTypes: withReservation(t, 2)})
	shown := func(capacity int) (out []string) {
		for _, offering := range []string{"c7g.large/a", "c7g.large/b", "m5.large/a", "m5.large/b"} {
			out = append(out, fmt.Sprintf("%s/reserved/cr available=true capacity=%d launchable=%t", offering, capacity, capacity > 0))
		}
		return out
	}
	require.Equal(t, shown(2), reserved(t, cloud))
	one := mustLaunch(t, cloud, "one", inReservation+", "+m5)
	require.Equal(t, "cr", one.ReservationID)
	require.Equal(t, v1.CapacityTypeReserved, one.Labels[v1.CapacityTypeLabelKey])
	req := ask(t, cloud, "three", inReservation)
	mustLaunch(t, cloud, "two", inReservation+", node.kubernetes.io/instance-type = c7g.large")
	require.Equal(t, shown(0), reserved(t, cloud), "full is not unavailable")
	_, err := cloud.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)

	hold := func(n int) {
		require.NoError(t, cloud.Do(fake.Action{Reservation: fake.Reservation{ID: "cr", Capacity: n}}))
	}
	hold(1)
	require.Zero(t, freeOf(t, cloud, one.OfferingKey()), "more run than it holds")
	require.NoError(t, cloud.Delete(t.Context(), one.ID))
	require.Zero(t, freeOf(t, cloud, one.OfferingKey()))
	hold(3)
	require.Equal(t, 2, freeOf(t, cloud, one.OfferingKey()))
	require.Equal(t, shown(2), reserved(t, cloud))
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
	require.Equal(t, "image-riscv64", mustLaunch(t, cloud, "one", "").ImageID)
}
