package batcher_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
)

// afterFunc returns the real one. In a synctest bubble its time is not real, so no
// test here waits, and a goroutine that is left over fails the test.
func afterFunc(d time.Duration, f func()) batcher.Timer { return time.AfterFunc(d, f) }

// recorder is a backend that answers each item with itself in capitals, and
// remembers what it was asked, and when.
type recorder struct {
	mu    sync.Mutex
	began time.Time
	calls []string
	// before, if set, runs at the start of each call.
	before func(ctx context.Context, items []string) error
}

func (r *recorder) call(ctx context.Context, key string, items []string) ([]batcher.Outcome[string], error) {
	r.mu.Lock()
	r.calls = append(r.calls, fmt.Sprintf("%v %s: %s", time.Since(r.began), key, strings.Join(items, " ")))
	before := r.before
	r.mu.Unlock()
	if before != nil {
		if err := before(ctx, items); err != nil {
			return nil, err
		}
	}
	outcomes := make([]batcher.Outcome[string], len(items))
	for i, item := range items {
		if strings.HasPrefix(item, "bad") {
			outcomes[i].Err = errors.New("no " + item)
		} else {
			outcomes[i].Result = strings.ToUpper(item)
		}
	}
	return outcomes, nil
}

type group = batcher.Group[string, string, string]

func newGroup(t *testing.T, r *recorder, opts batcher.Options) *group {
	t.Helper()
	r.began = time.Now()
	opts.AfterFunc = afterFunc
	g, err := batcher.New(r.call, &opts)
	require.NoError(t, err)
	return g
}

// ask calls Do on a goroutine and returns where the answer will be.
type answer struct {
	text string
	err  error
	at   time.Duration
	done bool
}

func ask(ctx context.Context, g *group, key, item string) *answer {
	a := &answer{}
	began := time.Now()
	go func() {
		a.text, a.err = g.Do(ctx, key, item)
		a.at, a.done = time.Since(began), true
	}()
	synctest.Wait() // until it waits, so that callers come in order
	return a
}

// pass lets time pass, and everybody do what there is to do.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestBatchGoes(t *testing.T) {
	opts := batcher.Options{Idle: 10 * time.Millisecond, Max: 25 * time.Millisecond, MaxItems: 3}
	for _, test := range []struct {
		name  string
		items string // "12:k/a" is item a of key k after 12 ms
		want  []string
	}{
		{"when idle", "0:k/a", []string{"10ms k: a"}},
		{"idle begins anew with each item", "0:k/a 8:k/b", []string{"18ms k: a b"}},
		{"when it is old", "0:k/a 9:k/b 18:k/c", []string{"18ms k: a b c"}},
		{"old before idle", "0:k/a 20:k/b", []string{"10ms k: a", "30ms k: b"}},
		{"old while items still come", "0:k/a 9:k/a 18:j/x 18:j/y 27:k/c",
			[]string{"19ms k: a a", "28ms j: x y", "37ms k: c"}},
		{"when it is full", "0:k/a 0:k/b 0:k/c 0:k/d", []string{"0s k: a b c", "10ms k: d"}},
		{"keys apart", "0:k/a 0:j/b 0:k/c", []string{"10ms j: b", "10ms k: a c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{}
				g := newGroup(t, r, opts)
				var answers []*answer
				for _, field := range strings.Fields(test.items) {
					var at int
					when, what, _ := strings.Cut(field, ":")
					_, err := fmt.Sscan(when, &at)
					require.NoError(t, err)
					pass(time.Duration(at)*time.Millisecond - time.Since(r.began))
					key, item, _ := strings.Cut(what, "/")
					answers = append(answers, ask(t.Context(), g, key, item))
				}
				pass(time.Second)
				slices.Sort(r.calls)
				slices.Sort(test.want)
				require.Equal(t, test.want, r.calls)
				for _, a := range answers {
					require.True(t, a.done)
					require.NoError(t, a.err)
				}
				require.NoError(t, g.Close(t.Context()))
			})
		})
	}
}

func TestMaxBoundsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		g := newGroup(t, r, batcher.Options{Idle: 10 * time.Millisecond, Max: 25 * time.Millisecond})
		first := ask(t.Context(), g, "k", "a")
		for range 5 {
			pass(6 * time.Millisecond)
			ask(t.Context(), g, "k", "b")
		}
		pass(time.Second)
		require.Equal(t, []string{"25ms k: a b b b b", "40ms k: b"}, r.calls)
		require.Equal(t, 25*time.Millisecond, first.at)
	})
}

func TestAnswersGoToTheirCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		g := newGroup(t, r, batcher.Options{})
		a, bad, b := ask(t.Context(), g, "k", "a"), ask(t.Context(), g, "k", "bad"), ask(t.Context(), g, "k", "b")
		pass(time.Second)
		require.Equal(t, "A", a.text)
		require.EqualError(t, bad.err, "no bad")
		require.Equal(t, "B", b.text)
	})
}

func TestCallerLeaves(t *testing.T) {
	gone := errors.New("gone")
	t.Run("before the batch goes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{}
			g := newGroup(t, r, batcher.Options{})
			ctx, cancel := context.WithCancelCause(t.Context())
			a, b := ask(ctx, g, "k", "a"), ask(t.Context(), g, "k", "b")
			cancel(gone)
			synctest.Wait()
			require.ErrorIs(t, a.err, gone)
			pass(time.Second)
			require.Equal(t, "B", b.text)
			require.Equal(t, 35*time.Millisecond, b.at, "at its own time")
			require.Equal(t, []string{"35ms k: b"}, r.calls, "nobody wants a")
		})
	})
	t.Run("the last one, before the batch goes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{}
			g := newGroup(t, r, batcher.Options{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			a := ask(ctx, g, "k", "a")
			pass(time.Second)
			require.ErrorIs(t, a.err, context.DeadlineExceeded)
			require.Empty(t, r.calls)
			require.NoError(t, g.Close(t.Context()))
		})
	})
	t.Run("while the backend works", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var ended error
			r := &recorder{before: func(ctx context.Context, _ []string) error {
				select {
				case <-ctx.Done():
					ended = ctx.Err()
				case <-time.After(time.Second):
				}
				return nil
			}}
			g := newGroup(t, r, batcher.Options{})
			ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, gone)
			defer cancel()
			a, b := ask(ctx, g, "k", "a"), ask(t.Context(), g, "k", "b")
			pass(3 * time.Second)
			require.ErrorIs(t, a.err, gone)
			require.Equal(t, 100*time.Millisecond, a.at)
			require.Equal(t, "B", b.text)
			require.NoError(t, ended, "b still wants its answer")
		})
	})
	t.Run("all, while the backend works", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var ended error
			r := &recorder{before: func(ctx context.Context, _ []string) error {
				<-ctx.Done()
				ended = ctx.Err()
				return ended
			}}
			g := newGroup(t, r, batcher.Options{})
			ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, gone)
			defer cancel()
			a, b := ask(ctx, g, "k", "a"), ask(ctx, g, "k", "b")
			pass(time.Second)
			require.ErrorIs(t, a.err, gone)
			require.ErrorIs(t, b.err, gone)
			require.ErrorIs(t, ended, context.Canceled, "nobody is left")
		})
	})
	t.Run("before it came", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{}
			g := newGroup(t, r, batcher.Options{})
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(gone)
			require.ErrorIs(t, ask(ctx, g, "k", "a").err, gone)
			pass(time.Second)
			require.Empty(t, r.calls)
		})
	})
}

func TestBackendFails(t *testing.T) {
	cause := errors.New("cause")
	for _, test := range []struct {
		name   string
		before func(context.Context, []string) error
		check  func(t *testing.T, err error)
	}{
		{"error", func(context.Context, []string) error { return cause },
			func(t *testing.T, err error) { require.Equal(t, cause, err) }},
		{"panic", func(context.Context, []string) error { panic("boom") },
			func(t *testing.T, err error) {
				var p *batcher.PanicError
				require.ErrorAs(t, err, &p)
				require.Equal(t, "boom", p.Value)
				require.Contains(t, string(p.Stack), "TestBackendFails")
				require.EqualError(t, err, "batcher: backend panicked: boom")
				require.NoError(t, p.Unwrap())
			}},
		{"panic with an error", func(context.Context, []string) error { panic(cause) },
			func(t *testing.T, err error) { require.ErrorIs(t, err, cause) }},
		{"goexit", func(context.Context, []string) error { runtime.Goexit(); return nil },
			func(t *testing.T, err error) {
				require.EqualError(t, err, "batcher: backend ended its goroutine without an answer")
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{before: test.before}
				g := newGroup(t, r, batcher.Options{})
				a, b := ask(t.Context(), g, "k", "a"), ask(t.Context(), g, "k", "b")
				pass(time.Second)
				test.check(t, a.err)
				require.Same(t, a.err, b.err)
				r.mu.Lock()
				r.before = nil
				r.mu.Unlock()
				c := ask(t.Context(), g, "k", "c")
				pass(time.Second)
				require.Equal(t, "C", c.text, "the group goes on")
				require.NoError(t, g.Close(t.Context()))
			})
		})
	}
}

func TestBackendMiscounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := batcher.New(func(context.Context, string, []string) ([]batcher.Outcome[string], error) {
			return make([]batcher.Outcome[string], 3), nil
		}, &batcher.Options{AfterFunc: afterFunc})
		require.NoError(t, err)
		_, err = g.Do(t.Context(), "k", "a")
		require.EqualError(t, err, "batcher: backend returned 3 outcomes for 1 items; it must return one for each, in their order")
	})
}

func TestMaxRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{before: func(context.Context, []string) error { time.Sleep(time.Second); return nil }}
		g := newGroup(t, r, batcher.Options{MaxRunning: 1, MaxItems: 1})
		ask(t.Context(), g, "k", "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		left := ask(ctx, g, "k", "b")
		c := ask(t.Context(), g, "j", "c")
		pass(5 * time.Second)
		require.Equal(t, []string{"0s k: a", "1s j: c"}, r.calls, "b left while it waited for a place")
		require.ErrorIs(t, left.err, context.DeadlineExceeded)
		require.Equal(t, 2*time.Second, c.at)
	})
}

func TestClose(t *testing.T) {
	t.Run("answers everybody", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{before: func(context.Context, []string) error { time.Sleep(time.Second); return nil }}
			g := newGroup(t, r, batcher.Options{MaxRunning: 1})
			a, b := ask(t.Context(), g, "k", "a"), ask(t.Context(), g, "j", "b")
			require.NoError(t, g.Close(t.Context()))
			require.Equal(t, 2*time.Second, time.Since(r.began))
			synctest.Wait()
			require.Equal(t, "A", a.text)
			require.Equal(t, "B", b.text)
			_, err := g.Do(t.Context(), "k", "c")
			require.ErrorIs(t, err, batcher.ErrClosed)
			require.NoError(t, g.Close(t.Context()), "again")
		})
	})
	t.Run("gives up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{before: func(ctx context.Context, _ []string) error {
				<-ctx.Done()
				time.Sleep(time.Second) // it takes its time
				return nil
			}}
			g := newGroup(t, r, batcher.Options{MaxRunning: 1})
			a, b := ask(t.Context(), g, "k", "a"), ask(t.Context(), g, "j", "b")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			require.ErrorIs(t, g.Close(ctx), context.DeadlineExceeded)
			synctest.Wait()
			require.ErrorIs(t, a.err, batcher.ErrClosed)
			require.ErrorIs(t, b.err, batcher.ErrClosed)
			require.NoError(t, g.Close(t.Context()), "waits for the slow one")
			require.Equal(t, time.Minute+time.Second, time.Since(r.began))
			require.Len(t, r.calls, 1)
		})
	})
}

func TestOptionFaults(t *testing.T) {
	_, err := batcher.New[string, string, string](nil, &batcher.Options{Idle: -1, Max: -1, MaxItems: -1, MaxRunning: -1})
	require.EqualError(t, err, `batcher: backend: nil; pass the function that makes the call
batcher: afterFunc: nil; pass a function around time.AfterFunc
batcher: idle: -1ns; use a time above zero, or zero for the default
batcher: maxItems: -1; use a number above zero, or zero for the default
batcher: maxRunning: -1; use a number above zero, or zero for the default`)
	_, err = batcher.New((&recorder{}).call, &batcher.Options{AfterFunc: afterFunc, Idle: time.Minute, Max: time.Second})
	require.EqualError(t, err, `batcher: max: 1s; use a time of at least idle, 1m0s, or zero for the default`)
	_, err = batcher.New((&recorder{}).call, &batcher.Options{AfterFunc: afterFunc, Idle: time.Minute})
	require.NoError(t, err, "the default of max follows idle")
}

