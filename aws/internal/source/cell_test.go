package source_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/source"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// asker answers with the number of times that it was asked, unless it has an error.
type asker struct {
	asked int
	err   error
}

func (a *asker) ask(context.Context) (int, error) {
	a.asked++
	return a.asked, a.err
}

func cell(k *clock) *source.Cell[int] {
	return source.NewCell(source.Settings[int]{Name: "things", Now: k.Now, Refresh: 10 * time.Minute})
}

func TestCellKeepsAnswerUntilDue(t *testing.T) {
	k, a := newClock(), &asker{}
	c := cell(k)
	for _, step := range []struct {
		add  time.Duration
		want int
	}{{0, 1}, {10*time.Minute - 1, 1}, {1, 2}, {time.Minute, 2}, {time.Hour, 3}} {
		k.add(step.add)
		got, reading, err := c.Get(bg, a.ask)
		require.NoError(t, err)
		require.Equal(t, step.want, got)
		require.False(t, reading.Stale)
	}
}

func TestCellKeepsLastGoodAnswer(t *testing.T) {
	k, a := newClock(), &asker{}
	c := cell(k)
	_, _, err := c.Get(bg, a.ask)
	require.NoError(t, err)
	a.err = throttled("DescribeThings")
	k.add(10 * time.Minute)
	for range 3 {
		got, reading, err := c.Get(bg, a.ask)
		require.NoError(t, err)
		require.Equal(t, 1, got)
		require.True(t, reading.Stale)
		require.Equal(t, noon, reading.At)
		require.ErrorIs(t, reading.Err, cloudprovider.ErrThrottled)
	}
	require.Equal(t, 2, a.asked, "it waits before it asks again")
	a.err = nil
	k.add(2 * time.Minute)
	got, reading, err := c.Get(bg, a.ask)
	require.NoError(t, err)
	require.Equal(t, 3, got)
	require.False(t, reading.Stale)
	require.NoError(t, reading.Err)
}

// A failure is not asked about again at once, and the pauses grow to a minute.
func TestCellPausesAfterFailures(t *testing.T) {
	k, a := newClock(), &asker{err: throttled("DescribeThings")}
	c := cell(k)
	var asked []int
	for range 300 { // five minutes, once a second
		_, _, err := c.Get(bg, a.ask)
		require.ErrorIs(t, err, cloudprovider.ErrThrottled)
		require.Positive(t, cloudprovider.RetryAfter(err))
		require.LessOrEqual(t, cloudprovider.RetryAfter(err), 72*time.Second)
		k.add(time.Second)
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
	k, a := newClock(), &asker{err: &cloudprovider.Error{Kind: cloudprovider.KindDenied}}
	c := cell(k)
	_, _, err := c.Get(bg, a.ask)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	k.add(59 * time.Second)
	_, _, err = c.Get(bg, a.ask)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	a.err = nil
	k.add(time.Second)
	got, _, err := c.Get(bg, a.ask)
	require.NoError(t, err)
	require.Equal(t, 2, got)
}

func TestCellClockThatGoesBack(t *testing.T) {
	k, a := newClock(), &asker{}
	c := cell(k)
	_, _, err := c.Get(bg, a.ask)
	require.NoError(t, err)
	k.add(-48 * time.Hour)
	got, reading, err := c.Get(bg, a.ask)
	require.NoError(t, err)
	require.Equal(t, 2, got, "else it would be good for two days more")
	require.Equal(t, noon.Add(-48*time.Hour), reading.At)
	a.err = throttled("DescribeThings")
	k.add(10 * time.Minute)
	_, _, _ = c.Get(bg, a.ask)
	k.add(-time.Hour)
	a.err = nil
	got, _, err = c.Get(bg, a.ask)
	require.NoError(t, err)
	require.Equal(t, 4, got)
}

func TestCellDrop(t *testing.T) {
	k, a := newClock(), &asker{}
	c := cell(k)
	_, _, err := c.Get(bg, a.ask)
	require.NoError(t, err)
	c.Drop()
	got, _, err := c.Get(bg, a.ask)
	require.NoError(t, err)
	require.Equal(t, 2, got)
	got, _, err = c.Get(bg, a.ask)
	require.NoError(t, err)
	require.Equal(t, 2, got, "once is enough")

	a.err = throttled("DescribeThings")
	c.Drop()
	got, reading, err := c.Get(bg, a.ask)
	require.NoError(t, err)
	require.Equal(t, 2, got, "what was dropped is better than nothing")
	require.True(t, reading.Stale)

	a.err = nil
	k.add(time.Hour)
	got, _, err = c.Get(bg, func(context.Context) (int, error) {
		c.Drop() // while somebody asks
		return 7, nil
	})
	require.NoError(t, err)
	require.Equal(t, 7, got)
	got, _, err = c.Get(bg, a.ask)
	require.NoError(t, err)
	require.NotEqual(t, 7, got)
}

// Any number of callers make one call, and share its answer.
func TestCellAsksOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cell(newClock())
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

// While one renews the answer the others go on with the one there is.
func TestCellDoesNotHoldUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, a := newClock(), &asker{}
		c := cell(k)
		_, _, err := c.Get(bg, a.ask)
		require.NoError(t, err)
		k.add(time.Hour)
		release := make(chan struct{})
		go func() {
			_, _, _ = c.Get(bg, func(context.Context) (int, error) { <-release; return 2, nil })
		}()
		synctest.Wait()
		got, reading, err := c.Get(bg, a.ask)
		require.NoError(t, err)
		require.Equal(t, 1, got)
		require.False(t, reading.Stale)
		close(release)
		synctest.Wait()
		got, _, err = c.Get(bg, a.ask)
		require.NoError(t, err)
		require.Equal(t, 2, got)
	})
}

