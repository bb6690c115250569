package fake_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// A Cloud has every ability that there is.
var (
	_ cloudprovider.CloudProvider            = (*fake.Cloud)(nil)
	_ cloudprovider.Namer                    = (*fake.Cloud)(nil)
	_ cloudprovider.VocabularyProvider       = (*fake.Cloud)(nil)
	_ cloudprovider.NodeClassSupporter       = (*fake.Cloud)(nil)
	_ cloudprovider.NodeClassChecker         = (*fake.Cloud)(nil)
	_ cloudprovider.DriftDetector            = (*fake.Cloud)(nil)
	_ cloudprovider.Rebooter                 = (*fake.Cloud)(nil)
	_ cloudprovider.Repairer                 = (*fake.Cloud)(nil)
	_ cloudprovider.InterruptionSource       = (*fake.Cloud)(nil)
	_ cloudprovider.InterruptionAcknowledger = (*fake.Cloud)(nil)
)

// smallCloud sells m5.large and c7g.large in all zones.
func smallCloud(t *testing.T) *fake.Cloud {
	t.Helper()
	types, err := catalog.New(&catalog.Options{Types: []string{"m5.large", "c7g.large"}})
	require.NoError(t, err)
	return world(t, fake.Options{InstanceTypes: types})
}

// withdraw takes an offering off the market, or puts it back.
func withdraw(t *testing.T, cloud *fake.Cloud, key cloudprovider.OfferingKey, is bool) {
	t.Helper()
	if err := cloud.Do(fake.Action{Stock: &fake.Stock{Scope: key.Scope(), Count: fake.Unlimited, Withdrawn: is}}); err != nil {
		t.Error(err) // also in other goroutines
	}
}

// request is ask for a claim with its requirements, requests and labels.
func request(t *testing.T, cloud *fake.Cloud, token, where string) cloudprovider.LaunchRequest {
	t.Helper()
	req := ask(t, cloud, token, where)
	req.Name, req.Requirements = "claim-"+token, requirements.MustParse(where)
	req.Requests = resources.MustParse("cpu=1, memory=1Gi, pods=3")
	req.Labels = map[string]string{"team": "a", corev1.LabelArchStable: "wrong"}
	return req
}

func TestCreateTakesTheCheapest(t *testing.T) {
	cloud := smallCloud(t)
	req := request(t, cloud, "t1", "node.kubernetes.io/instance-type = m5.large")
	slices.Reverse(req.Options) // the order does not decide
	cheapest := req.Options[len(req.Options)-1]

	got := create(t, cloud, req)
	require.Equal(t, cheapest.Key(), got.OfferingKey())
	require.Equal(t, v1.CapacityTypeSpot, got.CapacityType)
	require.InDelta(t, cheapest.Offering.Price, got.Price, 0)
	require.Equal(t, cheapest.Offering.ID, got.OfferingID)
	require.Equal(t, "claim-t1", got.Name)
	require.Equal(t, "general", got.NodePool)
	require.Equal(t, "image-amd64", got.ImageID)
	require.Equal(t, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), got.CreatedAt)
	require.Regexp(t, "^fake:///"+got.Zone+"/i-[0-9a-f]{17}$", got.ID)
	require.False(t, got.Deleting)

	allocatable, err := cheapest.InstanceType.Allocatable()
	require.NoError(t, err)
	require.True(t, got.Allocatable.Equal(allocatable))
	require.True(t, got.Capacity.Equal(cheapest.InstanceType.Capacity))

	for key, value := range cheapest.NodeLabels() {
		require.Equal(t, value, got.Labels[key])
	}
	require.Equal(t, "a", got.Labels["team"])
	require.Equal(t, "general", got.Labels[v1.NodePoolLabelKey])
	require.Equal(t, got.Zone, got.Labels[corev1.LabelTopologyZone])
	require.NotEmpty(t, got.Labels[awsv1.LabelTopologyZoneID])
	require.NotContains(t, got.Labels, awsv1.LabelInstanceGPUName)
	require.NotContains(t, got.Labels, awsv1.LabelInstanceTenancy, "two values are left open")
}

// The cloud sells at its own prices, whatever the caller believes.
func TestCreateGoesByThePricesOfTheCloud(t *testing.T) {
	cloud := smallCloud(t)
	req := request(t, cloud, "t1", "node.kubernetes.io/instance-type = m5.large")
	want := req.Options[0].Key()
	for i, o := range req.Options {
		changed := *o.Offering
		changed.Price = 100 - changed.Price
		req.Options[i].Offering = &changed
	}
	got := create(t, cloud, req)
	require.Equal(t, want, got.OfferingKey())
	require.Less(t, got.Price, 1.0)
}