// Whoever comes and goes, each caller gets its own answer or the end of its
// context, and each item that is answered was asked for once.
func TestLawEveryCallerIsAnswered(t *testing.T) {
	for seed := range int64(30) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewSource(seed))
			var asked atomic.Int64
			g, err := batcher.New(func(_ context.Context, key int, items []int) ([]batcher.Outcome[int], error) {
				asked.Add(int64(len(items)))
				if len(items) > 7 {
					return nil, errors.New("too many")
				}
				time.Sleep(time.Duration(len(items)) * 20 * time.Millisecond)
				outcomes := make([]batcher.Outcome[int], len(items))
				for i, item := range items {
					if item%10 != key {
						return nil, errors.New("an item of another key")
					}
					outcomes[i].Result = -item
				}
				return outcomes, nil
			}, &batcher.Options{AfterFunc: afterFunc, Idle: 10 * time.Millisecond, Max: 40 * time.Millisecond, MaxItems: 7, MaxRunning: 3})
			require.NoError(t, err)
			var wait sync.WaitGroup
			var answered atomic.Int64
			const callers = 300
			for i := range callers {
				start := time.Duration(random.Intn(400)) * time.Millisecond
				patience := time.Duration(random.Intn(400)) * time.Millisecond
				wait.Go(func() {
					time.Sleep(start)
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					switch result, err := g.Do(ctx, i%10, i); {
					case err == nil && result == -i:
						answered.Add(1)
					case errors.Is(err, context.DeadlineExceeded):
					default:
						t.Errorf("caller %d: %v, %v", i, result, err)
					}
				})
			}
			wait.Wait()
			require.NoError(t, g.Close(t.Context()))
			require.GreaterOrEqual(t, asked.Load(), answered.Load())
			require.LessOrEqual(t, asked.Load(), int64(callers))
			require.Positive(t, answered.Load())
		})
	}
}

// The same with real goroutines and no bubble, for the race detector.
func TestRace(t *testing.T) {
	g, err := batcher.New(batcher.Distinct(func(_ context.Context, _ int, ids []int) (map[int]int, error) {
		answers := map[int]int{}
		for _, id := range ids {
			answers[id] = -id
		}
		return answers, nil
	}, nil), &batcher.Options{AfterFunc: afterFunc, Idle: time.Microsecond, MaxItems: 4, MaxRunning: 2})
	require.NoError(t, err)
	var wait sync.WaitGroup
	for i := range 200 {
		wait.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			if i%5 == 0 {
				go cancel()
			}
			result, err := g.Do(ctx, i%3, i)
			cancel()
			if err == nil && result != -i || err != nil && i%5 != 0 {
				t.Errorf("caller %d: %v, %v", i, result, err)
			}
		})
	}
	wait.Wait()
	require.NoError(t, g.Close(t.Context()))
}

func TestDistinct(t *testing.T) {
	down := errors.New("down")
	for _, test := range []struct {
		name    string
		err     error
		missing func(string, int) error
		want    []string
	}{
		{"missing", nil, nil, []string{"one", "3: not in the answer", "one", "two"}},
		{"own error", nil, func(key string, id int) error { return fmt.Errorf("%s has no %d", key, id) },
			[]string{"one", "k has no 3", "one", "two"}},
		{"partial failure", down, nil, []string{"one", "down", "one", "two"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked []int
			backend := batcher.Distinct(func(_ context.Context, _ string, ids []int) (map[int]string, error) {
				asked = slices.Clone(ids)
				return map[int]string{1: "one", 2: "two"}, test.err
			}, test.missing)
			outcomes, err := backend(t.Context(), "k", []int{1, 3, 1, 2})
			require.NoError(t, err)
			require.Equal(t, []int{1, 3, 2}, asked)
			require.Equal(t, test.want, texts(outcomes))
		})
	}
}

func texts(outcomes []batcher.Outcome[string]) []string {
	var all []string
	for _, o := range outcomes {
		if o.Err != nil {
			all = append(all, o.Err.Error())
		} else {
			all = append(all, o.Result)
		}
	}
	return all
}
