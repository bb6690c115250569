package launch

import (
	"context"
	"errors"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Once returns the instance of a request: what known says of the one that there is, and
// else what launch launches, which is called again for as long as that is ErrBusy. Calls
// with one token wait for one launch; it goes on until nobody waits any more.
func (b *Book) Once(
	ctx context.Context, req *cloudprovider.LaunchRequest,
	known func(context.Context, *cloudprovider.LaunchRequest, *Machine) (*cloudprovider.Instance, error),
	launch func(context.Context, *cloudprovider.LaunchRequest) (*cloudprovider.Instance, error),
) (*cloudprovider.Instance, error) {
	return b.flights.do(ctx, req.Token, func(ctx context.Context) (*cloudprovider.Instance, error) {
		for {
			k, err := b.Find(ctx, req.Token, req.Name)
			if err != nil {
				return nil, err
			}
			if k != nil {
				return known(ctx, req, k)
			}
			i, err := launch(ctx, req)
			if !errors.Is(err, ErrBusy) {
				return i, err
			}
		}
	})
}

// Find returns the instance that there is for a token, or for the NodeClaim of a name if
// its instance bears no tokens. Nil without an error says that nothing was launched, and
// that nothing will be by what was asked before. If the answer of a call for the token is
// not known, it is made again. The error is of KindUnknown, with the time to wait, while
// EC2 may not list all that was launched a moment ago.
func (b *Book) Find(ctx context.Context, token, name string) (*Machine, error) {
	b.launch()
	for {
		// First: what is looked up before the reading has ended may be missing.
		if _, err := b.Hydrate(ctx); err != nil {
			return nil, err
		}
		if wait, read := b.unsureFor(token); read {
			continue
		} else if wait > 0 {
			return nil, tooEarly(name, wait, "a process before this one launched instances for this and other requests a moment ago, and EC2 may not list all of them yet")
		}
		wait, read := b.overdueFor()
		if read {
			continue
		}
		k, c := b.of(token, name)
		switch {
		case k != nil:
			return k, nil
		case c == nil && wait > 0:
			return nil, tooEarly(name, wait, "a process before this one launched many instances at a time, and EC2 may not list the last of them yet")
		case c == nil:
			return nil, nil
		}
		if err := c.again(ctx); err != nil {
			return nil, err
		}
	}
}

// tooEarly is the error while it is not known whether a token has an instance.
func tooEarly(name string, wait time.Duration, why string) error {
	return &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindUnknown, Object: name, RetryAfter: wait,
		Err: errors.New(why + "; repeat with the same token")}
}
