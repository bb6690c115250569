package cache_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"
	clock "k8s.io/utils/clock/testing"

	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

var background = context.Background()

// noon is the initial time of the clocks.
var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// throttled is an error of AWS as its clients return it.
func throttled() error {
	return &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeThings",
		Err: &smithy.GenericAPIError{Code: "RequestLimitExceeded", Message: "Request limit exceeded."}}
}

// asker answers with the number of times that it was asked, unless it has an error.
type asker struct {
	asked int
	err   error
}

func (a *asker) ask(context.Context) (int, error) {
	a.asked++
	return a.asked, a.err
}

func cell(k *clock.FakeClock) *cache.Cell[int] {
	return cache.NewCell(cache.Settings[int]{Name: "things", Now: k.Now, Refresh: 10 * time.Minute})
}

// renew is Get after what is due has been asked, and answered.
func renew(c *cache.Cell[int], a *asker) (int, cache.Reading, error) {
	_, _, _ = c.Get(background, a.ask)
	_ = c.Renew(background)()
	return c.Get(background, a.ask)
}

func renewed(t *testing.T, c *cache.Cell[int], a *asker) (int, cache.Reading) {
	t.Helper()
	got, reading, err := renew(c, a)
	require.NoError(t, err)
	return got, reading
}

func TestCellKeepsAnswerUntilDue(t *testing.T) {
	k, a := clock.NewFakeClock(noon), &asker{}
	c := cell(k)
	for _, step := range []struct {
		add  time.Duration
		want int
	}{{0, 1}, {10*time.Minute - 1, 1}, {1, 2}, {time.Minute, 2}, {time.Hour, 3}} {
		k.Step(step.add)
		got, reading := renewed(t, c, a)
		require.Equal(t, step.want, got)
		require.False(t, reading.Stale)
	}
}

func TestCellKeepsLastGoodAnswer(t *testing.T) {
	k, a := clock.NewFakeClock(noon), &asker{}
	c := cell(k)
	renewed(t, c, a)
	a.err = throttled()
	k.Step(10 * time.Minute)
	for range 3 {
		got, reading := renewed(t, c, a)
		require.Equal(t, 1, got)
		require.True(t, reading.Stale)
		require.Equal(t, noon, reading.At)
		require.ErrorIs(t, reading.Err, cloudprovider.ErrThrottled)
	}
	require.Equal(t, 2, a.asked, "it waits before it asks again")
	a.err = nil
	k.Step(2 * time.Minute)
	got, reading := renewed(t, c, a)
	require.Equal(t, 3, got)
	require.False(t, reading.Stale)
	require.NoError(t, reading.Err)
}

// What could not be renewed is asked again by the next who renews, though nobody has
// used the answer since; what could is not.
func TestCellRenewsAgainAfterFailure(t *testing.T) {
	k, a := clock.NewFakeClock(noon), &asker{}
	c := cell(k)
	renewed(t, c, a)
	a.err = throttled()
	k.Step(10 * time.Minute)
	require.ErrorIs(t, c.Renew(background)(), cloudprovider.ErrThrottled)
	a.err = nil
	k.Step(2 * time.Minute)
	require.NoError(t, c.Renew(background)())
	require.Equal(t, 3, a.asked)
	k.Step(time.Hour)
	require.NoError(t, c.Renew(background)())
	require.Equal(t, 3, a.asked, "nobody has used it")
}

// A failure is not asked about again at once, and the pauses grow to a minute.
func TestCellPausesAfterFailures(t *testing.T) {
	k, a := clock.NewFakeClock(noon), &asker{err: throttled()}
	c := cell(k)
	var asked []int
	for range 300 { // five minutes, once a second
		_, _, err := renew(c, a)
		require.ErrorIs(t, err, cloudprovider.ErrThrottled)
		require.Positive(t, cloudprovider.RetryAfter(err))
		require.LessOrEqual(t, cloudprovider.RetryAfter(err), 72*time.Second)
		k.Step(time.Second)
		asked = append(asked, a.asked)
	}
	require.Equal(t, 1, asked[0])
	require.Less(t, a.asked, 14)
	require.Greater(t, a.asked, 6)
	h := c.Health()
	require.Equal(t, a.asked, h.Failures)
	require.True(t, h.At.IsZero())
	require.ErrorIs(t, h.Err, cloudprovider.ErrThrottled)
}

// What would not work again is looked at again all the same: a right may be granted.
func TestCellAsksAgainAfterDenial(t *testing.T) {
	k, a := clock.NewFakeClock(noon), &asker{err: &cloudprovider.Error{Kind: cloudprovider.KindDenied}}
	c := cell(k)
	_, _, err := renew(c, a)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	k.Step(59 * time.Second)
	_, _, err = renew(c, a)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	a.err = nil
	k.Step(time.Second)
	got, _ := renewed(t, c, a)
	require.Equal(t, 2, got)
}

