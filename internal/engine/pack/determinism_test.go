package pack_test

import (
	"context"
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
