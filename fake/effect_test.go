package fake_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
)

func TestFail(t *testing.T) {
	cause := errors.New("cause")
	ice := &cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity, Scopes: []cloudprovider.Scope{{Zone: "a"}}}
	for _, c := range []struct {
		err  error
		kind cloudprovider.Kind
		text string
	}{
		{cause, cloudprovider.KindUnknown, "Create t: unknown failure: cause"},
		{cloudprovider.ErrThrottled, cloudprovider.KindThrottled, "Create t: throttled"},
		{fmt.Errorf("quota: %w", cloudprovider.ErrDenied), cloudprovider.KindDenied, "Create t: denied: quota: denied"},
		{&cloudprovider.Error{Kind: cloudprovider.KindNotReady, Err: cause}, cloudprovider.KindNotReady, "Create t: not ready: cause"},
		{&cloudprovider.Error{Op: "RunInstances", Object: "x"}, cloudprovider.KindUnknown, "RunInstances x: unknown failure"},
		{fmt.Errorf("outer: %w", ice), cloudprovider.KindInsufficientCapacity, "outer: insufficient capacity: zone=a"},
		{ice, cloudprovider.KindInsufficientCapacity, "Create t: insufficient capacity: zone=a"},
		{cloudprovider.ErrInsufficientCapacity, cloudprovider.KindInsufficientCapacity, "Create t: insufficient capacity: m5.large/a/spot"},
		{(*cloudprovider.Error)(nil), cloudprovider.KindUnknown, "Create t: unknown failure: nil *cloudprovider.Error in an error interface"},
	} {
		cloud := world(t, fake.Options{})
		req := ask(t, cloud, "t", m5)
		require.NoError(t, cloud.Script(fake.Fault{Err: c.err}))
		_, err := cloud.Create(t.Context(), req)
		require.EqualError(t, err, c.text)
		require.Equal(t, c.kind, cloudprovider.KindOf(err))
		require.Zero(t, cloud.Stats().Launched)
	}
	require.Empty(t, ice.Op, "the error of the fault is not written to")
}

// A lost Create has launched; the token finds the machine.
func TestLose(t *testing.T) {
	cloud := world(t, fake.Options{})
	require.NoError(t, cloud.Script(fake.Fault{Op: "create", Times: 2, Err: fake.ErrLost}, fake.Fault{Op: "delete", Nth: 1, Err: fake.ErrLost}))
	req := ask(t, cloud, "t", m5)
	for range 2 {
		got, err := cloud.Create(t.Context(), req)
		require.Nil(t, got)
		require.Equal(t, cloudprovider.KindUnknown, cloudprovider.KindOf(err))
		require.ErrorContains(t, err, "the answer was lost")
		require.Equal(t, 1, cloud.Stats().Launched)
	}
	got := create(t, cloud, req)
	list := listed(t, cloud)
	require.Equal(t, []*cloudprovider.Instance{got}, list)

	require.ErrorContains(t, cloud.Delete(t.Context(), got.ID), "the answer was lost")
	require.ErrorIs(t, cloud.Delete(t.Context(), got.ID), cloudprovider.ErrNotFound)
}

func TestTwice(t *testing.T) {
	cloud := world(t, fake.Options{})
	require.NoError(t, cloud.Script(fake.Fault{Err: fake.ErrTwice}))
	one := mustLaunch(t, cloud, "one", m5)
	require.Equal(t, 1, cloud.Stats().Launched)
	require.ErrorIs(t, cloud.Delete(t.Context(), one.ID), cloudprovider.ErrNotFound)
}

func TestDelay(t *testing.T) {
	cloud := world(t, fake.Options{Timing: fake.Timing{Launch: fake.Exactly(minute)}})
	require.NoError(t, cloud.Script(fake.Fault{Op: "create", Nth: 2, Err: fake.Delay(40 * second)}, fake.Fault{Op: "create", Nth: 2, Err: fake.Delay(20 * second)}))
	mustLaunch(t, cloud, "one", m5)
	two := mustLaunch(t, cloud, "two", m5)
	require.Equal(t, epoch.Add(minute), two.CreatedAt, "delays add up")
	require.Len(t, cloud.Nodes(), 1, "things happen meanwhile")
}