func TestCellClockThatGoesBack(t *testing.T) {
	k, a := clock.NewFakeClock(noon), &asker{}
	c := cell(k)
	renewed(t, c, a)
	k.Step(-48 * time.Hour)
	got, reading := renewed(t, c, a)
	require.Equal(t, 2, got, "else it would be good for two days more")
	require.Equal(t, noon.Add(-48*time.Hour), reading.At)
	a.err = throttled()
	k.Step(10 * time.Minute)
	_, _, _ = renew(c, a)
	k.Step(-time.Hour)
	a.err = nil
	got, _ = renewed(t, c, a)
	require.Equal(t, 4, got)
}

func TestCellDrop(t *testing.T) {
	k, a := clock.NewFakeClock(noon), &asker{}
	c := cell(k)
	_, _, err := c.Get(background, a.ask)
	require.NoError(t, err)
	c.Drop()
	got, _, err := c.Get(background, a.ask)
	require.NoError(t, err)
	require.Equal(t, 1, got, "until there is another")
	for range 3 {
		got, _ = renewed(t, c, a)
		require.Equal(t, 2, got, "once is enough")
	}

	a.err = throttled()
	c.Drop()
	got, reading := renewed(t, c, a)
	require.Equal(t, 2, got, "what was dropped is better than nothing")
	require.True(t, reading.Stale)

	a.err = nil
	k.Step(time.Hour)
	_, _, err = c.Get(background, func(context.Context) (int, error) {
		c.Drop() // while it is asked
		return 7, nil
	})
	require.NoError(t, err)
	require.NoError(t, c.Renew(background)())
	got, _, err = c.Get(background, a.ask)
	require.NoError(t, err)
	require.Equal(t, 7, got)
	got, _ = renewed(t, c, a)
	require.NotEqual(t, 7, got)
}

// Any number of callers make one call, and share its answer.
func TestCellAsksOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cell(clock.NewFakeClock(noon))
		var asked atomic.Int32
		slow := func(context.Context) (int, error) {
			time.Sleep(time.Second)
			return int(asked.Add(1)), nil
		}
		var wait sync.WaitGroup
		for range 100 {
			wait.Go(func() {
				got, _, err := c.Get(t.Context(), slow)
				require.NoError(t, err)
				require.Equal(t, 1, got)
			})
		}
		wait.Wait()
		require.EqualValues(t, 1, asked.Load())
	})
}

// While the answer is renewed everybody goes on with the one there is.
func TestCellDoesNotHoldUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, a := clock.NewFakeClock(noon), &asker{}
		c := cell(k)
		_, _, err := c.Get(background, a.ask)
		require.NoError(t, err)
		k.Step(time.Hour)
		release := make(chan struct{})
		for range 3 {
			got, reading, err := c.Get(background, func(context.Context) (int, error) { <-release; return 2, nil })
			require.NoError(t, err)
			require.Equal(t, 1, got)
			require.False(t, reading.Stale)
			synctest.Wait()
		}
		close(release)
		synctest.Wait()
		got, _, err := c.Get(background, a.ask)
		require.NoError(t, err)
		require.Equal(t, 2, got)
	})
}

// Who gives up does not end the asking, and nothing has failed.
func TestCellSurvivesCallerWhoGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cell(clock.NewFakeClock(noon))
		release := make(chan struct{})
		slow := func(context.Context) (int, error) { <-release; return 9, nil }
		ctx, cancel := context.WithCancel(t.Context())
		first, second := make(chan error, 1), make(chan int, 1)
		go func() { _, _, err := c.Get(ctx, slow); first <- err }()
		synctest.Wait()
		go func() {
			got, _, err := c.Get(t.Context(), func(context.Context) (int, error) { t.Error("asked twice"); return 0, nil })
			require.NoError(t, err)
			second <- got
		}()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-first, context.Canceled)
		require.Zero(t, c.Health().Failures)
		close(release)
		require.Equal(t, 9, <-second)
		require.Zero(t, c.Health().Failures)
	})
}

// What hangs for good is given up in the end, and asked again after a pause that
// begins only then. Nobody who has an answer waits for any of it.
func TestCellHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		hang := func(ctx context.Context) (int, error) { asked++; <-ctx.Done(); return 0, ctx.Err() }
		c := cache.NewCell(cache.Settings[int]{Name: "things", Now: time.Now, Refresh: 10 * time.Minute, Bound: time.Minute})
		began := time.Now()
		_, _, err := c.Get(t.Context(), hang)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(began))
		_, _, err = c.Get(t.Context(), hang)
		require.ErrorIs(t, err, context.DeadlineExceeded, "the failure is what is known")
		require.Equal(t, time.Minute, time.Since(began), "so nobody waits a second time")
		require.Equal(t, 1, asked, "the pause begins at the end")
		time.Sleep(time.Second)
		_, _, _ = c.Get(t.Context(), func(context.Context) (int, error) { return 7, nil })
		synctest.Wait()
		time.Sleep(10 * time.Minute)
		began = time.Now()
		for range 1000 {
			got, _, err := c.Get(t.Context(), hang)
			require.NoError(t, err)
			require.Equal(t, 7, got)
			synctest.Wait()
		}
		require.Zero(t, time.Since(began))
		require.Equal(t, 2, asked)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 1, c.Health().Failures)
		require.True(t, c.Health().Next.After(began.Add(time.Minute)), "the pause begins at the end")
	})
}