func TestCreateIsIdempotent(t *testing.T) {
	cloud := smallCloud(t)
	first := create(t, cloud, request(t, cloud, "same", "kubernetes.io/arch = amd64"))
	different := request(t, cloud, "same", "kubernetes.io/arch = arm64")
	different.Requests = resources.MustParse("cpu=1000")
	again := create(t, cloud, different)
	require.Same(t, first, again)

	// Sold out or not, the token keeps its instance until that is deleted.
	withdraw(t, cloud, first.OfferingKey(), true)
	again = create(t, cloud, request(t, cloud, "same", "kubernetes.io/arch = amd64"))
	require.Same(t, first, again)

	require.NoError(t, cloud.Delete(t.Context(), first.ID))
	_, err := cloud.Create(t.Context(), request(t, cloud, "same", "kubernetes.io/arch = amd64"))
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
	require.ErrorContains(t, err, `the instance of token "same" was deleted`)
}

// IDs depend on tokens and zones, not on the order of calls.
func TestIDsDoNotDependOnOrder(t *testing.T) {
	ids := func(tokens ...string) []string {
		cloud := smallCloud(t)
		for _, token := range tokens {
			create(t, cloud, request(t, cloud, token, "kubernetes.io/arch = amd64"))
		}
		list := listed(t, cloud)
		out := []string{}
		for _, i := range list {
			out = append(out, i.ID+" "+i.Name)
		}
		return out
	}
	require.Equal(t, ids("a", "b", "c", "d"), ids("d", "c", "b", "a"))
	require.True(t, slices.IsSorted(ids("a", "b", "c", "d", "e", "f")))
}

func TestSoldOut(t *testing.T) {
	cloud := smallCloud(t)
	req := request(t, cloud, "t1", "node.kubernetes.io/instance-type = m5.large, topology.kubernetes.io/zone in (us-east-1a, us-east-1b)")
	require.Len(t, req.Options, 4)

	// One after the other, the next best is sold, until none is left.
	for i, o := range req.Options {
		req.Token = fmt.Sprint("t", i)
		got := create(t, cloud, req)
		require.Equal(t, o.Key(), got.OfferingKey())
		withdraw(t, cloud, o.Key(), true)
	}
	req.Token, req.Options = "last", append(req.Options, req.Options[0])
	_, err := cloud.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)
	var refused *cloudprovider.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "Create", refused.Op)
	require.Equal(t, "claim-t1", refused.Object)
	require.Len(t, refused.Offerings, 4, "each once")
	require.True(t, slices.IsSortedFunc(refused.Offerings, cloudprovider.OfferingKey.Compare))
	require.Equal(t, "m5.large/us-east-1a/on-demand", refused.Offerings[0].String())

	// A token that led to nothing may be used again.
	withdraw(t, cloud, refused.Offerings[2], false)
	got := create(t, cloud, req)
	require.Equal(t, refused.Offerings[2], got.OfferingKey())
}

func TestWithdrawnLeavesWhatWasHandedOut(t *testing.T) {
	cloud := smallCloud(t)
	before := catalogOf(t, cloud)
	key := before[1].Offerings[0].Key("m5.large")
	withdraw(t, cloud, key, true)
	require.True(t, before[1].Offerings[0].Available)
	require.False(t, catalogOf(t, cloud)[1].Offerings[0].Available)
	require.True(t, catalogOf(t, cloud)[1].Offerings[1].Available)
	require.Same(t, before[0], catalogOf(t, cloud)[0], "other types are not copied")
	withdraw(t, cloud, key, false)
	require.True(t, catalogOf(t, cloud)[1].Offerings[0].Available)

	// What the catalog does not offer is not offered by stock.
	types := catalogOf(t, cloud)[:1]
	types[0] = types[0].Clone()
	types[0].Offerings[0].Available = false
	cloud = world(t, fake.Options{InstanceTypes: types, Stock: []fake.Stock{{Count: 3}}})
	require.Equal(t, types, catalogOf(t, cloud))
}

