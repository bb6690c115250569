package observe_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/observe"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// clock goes on by a second each time it is read.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: noon} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now
	c.now = now.Add(time.Second)
	return now
}

// cloud has no abilities but a name. fail, if set, is what every call does.
type cloud struct {
	fail func() error
}

func (c *cloud) outcome() error {
	if c.fail != nil {
		return c.fail()
	}
	return nil
}

func (c *cloud) Name() string { return "cloud" }

func (c *cloud) InstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return make([]*cloudprovider.InstanceType, 3), c.outcome()
}

func (c *cloud) Create(_ context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	return &cloudprovider.Instance{ID: "i-1", Name: req.Name}, c.outcome()
}

func (c *cloud) Delete(context.Context, string) error { return c.outcome() }

func (c *cloud) Get(_ context.Context, id string) (*cloudprovider.Instance, error) {
	return &cloudprovider.Instance{ID: id}, c.outcome()
}

func (c *cloud) List(context.Context) ([]*cloudprovider.Instance, error) {
	return make([]*cloudprovider.Instance, 2), c.outcome()
}

// able has every ability.
type able struct{ cloud }

func (a *able) IsDrifted(context.Context, *v1.NodeClaim) (cloudprovider.Drift, error) {
	return cloudprovider.Drift{Reason: "ImageDrift"}, a.outcome()
}
func (a *able) NodeClassReady(context.Context, v1.NodeClassReference) error { return a.outcome() }
func (a *able) Reboot(context.Context, string, string) error                { return a.outcome() }
func (a *able) Interruptions(context.Context) ([]cloudprovider.Interruption, error) {
	return make([]cloudprovider.Interruption, 4), a.outcome()
}
func (a *able) Acknowledge(context.Context, ...string) error { return a.outcome() }
func (a *able) RepairPolicies() []cloudprovider.RepairPolicy {
	return make([]cloudprovider.RepairPolicy, 1)
}
func (a *able) Vocabulary() *requirements.Vocabulary {
	return requirements.DefaultVocabulary().Extend(requirements.Extension{WellKnown: []string{"own"}})
}

// wrap returns inner, observed, and the events.
func wrap(t *testing.T, inner cloudprovider.CloudProvider) (*observe.Provider, *[]observe.Event) {
	t.Helper()
	var events []observe.Event
	p, err := observe.Wrap(inner, newClock().Now, func(e observe.Event) { events = append(events, e) })
	require.NoError(t, err)
	return p, &events
}

func callAll(ctx context.Context, p cloudprovider.CloudProvider) []error {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Labels: map[string]string{v1.NodePoolLabelKey: "web"}}}
	_, types := p.InstanceTypes(ctx, &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}})
	_, create := p.Create(ctx, cloudprovider.LaunchRequest{Name: "web-1", NodePool: "web"})
	remove := p.Delete(ctx, "i-1")
	_, get := p.Get(ctx, "i-2")
	_, list := p.List(ctx)
	_, drifted := cloudprovider.IsDrifted(ctx, p, claim)
	ready := cloudprovider.NodeClassReady(ctx, p, v1.NodeClassReference{Name: "default"})
	reboot := cloudprovider.Reboot(ctx, p, "i-3", "op")
	_, notices := cloudprovider.Interruptions(ctx, p)
	acknowledge := cloudprovider.Acknowledge(ctx, p, cloudprovider.Interruption{ID: "1"}, cloudprovider.Interruption{ID: "2"})
	return []error{types, create, remove, get, list, drifted, ready, reboot, notices, acknowledge}
}

func TestEvents(t *testing.T) {
	p, events := wrap(t, &able{})
	for _, err := range callAll(t.Context(), p) {
		require.NoError(t, err)
	}
	want := []observe.Ended{
		{Call: observe.Call{Op: observe.OpInstanceTypes, NodePool: "web"}, Count: 3},
		{Call: observe.Call{Op: observe.OpCreate, Object: "web-1", NodePool: "web"}, Instance: &cloudprovider.Instance{ID: "i-1", Name: "web-1"}},
		{Call: observe.Call{Op: observe.OpDelete, Object: "i-1"}},
		{Call: observe.Call{Op: observe.OpGet, Object: "i-2"}, Instance: &cloudprovider.Instance{ID: "i-2"}},
		{Call: observe.Call{Op: observe.OpList}, Count: 2},
		{Call: observe.Call{Op: observe.OpIsDrifted, Object: "web-1", NodePool: "web"}, Drift: cloudprovider.Drift{Reason: "ImageDrift"}},
		{Call: observe.Call{Op: observe.OpNodeClassReady, Object: "default"}},
		{Call: observe.Call{Op: observe.OpReboot, Object: "i-3"}},
		{Call: observe.Call{Op: observe.OpInterruptions}, Count: 4},
		{Call: observe.Call{Op: observe.OpAcknowledge}, Count: 2},
	}
	require.Len(t, *events, 2*len(want))
	for i, e := range want {
		e.Number, e.Provider = uint64(i+1), "cloud"
		e.At, e.Duration = noon.Add(time.Duration(2*i+1)*time.Second), time.Second
		require.Equal(t, observe.Started{Call: e.Call, At: e.At.Add(-time.Second)}, (*events)[2*i])
		require.Equal(t, e, (*events)[2*i+1])
	}
}

