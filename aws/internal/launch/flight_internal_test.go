package launch

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func TestFlightsShareOneLaunch(t *testing.T) {
	var f flights
	release, calls := make(chan struct{}), 0
	launch := func(context.Context) (*cloudprovider.Instance, error) {
		calls++
		<-release
		return &cloudprovider.Instance{ID: "i"}, nil
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			i, err := f.do(t.Context(), "a", launch)
			require.NoError(t, err)
			require.Equal(t, "i", i.ID)
		})
	}
	for joined := 0; joined < 10; {
		f.mu.Lock()
		if one := f.all["a"]; one != nil {
			joined = one.waiting
		}
		f.mu.Unlock()
	}
	close(release)
	wg.Wait()
	require.Equal(t, 1, calls)
	require.Empty(t, f.all)
}

func TestAFlightThatAllHaveLeftIsCancelledAndNotJoined(t *testing.T) {
	var f flights
	began, ended := make(chan struct{}), make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := f.do(ctx, "a", func(ctx context.Context) (*cloudprovider.Instance, error) {
			close(began)
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		})
		left <- err
	}()
	<-began
	cancel()
	require.ErrorIs(t, <-left, context.Canceled)
	i, err := f.do(t.Context(), "a", func(context.Context) (*cloudprovider.Instance, error) { return &cloudprovider.Instance{}, nil })
	require.NoError(t, err)
	require.NotNil(t, i)
	require.ErrorIs(t, <-ended, context.Canceled)
}