// When the one who asks gives up, another takes over, and nothing has failed.
func TestCellSurvivesCallerWhoGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cell(newClock())
		ctx, cancel := context.WithCancel(t.Context())
		hang := func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }
		first := make(chan error, 1)
		go func() { _, _, err := c.Get(ctx, hang); first <- err }()
		synctest.Wait()
		second := make(chan int, 1)
		go func() {
			got, _, err := c.Get(t.Context(), func(context.Context) (int, error) { return 9, nil })
			require.NoError(t, err)
			second <- got
		}()
		third, leave := context.WithCancel(t.Context())
		waiting := make(chan error, 1)
		go func() { _, _, err := c.Get(third, hang); waiting <- err }()
		synctest.Wait()
		leave()
		require.ErrorIs(t, <-waiting, context.Canceled, "who waits can leave")
		cancel()
		require.ErrorIs(t, <-first, context.Canceled)
		require.Equal(t, 9, <-second)
		require.Zero(t, c.Health().Failures)
	})
}

// If calls take longer than callers wait, the last answer is given at once for a
// while, and not one caller after the other lost.
func TestCellDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, a := newClock(), &asker{}
		c := cell(k)
		_, _, err := c.Get(bg, a.ask)
		require.NoError(t, err)
		k.add(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err = c.Get(ctx, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		got, reading, err := c.Get(bg, func(context.Context) (int, error) { t.Error("asked"); return 0, nil })
		require.NoError(t, err)
		require.Equal(t, 1, got)
		require.True(t, reading.Stale)
	})
}

// Who can do without an answer is not held up by every caller before him.
func TestCellSpare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newClock()
		c := source.NewCell(source.Settings[int]{Name: "prices", Now: k.Now, Refresh: time.Hour, Spare: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err := c.Get(ctx, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, _, err = c.Get(bg, func(context.Context) (int, error) { t.Error("asked"); return 0, nil })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 1, c.Health().Failures)
	})
}

func TestCellDoneContextAsksNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(bg)
	cancel()
	a := &asker{}
	_, _, err := cell(newClock()).Get(ctx, a.ask)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, a.asked)
}

func TestCellSurvivesPanic(t *testing.T) {
	k, a := newClock(), &asker{}
	c := cell(k)
	require.Panics(t, func() { _, _, _ = c.Get(bg, func(context.Context) (int, error) { panic("client") }) })
	got, _, err := c.Get(bg, a.ask)
	require.NoError(t, err)
	require.Equal(t, 1, got)
}

func TestCellErrorIsTyped(t *testing.T) {
	_, _, err := cell(newClock()).Get(bg, func(context.Context) (int, error) { return 0, errors.New("connection reset") })
	var e *cloudprovider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, cloudprovider.KindUnknown, e.Kind)
	require.Contains(t, err.Error(), "things")
	require.Contains(t, err.Error(), "connection reset")
}

func TestKeyedKeepsQuestionsApart(t *testing.T) {
	k := newClock()
	all := source.NewKeyed(source.Settings[string]{Name: "thing", Now: k.Now, Refresh: time.Minute})
	ask := func(key string) string {
		got, _, err := all.Get(bg, key, func(context.Context) (string, error) { return strings.ToUpper(key), nil })
		require.NoError(t, err)
		return got
	}
	require.Equal(t, "A", ask("a"))
	require.Equal(t, "B", ask("b"))
	require.Len(t, all.Health(), 2)
	require.Equal(t, "thing a", all.Health()[0].Name)
	k.add(24 * time.Hour)
	ask("a")
	require.Len(t, all.Health(), 2)
	k.add(30 * time.Hour)
	ask("a")
	require.Len(t, all.Health(), 1, "b was not asked for any more")
}