func TestOutcome(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{nil, "OK"},
		{errors.New("reset"), "Unknown"},
		{fmt.Errorf("create: %w", &cloudprovider.Error{Kind: cloudprovider.KindThrottled}), "Throttled"},
		{cloudprovider.ErrNotFound, "NotFound"},
	} {
		p, events := wrap(t, &able{cloud{fail: func() error { return test.err }}})
		for _, err := range callAll(t.Context(), p) {
			require.Equal(t, test.err, err, "errors come back as they were")
		}
		for i, e := range *events {
			if ended, ok := e.(observe.Ended); ok {
				require.Equal(t, test.want, ended.Outcome())
				require.Equal(t, test.err, ended.Err)
				require.Equal(t, cloudprovider.KindOf(test.err), ended.Kind)
			} else {
				require.Zero(t, i%2)
			}
		}
	}
}

func TestPanic(t *testing.T) {
	p, events := wrap(t, &cloud{fail: func() error { panic("boom") }})
	require.PanicsWithValue(t, "boom", func() { _, _ = p.Create(t.Context(), cloudprovider.LaunchRequest{}) })
	ended := (*events)[1].(observe.Ended)
	require.Equal(t, "Panic", ended.Outcome())
	require.Nil(t, ended.Instance)

	p, events = wrap(t, &cloud{fail: func() error { runtime.Goexit(); return nil }})
	var wait sync.WaitGroup
	wait.Go(func() { _ = p.Delete(context.Background(), "i-1") })
	wait.Wait()
	require.Equal(t, "#1 cloud Delete i-1 Panic in 1s", (*events)[1].(observe.Ended).String())
}

// What the inner provider can do, the wrapper can do, however often it is
// wrapped, and nothing else.
func TestLawAbilitiesShowThrough(t *testing.T) {
	for _, inner := range []cloudprovider.CloudProvider{&cloud{}, &able{}} {
		one, _ := wrap(t, inner)
		two, events := wrap(t, one)
		for _, p := range []cloudprovider.CloudProvider{one, two} {
			same[cloudprovider.Namer](t, inner, p)
			same[cloudprovider.DriftDetector](t, inner, p)
			same[cloudprovider.NodeClassChecker](t, inner, p)
			same[cloudprovider.Rebooter](t, inner, p)
			same[cloudprovider.InterruptionSource](t, inner, p)
			same[cloudprovider.InterruptionAcknowledger](t, inner, p)
			same[cloudprovider.Repairer](t, inner, p)
			same[cloudprovider.VocabularyProvider](t, inner, p)
			same[cloudprovider.NodeClassSupporter](t, inner, p)
			require.Equal(t, "cloud", cloudprovider.Name(p))
			require.Equal(t, cloudprovider.RepairPolicies(inner), cloudprovider.RepairPolicies(p))
			require.Equal(t, cloudprovider.Vocabulary(inner).WellKnown("own"), cloudprovider.Vocabulary(p).WellKnown("own"))
		}
		want, got := callAll(t.Context(), inner), callAll(t.Context(), two)
		for i := range want {
			require.Equal(t, want[i] == nil, got[i] == nil)
			require.Equal(t, cloudprovider.KindOf(want[i]), cloudprovider.KindOf(got[i]))
		}
		calls := 20
		if _, isAble := inner.(*able); !isAble {
			calls = 10 // an absent ability is not called
		}
		require.Len(t, *events, calls)
		require.Same(t, inner, one.Unwrap())
	}
}

func same[T any](t *testing.T, inner, outer cloudprovider.CloudProvider) {
	t.Helper()
	_, want := cloudprovider.As[T](inner)
	_, got := cloudprovider.As[T](outer)
	require.Equal(t, want, got)
}

// A combination of abilities is found as well; it is just not observed.
func TestCombinedAbility(t *testing.T) {
	type both interface {
		cloudprovider.DriftDetector
		cloudprovider.Rebooter
	}
	p, events := wrap(t, &able{})
	b, found := cloudprovider.As[both](p)
	require.True(t, found)
	require.NoError(t, b.Reboot(t.Context(), "i-1", "op"))
	require.Empty(t, *events)
	require.False(t, p.As(nil))
}

