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
	got, err := cloud.Create(t.Context(), req)
	require.NoError(t, err)
	list, err := cloud.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []*cloudprovider.Instance{got}, list)

	require.ErrorContains(t, cloud.Delete(t.Context(), got.ID), "the answer was lost")
	require.ErrorIs(t, cloud.Delete(t.Context(), got.ID), cloudprovider.ErrNotFound)
}

func TestTwice(t *testing.T) {
	cloud := world(t, fake.Options{RateLimits: []fake.RateLimit{{Ops: []string{"Create"}, Burst: 3, Every: minute}}})
	require.NoError(t, cloud.Script(fake.Fault{Err: fake.ErrTwice}))
	one := mustLaunch(t, cloud, "one", m5)
	require.Equal(t, 1, cloud.Stats().Launched)
	require.ErrorIs(t, cloud.Delete(t.Context(), one.ID), cloudprovider.ErrNotFound)
	_, err := cloud.Create(t.Context(), ask(t, cloud, "two", m5))
	require.ErrorIs(t, err, cloudprovider.ErrThrottled, "each arrival takes a token")
	require.Equal(t, 2, cloud.Stats().Launched)
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
	got, err := cloud.Create(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "on-demand", got.CapacityType, "the rest is still for sale")
}

func TestPartly(t *testing.T) {
	cloud := world(t, fake.Options{})
	for i := range 5 {
		mustLaunch(t, cloud, fmt.Sprint(i), spotA)
	}
	require.NoError(t, cloud.Do(fake.Rebalance(fake.Target{})))
	notices, err := cloud.Interruptions(t.Context())
	require.NoError(t, err)
	require.Len(t, notices, 5)
	require.NoError(t, cloud.Script(fake.Fault{Times: 2, Err: fake.Partly{Err: cloudprovider.ErrThrottled}}))
	err = cloudprovider.Acknowledge(t.Context(), cloud, notices...)
	require.ErrorIs(t, err, cloudprovider.ErrThrottled)
	_, err = cloud.List(t.Context())
	require.ErrorIs(t, err, cloudprovider.ErrThrottled, "what has no half fails")
	left, err := cloud.Interruptions(t.Context())
	require.NoError(t, err)
	require.Equal(t, notices[2:], left)
	require.NoError(t, cloudprovider.Acknowledge(t.Context(), cloud, notices...), "repeat with all")
	left, err = cloud.Interruptions(t.Context())
	require.NoError(t, err)
	require.Empty(t, left)
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
	_, err := cloud.List(t.Context())
	require.NoError(t, err)
}

func TestThrottle(t *testing.T) {
	cloud := world(t, fake.Options{RateLimits: []fake.RateLimit{
		{Ops: []string{"get", "List"}, Burst: 3, Every: 10 * second},
		{Ops: []string{"list"}, Burst: 1, Every: 25 * second},
	}})
	list := func() time.Duration {
		_, err := cloud.List(t.Context())
		if err == nil {
			return 0
		}
		require.ErrorIs(t, err, cloudprovider.ErrThrottled)
		return cloudprovider.RetryAfter(err)
	}
	get := func() time.Duration {
		_, err := cloud.Get(t.Context(), "nothing")
		return cloudprovider.RetryAfter(err)
	}
	require.Zero(t, list())
	require.Equal(t, 25*second, list())
	require.Zero(t, get(), "a call turned away takes no token of the other bucket")
	require.Zero(t, get())
	require.Equal(t, 10*second, get())
	require.Equal(t, 25*second, list(), "the longer wait is said")
	cloud.Advance(9 * second)
	require.Equal(t, second, get())
	cloud.Advance(second)
	require.Zero(t, get())
	require.Equal(t, 10*second, get())
	cloud.Advance(15 * second)
	require.Zero(t, list())
	cloud.Advance(time.Hour)
	for range 3 {
		require.Zero(t, get(), "no more than the burst is saved up")
	}
	require.NotZero(t, get())
	_, err := cloud.InstanceTypes(t.Context(), nil)
	require.NoError(t, err, "other calls are free")
	require.Equal(t, 6, cloud.Stats().Throttled)
}

func TestLag(t *testing.T) {
	cloud := world(t, fake.Options{Lag: fake.Lag{List: 10 * second, Get: 3 * second}, Timing: fake.Timing{Shutdown: fake.Exactly(minute)}})
	look := func() (list, get string) {
		instances, err := cloud.List(t.Context())
		require.NoError(t, err)
		state := func(i *cloudprovider.Instance) string {
			return map[bool]string{true: "deleting", false: "running"}[i.Deleting]
		}
		list, get = "none", "none"
		for _, i := range instances {
			list = state(i)
		}
		if i, err := cloud.Get(t.Context(), instanceID); err == nil {
			get = state(i)
		} else {
			require.ErrorIs(t, err, cloudprovider.ErrNotFound)
		}
		return list, get
	}
	require.Equal(t, instanceID, mustLaunch(t, cloud, "t", odA).ID)
	for _, c := range []struct {
		d         time.Duration
		list, get string
		do        bool
	}{
		{d: 0, list: "none", get: "none"},
		{d: 3 * second, list: "none", get: "running"},
		{d: 7 * second, list: "running", get: "running", do: true},
		{d: second, list: "running", get: "running"},
		{d: 2 * second, list: "running", get: "deleting"},
		{d: 7 * second, list: "deleting", get: "deleting"},
		{d: 50 * second, list: "deleting", get: "deleting"}, // gone at this moment
		{d: 3 * second, list: "deleting", get: "none"},
		{d: 6 * second, list: "deleting", get: "none"},
		{d: second, list: "none", get: "none"},
	} {
		cloud.Advance(c.d)
		list, get := look()
		require.Equal(t, []string{c.list, c.get}, []string{list, get}, cloud.Now())
		if c.do {
			require.NoError(t, cloud.Delete(t.Context(), instanceID))
			require.NoError(t, cloud.Delete(t.Context(), instanceID), "it is going down")
		}
	}
	require.ErrorIs(t, cloud.Delete(t.Context(), instanceID), cloudprovider.ErrNotFound)
	_, err := cloud.Create(t.Context(), ask(t, cloud, "t", odA))
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
}

const instanceID = "fake:///a/i-0a582e7be92bdfa4d"