// Who can do without an answer, or without a new one, waits for as long as it may take
// a moment, once for all.
func TestCellPatience(t *testing.T) {
	for _, patience := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			asking := cache.NewAsking()
			c := cache.NewCell(cache.Settings[int]{Name: "prices", Now: time.Now, Refresh: time.Hour, Bound: time.Minute, Spare: true, Patience: patience, Asking: asking})
			hang := func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }
			began := time.Now()
			for range 3 {
				_, _, err := c.Get(t.Context(), hang)
				require.ErrorIs(t, err, cloudprovider.ErrNotReady)
				require.Equal(t, patience, time.Since(began))
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			require.Equal(t, 1, c.Health().Failures)
			time.Sleep(time.Minute)
			_, _, _ = c.Get(t.Context(), func(context.Context) (int, error) { return 7, nil })
			synctest.Wait()
			time.Sleep(time.Hour)
			began = time.Now()
			for range 3 {
				got, _, err := c.Get(t.Context(), hang)
				require.NoError(t, err)
				require.Equal(t, 7, got)
				require.Equal(t, patience, time.Since(began))
			}
			require.NoError(t, asking.Close(t.Context()))
		})
	}
}

// Close ends what is being asked, and lets go of who waits for it.
func TestAskingClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asking := cache.NewAsking()
		c := cache.NewCell(cache.Settings[int]{Name: "things", Now: time.Now, Refresh: time.Hour, Asking: asking})
		stubborn := make(chan struct{})
		waiting := make(chan error, 1)
		go func() {
			_, _, err := c.Get(t.Context(), func(ctx context.Context) (int, error) { <-ctx.Done(); <-stubborn; return 0, ctx.Err() })
			waiting <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, asking.Close(ctx), context.DeadlineExceeded)
		close(stubborn)
		require.NoError(t, asking.Close(t.Context()))
		require.ErrorContains(t, <-waiting, "after Close")
		require.Zero(t, c.Health().Failures)
		_, _, err := c.Get(t.Context(), func(context.Context) (int, error) { t.Error("asked"); return 0, nil })
		require.ErrorContains(t, err, "after Close")
	})
}

func TestCellDoneContextAsksNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	cancel()
	a := &asker{}
	_, _, err := cell(clock.NewFakeClock(noon)).Get(ctx, a.ask)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, a.asked)
}

// Nobody could recover from a panic in another goroutine.
func TestCellSurvivesPanic(t *testing.T) {
	for what, ask := range map[string]func(context.Context) (int, error){
		"panic: client":                  func(context.Context) (int, error) { panic("client") },
		"asking ended without an answer": func(context.Context) (int, error) { runtime.Goexit(); return 0, nil },
	} {
		k, a := clock.NewFakeClock(noon), &asker{}
		c := cell(k)
		_, _, err := c.Get(background, ask)
		require.ErrorContains(t, err, what)
		k.Step(time.Second)
		got, _ := renewed(t, c, a)
		require.Equal(t, 1, got)
	}
}

func TestCellErrorIsTyped(t *testing.T) {
	_, _, err := cell(clock.NewFakeClock(noon)).Get(background, func(context.Context) (int, error) { return 0, errors.New("connection reset") })
	var e *cloudprovider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, cloudprovider.KindUnknown, e.Kind)
	require.EqualError(t, err, "Read things: unknown failure: connection reset; retry after 1s")
}

func TestKeyedKeepsQuestionsApart(t *testing.T) {
	k := clock.NewFakeClock(noon)
	all := cache.NewKeyed(cache.Settings[string]{Name: "thing", Now: k.Now, Refresh: time.Minute})
	ask := func(key string) string {
		got, _, err := all.Get(background, key, func(context.Context) (string, error) { return strings.ToUpper(key), nil })
		require.NoError(t, err)
		return got
	}
	require.Equal(t, "A", ask("a"))
	require.Equal(t, "B", ask("b"))
	require.Len(t, all.Health(), 2)
	require.Equal(t, "thing a", all.Health()[0].Name)
	k.Step(24 * time.Hour)
	ask("a")
	require.Len(t, all.Health(), 2)
	k.Step(30 * time.Hour)
	ask("a")
	require.Len(t, all.Health(), 1, "b was not asked for any more")
}
