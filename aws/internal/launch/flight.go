package launch

import (
	"context"
	"sync"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// flights lets calls with one token wait for one launch.
type flights struct {
	mu  sync.Mutex
	all map[string]*flight
}

// flight is one launch and those who wait for it.
type flight struct {
	waiting  int
	cancel   context.CancelFunc
	done     chan struct{}
	instance *cloudprovider.Instance
	err      error
}

// do calls launch, or waits for a call with the same token that is under way. A
// caller whose ctx is done leaves; the launch goes on for the others, and its ctx is
// cancelled when nobody is left.
func (f *flights) do(
	ctx context.Context, token string, launch func(context.Context) (*cloudprovider.Instance, error),
) (*cloudprovider.Instance, error) {
	f.mu.Lock()
	one := f.all[token]
	if one == nil {
		// The values of the first caller serve all; its end does not.
		inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
		one = &flight{cancel: cancel, done: make(chan struct{})}
		if f.all == nil {
			f.all = map[string]*flight{}
		}
		f.all[token] = one
		go func() {
			defer cancel()
			one.instance, one.err = launch(inner)
			f.mu.Lock()
			if f.all[token] == one {
				delete(f.all, token)
			}
			f.mu.Unlock()
			close(one.done)
		}()
	}
	one.waiting++
	f.mu.Unlock()
	select {
	case <-one.done:
		return one.instance, one.err
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if one.waiting--; one.waiting == 0 {
		one.cancel()
		// Whoever comes now must not get the end of somebody else's context.
		if f.all[token] == one {
			delete(f.all, token)
		}
	}
	return nil, context.Cause(ctx)
}