func TestStall(t *testing.T) {
	cloud := world(t, fake.Options{})
	require.NoError(t, cloud.Script(fake.Fault{Op: "create", Nth: 1, Err: fake.ErrStalled}))
	bad := mustLaunch(t, cloud, "bad", m5)
	mustLaunch(t, cloud, "good", m5)
	cloud.Advance(24 * time.Hour)
	require.Len(t, cloud.Nodes(), 1)
	require.ErrorIs(t, cloud.Reboot(t.Context(), bad.ID, "op"), cloudprovider.ErrDenied)
	require.NoError(t, cloud.Delete(t.Context(), bad.ID))
}

func TestRefuse(t *testing.T) {
	cloud := world(t, fake.Options{})
	req := ask(t, cloud, "t", m5)
	require.NoError(t, cloud.Script(fake.Fault{Op: "create", Nth: 1, Err: fake.Refusal{Scope: cloudprovider.Scope{}}}, fake.Fault{Err: fake.Refusal{Scope: cloudprovider.Scope{CapacityType: "spot"}}}))
	_, err := cloud.Create(t.Context(), req)
	var refused *cloudprovider.Error
	require.ErrorAs(t, err, &refused)
	require.Len(t, refused.Offerings, 4)
	got := create(t, cloud, req)
	require.Equal(t, "on-demand", got.CapacityType, "the rest is still for sale")
}

// Every fault sees every call, and of those that fail it the first decides.
func TestSeveralFaults(t *testing.T) {
	cloud := world(t, fake.Options{})
	first, second := errors.New("first"), errors.New("second")
	require.NoError(t, cloud.Script(fake.Fault{Op: "list", Nth: 1, Err: first}, fake.Fault{Every: 2, Err: second}, fake.Fault{Op: "list", Nth: 2, Err: first}, fake.Fault{Op: "list", Nth: 3, Err: fake.ErrLost}))
	for i, want := range []string{"first", "second", "the answer was lost", "second", ""} {
		_, err := cloud.List(t.Context())
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want, i)
	}
	cloud.ClearScript()
	listed(t, cloud)
}

func TestLag(t *testing.T) {
	cloud := world(t, fake.Options{ListLag: 10 * second, Timing: fake.Timing{Shutdown: fake.Exactly(minute)}})
	look := func() string {
		instances := listed(t, cloud)
		for _, i := range instances {
			return map[bool]string{true: "deleting", false: "running"}[i.Deleting]
		}
		return "none"
	}
	require.Equal(t, instanceID, mustLaunch(t, cloud, "t", odA).ID)
	for _, c := range []struct {
		d    time.Duration
		want string
		do   bool
	}{
		{d: 0, want: "none"},
		{d: 9 * second, want: "none"},
		{d: second, want: "running", do: true},
		{d: 9 * second, want: "running"},
		{d: second, want: "deleting"},
		{d: 50 * second, want: "deleting"}, // gone at this moment
		{d: 9 * second, want: "deleting"},
		{d: second, want: "none"},
	} {
		cloud.Advance(c.d)
		require.Equal(t, c.want, look(), cloud.Now())
		if c.do {
			require.NoError(t, cloud.Delete(t.Context(), instanceID))
			require.NoError(t, cloud.Delete(t.Context(), instanceID), "it is going down")
			i, err := cloud.Get(t.Context(), instanceID)
			require.NoError(t, err)
			require.True(t, i.Deleting, "Get is up to date")
		}
	}
	require.ErrorIs(t, cloud.Delete(t.Context(), instanceID), cloudprovider.ErrNotFound)
	_, err := cloud.Create(t.Context(), ask(t, cloud, "t", odA))
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
}

const instanceID = "fake:///a/i-0a582e7be92bdfa4d"
