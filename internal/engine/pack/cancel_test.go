package pack_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

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