func TestNilArguments(t *testing.T) {
	_, err := observe.Wrap(nil, nil, nil)
	require.EqualError(t, err, `observe: inner: nil; pass the provider to observe
observe: now: nil; pass the clock, such as time.Now
observe: sink: nil; pass the function that takes the events`)
	p, events := wrap(t, &able{})
	_, err = p.InstanceTypes(t.Context(), nil)
	require.NoError(t, err)
	_, err = cloudprovider.IsDrifted(t.Context(), p, nil)
	require.NoError(t, err)
	require.Equal(t, "#2 cloud IsDrifted started", (*events)[2].(observe.Started).String())
}

func TestClockSetBack(t *testing.T) {
	now := noon
	var ended observe.Ended
	p, err := observe.Wrap(&cloud{}, func() time.Time { now = now.Add(-time.Hour); return now }, func(e observe.Event) { ended, _ = e.(observe.Ended) })
	require.NoError(t, err)
	require.NoError(t, p.Delete(t.Context(), "i-1"))
	require.Zero(t, ended.Duration)
}

func TestTally(t *testing.T) {
	var tally observe.Tally
	require.Empty(t, tally.Counts())
	require.Zero(t, tally.Running(observe.OpGet))
	c := newClock()
	inside := make(chan struct{})
	release := make(chan struct{})
	var once sync.Once
	p, err := observe.Wrap(&cloud{fail: func() error {
		once.Do(func() { close(inside); <-release })
		return cloudprovider.ErrNotFound
	}}, c.Now, tally.Sink)
	require.NoError(t, err)
	var wait sync.WaitGroup
	wait.Go(func() { _, _ = p.Get(context.Background(), "i-1") })
	<-inside
	require.Equal(t, 1, tally.Running(observe.OpGet))
	require.Empty(t, tally.Counts())
	close(release)
	wait.Wait()
	for range 3 {
		wait.Go(func() { _ = p.Delete(context.Background(), "i-1") })
	}
	wait.Wait()
	require.Zero(t, tally.Running(observe.OpGet))
	counts := tally.Counts()
	require.Len(t, counts, 2)
	require.Equal(t, observe.OpDelete, counts[0].Op)
	require.Equal(t, 3, counts[0].Calls)
	require.Equal(t, observe.Count{Op: observe.OpGet, Outcome: "NotFound", Calls: 1, Total: time.Second, Longest: time.Second}, counts[1])
}

// Numbers are told apart, and events paired, however many goroutines call.
func TestRace(t *testing.T) {
	var mu sync.Mutex
	open := map[uint64]bool{}
	seen := 0
	p, err := observe.Wrap(&able{}, newClock().Now, func(e observe.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e := e.(type) {
		case observe.Started:
			if open[e.Number] {
				t.Errorf("number %d twice", e.Number)
			}
			open[e.Number] = true
		case observe.Ended:
			if !open[e.Number] {
				t.Errorf("number %d ended without a start", e.Number)
			}
			delete(open, e.Number)
			seen++
		}
	})
	require.NoError(t, err)
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() { callAll(context.Background(), p) })
	}
	wait.Wait()
	require.Empty(t, open)
	require.Equal(t, 200, seen)
}

func BenchmarkWrap(b *testing.B) {
	p, err := observe.Wrap(&cloud{}, func() time.Time { return noon }, func(observe.Event) {})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_ = p.Delete(b.Context(), "i-1")
	}
}

func Example() {
	clock := newClock()
	// In a program the sink calls slog and updates metrics:
	//
	//	case observe.Ended:
	//		slog.Info("cloud call", "op", e.Op, "object", e.Object, "outcome", e.Outcome(), "err", e.Err)
	//		seconds.WithLabelValues(string(e.Op), e.Outcome()).Observe(e.Duration.Seconds())
	sink := func(event observe.Event) {
		switch e := event.(type) {
		case observe.Started:
			fmt.Println(e)
		case observe.Ended:
			fmt.Println(e, e.Err)
		}
	}
	provider, err := observe.Wrap(&able{}, clock.Now, sink)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = provider.Create(context.Background(), cloudprovider.LaunchRequest{Name: "web-1"})
	_ = cloudprovider.Reboot(context.Background(), provider, "i-1", "op-1")
	// Output:
	// #1 cloud Create web-1 started
	// #1 cloud Create web-1 OK in 1s <nil>
	// #2 cloud Reboot i-1 started
	// #2 cloud Reboot i-1 OK in 1s <nil>
}

func ExampleTally() {
	var tally observe.Tally
	provider, _ := observe.Wrap(&cloud{fail: func() error { return cloudprovider.ErrThrottled }}, newClock().Now, tally.Sink)
	for range 3 {
		_ = provider.Delete(context.Background(), "i-1")
	}
	for _, c := range tally.Counts() {
		fmt.Println(c.Op, c.Outcome, c.Calls, c.Total)
	}
	// Output:
	// Delete Throttled 3 3s
}
