package pack_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

func sameAgain(t *testing.T, p *pack.Problem) {
	t.Helper()
	before := fmt.Sprintf("%+v", p)
	k := pack.New(p)
	want, err := k.Solve(context.Background(), math.MaxInt)
	require.NoError(t, err)

	again, err := pack.New(p).Solve(context.Background(), math.MaxInt)
	require.NoError(t, err)
	require.Equal(t, want, again, "a second packer")

	got := make([]*pack.Result, 4)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i], _ = k.Solve(context.Background(), math.MaxInt) })
	}
	wg.Wait()
	for _, r := range got {
		require.Equal(t, want, r, "one packer in several goroutines")
	}
	require.Equal(t, before, fmt.Sprintf("%+v", p), "a problem is only read")
}

func TestSameAgain(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	for i, f := range everySet() {
		for seed := range uint64(testlong.Seeds(1, 4)) {
			sameAgain(t, tiny(seed, f))
		}
		if testlong.On() || i%4 == 1 {
			sameAgain(t, random(1, f, 30, 100, 4))
		}
	}
	sameAgain(t, generic(1, 500, 40, 150))
	sameAgain(t, diverse(1, 700, 60))
	p, _ := perfect(1, 20)
	sameAgain(t, p)
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, p := range map[string]*pack.Problem{"empty": {}, "generic": generic(1, 300, 30, 100), "tiny": tiny(1, features{nodes: true})} {
		r, err := pack.New(p).Solve(ctx, math.MaxInt)
		require.ErrorIs(t, err, context.Canceled, name)
		require.Nil(t, r, name)
	}
}

// fading is a context that is done once it has been asked so many times.
type fading struct {
	context.Context
	asks int
}

var errFaded = errors.New("faded")

func (f *fading) Err() error {
	if f.asks--; f.asks < 0 {
		return errFaded
	}
	return nil
}

func TestCancelledOnTheWay(t *testing.T) {
	p := random(3, features{pools: true, tiers: true, nodes: true, limits: true}, 30, 200, 4)
	k := pack.New(p)
	want, err := k.Solve(context.Background(), math.MaxInt)
	require.NoError(t, err)
	stopped := 0
	for asks := range 400 {
		r, err := k.Solve(&fading{context.Background(), asks}, math.MaxInt)
		if err == nil {
			require.Equal(t, want, r, "a run is whole or an error")
			continue
		}
		stopped++
		require.ErrorIs(t, err, errFaded)
	}
	require.Greater(t, stopped, 5)
}