func TestCreateDenies(t *testing.T) {
	cloud := smallCloud(t)
	elsewhere, err := catalog.New(&catalog.Options{Region: "eu-west-1", Types: []string{"m5.large", "r5.large"}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(*cloudprovider.LaunchRequest)
		want   []string
	}{
		"empty": {
			func(r *cloudprovider.LaunchRequest) { *r = cloudprovider.LaunchRequest{} },
			[]string{"token: empty", "options: none"},
		},
		"offerings of another cloud": {
			func(r *cloudprovider.LaunchRequest) {
				r.Options = launch.Compatible(elsewhere, requirements.MustParse("topology.kubernetes.io/zone = eu-west-1a, karpenter.sh/capacity-type = spot"))
			},
			[]string{"(m5.large/eu-west-1a/spot): the cloud has no such offering", "(r5.large/eu-west-1a/spot): the cloud has no such offering"},
		},
		"requirements": {
			func(r *cloudprovider.LaunchRequest) {
				r.Requirements = requirements.MustParse("kubernetes.io/arch = arm64, topology.kubernetes.io/zone = us-east-1a, team = b")
			},
			[]string{"options[0]", "the request wants kubernetes.io/arch = arm64, but it has kubernetes.io/arch = amd64"},
		},
		"requests": {
			func(r *cloudprovider.LaunchRequest) {
				r.Requests = resources.MustParse("cpu=1931m, memory=1Gi, nvidia.com/gpu=1")
			},
			[]string{"it has no room for the [cpu nvidia.com/gpu] requested: requests are cpu=1931m", "allocatable is cpu=1930m"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := request(t, cloud, "t1", "kubernetes.io/arch = amd64")
			c.change(&req)
			_, err := cloud.Create(t.Context(), req)
			require.ErrorIs(t, err, cloudprovider.ErrDenied)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
	require.Empty(t, listed(t, cloud))
}

// What an overlay adds to an option is believed.
func TestCreateJudgesRoomByTheOption(t *testing.T) {
	cloud := smallCloud(t)
	req := request(t, cloud, "t1", "kubernetes.io/arch = amd64")
	req.Requests = req.Requests.With("example.com/dongle", 1)
	_, err := cloud.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	extra := resources.MustParse("example.com/dongle=2")
	for i, o := range req.Options {
		changed := *o.Offering
		changed.Capacity = &extra
		req.Options[i].Offering = &changed
	}
	create(t, cloud, req)
}

// Whether an instance is gone or never was is in the text of the error; its kind is the same.
func TestErrorsTellWhatIsGoneFromWhatNeverWas(t *testing.T) {
	cloud := smallCloud(t)
	instance := create(t, cloud, request(t, cloud, "t1", "kubernetes.io/arch = amd64"))
	require.NoError(t, cloud.Delete(t.Context(), instance.ID))
	require.ErrorContains(t, cloud.Delete(t.Context(), instance.ID), "it was deleted")
	_, err := cloud.Get(t.Context(), "fake:///nowhere/i-1")
	require.ErrorContains(t, err, "the cloud never had it")
}

func TestCancelledCreateLaunchesNothing(t *testing.T) {
	cloud := smallCloud(t)
	req := request(t, cloud, "t1", "kubernetes.io/arch = amd64")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err := cloud.Create(ctx, req)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, cloudprovider.KindUnknown, cloudprovider.KindOf(err))
	require.Empty(t, listed(t, cloud))
}

func TestNewSortsAndCopies(t *testing.T) {
	types, err := catalog.New(&catalog.Options{Families: []string{"m5", "c5"}})
	require.NoError(t, err)
	want, err := fake.New(&fake.Options{InstanceTypes: types})
	require.NoError(t, err)
	slices.Reverse(types)
	for _, it := range types {
		slices.Reverse(it.Offerings)
	}
	got, err := fake.New(&fake.Options{InstanceTypes: types})
	require.NoError(t, err)
	require.Equal(t, catalogOf(t, want), catalogOf(t, got))
	types[0].Offerings[0].Available = false
	require.Equal(t, catalogOf(t, want), catalogOf(t, got))

	none, err := fake.New(&fake.Options{InstanceTypes: []*cloudprovider.InstanceType{}})
	require.NoError(t, err)
	require.Empty(t, catalogOf(t, none))
	all, err := fake.New(nil)
	require.NoError(t, err)
	require.Len(t, catalogOf(t, all), len(fake.Catalog()))
	require.Equal(t, "fake", cloudprovider.Name(all))
	require.True(t, cloudprovider.Vocabulary(all).WellKnown(awsv1.LabelInstanceFamily))
}

func TestNewFaults(t *testing.T) {
	types, err := catalog.New(&catalog.Options{Types: []string{"m5.large"}})
	require.NoError(t, err)
	broken := types[0].Clone()
	broken.Name = "broken"
	broken.Offerings[0].Price = -1
	_, err = fake.New(&fake.Options{InstanceTypes: []*cloudprovider.InstanceType{types[0], nil, broken, types[0]}})
	require.ErrorContains(t, err, "instance type 2 of the list: nil")
	require.ErrorContains(t, err, "instance type broken: requirements:")
	require.ErrorContains(t, err, "price: -1")
	require.ErrorContains(t, err, "instance type m5.large: there is another one of that name")
}
