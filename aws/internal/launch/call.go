package launch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Alone is the largest number of concurrent launches that have a call each. The client token of
// such a call depends only on the token of its launch. So repeating the launch asks EC2 for the same
// instance, whichever launches are repeated with it and however late EC2 carries out the first call.
//
// More launches share calls, because EC2 accepts fifty calls at once and five more each second.
// After a crash it is not known which launches were in a shared call. So a shared call names launch
// templates that belong to this process alone (Call.Turn). The next process deletes them before it
// launches. Then EC2 refuses each shared call that it has not carried out yet.
//
// A shared call has a different client token from a single one, so it does not repeat single calls
// of an earlier process. While EC2 may still carry those out, a new process makes single calls only,
// Alone at a time.
const Alone = 10

// ErrBusy is the outcome of a launch whose token has another call under way, or already has an
// instance.
var ErrBusy = errors.New("a launch with this token is under way")

// Order is a request that waits for a call. Create it with Book.Order.
type Order struct {
	Request *cloudprovider.LaunchRequest
	room    int // how many more tags its instance can have
	number  int // how many calls for its token were answered without an instance
}

// Order returns the order of a request whose instance can have room more tags.
func (b *Book) Order(req *cloudprovider.LaunchRequest, room int) *Order {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := &Order{Request: req, room: room}
	if a := b.attempts[Mark(req.Token)]; a != nil {
		o.number = a.number
	}
	return o
}

// Call is one call of CreateFleet. From Begin until End no other call is made for the tokens of its
// orders.
type Call struct {
	// Orders are sorted by mark, as in the roster.
	Orders []*Order
	// Token is its client token, and Tags hold the roster on its instances.
	Token string
	Tags  map[string]string
	// Turn identifies this process if the call is for several launches; else it is empty. The call
	// must use launch templates of this Turn.
	Turn string
	// Make makes the call, and calls End when its answer is known. It is set before the first
	// Release, and is not called concurrently.
	Make func(ctx context.Context) error

	lock  chan struct{} // holds a value while no goroutine works on the call
	ended bool          // used only by the goroutine that works on the call
}

// Begin divides launches that can share a call into calls, and records them: one for each launch if
// there are at most Alone, or if EC2 may still carry out calls of earlier processes; else as many
// launches in a call as the tags of an instance can list. busy are the orders whose token has a
// call or an instance already. The caller works on each returned call, until Release.
func (b *Book) Begin(orders []*Order) (calls []*Call, busy []*Order) {
	left := slices.SortedFunc(slices.Values(orders), func(a, b *Order) int {
		return cmp.Or(strings.Compare(Mark(a.Request.Token), Mark(b.Request.Token)), cmp.Compare(a.number, b.number))
	})
	many := len(orders) > Alone && !b.earlierCallsPossible()
	for len(left) > 0 {
		first, n := left[0], 1
		if many {
			_, n = MakeRoster("", first.Request.NodePool, entries(left), first.room)
			n = max(n, 1)
		}
		c := &Call{lock: make(chan struct{}, 1)}
		for _, o := range left[:n] {
			if b.claim(o.Request.Token, c) {
				c.Orders = append(c.Orders, o)
			} else {
				busy = append(busy, o)
			}
		}
		left = left[n:]
		if len(c.Orders) > 0 {
			b.name(c)
			calls = append(calls, c)
		}
	}
	return calls, busy
}

// entries returns the launches as entries of a roster.
func entries(orders []*Order) []Entry {
	out := make([]Entry, len(orders))
	for i, o := range orders {
		out[i] = Entry{Token: o.Request.Token, Name: o.Request.Name}
	}
	return out
}

// name sets the client token and the tags of a call from its launches.
func (b *Book) name(c *Call) {
	parts := []string{b.cluster}
	for _, o := range c.Orders {
		parts = append(parts, o.Request.Token, strconv.Itoa(o.number))
	}
	first := c.Orders[0]
	c.Token = api.ClientToken(parts...)
	c.Tags, _ = MakeRoster(c.Token, first.Request.NodePool, entries(c.Orders), first.room)
	if len(c.Orders) > 1 {
		c.Turn = b.turnOf()
	} else if name := first.Request.Name; name != "" {
		c.Tags[awsv1.NodeClaimTagKey] = name
	}
}

// claim records the call of a token, and reports false if the token has a call or an instance
// already.
func (b *Book) claim(token string, c *Call) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	mark := Mark(token)
	a := b.attempts[mark]
	if b.byMark[mark] != nil || a != nil && a.call != nil {
		return false
	}
	if a == nil {
		a = &attempt{}
		b.attempts[mark] = a
	}
	a.call, a.touched = c, b.now()
	return true
}

// Release ends the caller's work on the call, so that another goroutine can repeat it.
func (c *Call) Release() { c.lock <- struct{}{} }

// repeat makes the same call again while its answer is unknown. If EC2 has carried out the call
// before, it answers with those instances, and otherwise it launches them. repeat waits for the
// goroutine that works on the call, and returns nil once the answer is known.
func (c *Call) repeat(ctx context.Context) error {
	select {
	case <-c.lock:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer c.Release()
	if c.ended {
		return nil
	}
	err := c.Make(ctx)
	if c.ended {
		return nil
	}
	return err
}

// Answer is the outcome of a call.
type Answer struct {
	// Used says that EC2 has used the client token of the call, so that orders without an instance
	// need a new one.
	Used bool
	// IDs are the instances' ids in EC2, and Instances what Create returns for them. They belong to
	// the first orders of the call.
	IDs       []string
	Instances []*cloudprovider.Instance
}

// End records the outcome of a call.
func (b *Book) End(c *Call, a Answer) {
	for i, instance := range a.Instances {
		b.launched(c.Orders[i].Request.Token, instance, a.IDs[i])
	}
	c.ended = true
	for _, o := range c.Orders {
		b.try(o.Request.Token, func(t *attempt) {
			if t.call == c {
				t.call = nil
				if a.Used {
					t.number, t.mismatch = o.number+1, time.Time{}
				}
			}
		})
	}
}

// Refuted ends a call whose client token EC2 has seen in a different call: an earlier process has
// launched something for these orders, or has tried to. Refuted reads the instances again, and
// returns those of the orders. For each other order it returns how long to wait before anything is
// launched for it, because EC2 may list instances late.
func (b *Book) Refuted(ctx context.Context, c *Call) (found map[*Order]*Machine, wait map[*Order]time.Duration, err error) {
	b.stale()
	_, err = b.Hydrate(ctx)
	b.End(c, Answer{})
	if err != nil {
		return nil, nil, err
	}
	found, wait = map[*Order]*Machine{}, map[*Order]time.Duration{}
	for _, o := range c.Orders {
		if k, _ := b.lookup(o.Request.Token, ""); k != nil {
			found[o] = k
			continue
		}
		left := listDelay
		b.try(o.Request.Token, func(a *attempt) {
			now := b.now()
			if a.mismatch.IsZero() {
				a.mismatch = now
			}
			if left = listDelay - now.Sub(a.mismatch); left <= 0 {
				a.number, a.mismatch = o.number+1, time.Time{}
			}
		})
		wait[o] = max(left, 0)
	}
	return found, wait, nil
}

// try calls change with the attempt of a token.
func (b *Book) try(token string, change func(*attempt)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	mark := Mark(token)
	a := b.attempts[mark]
	if a == nil {
		a = &attempt{}
		b.attempts[mark] = a
	}
	a.touched = b.now()
	change(a)
}

// launched records the instance of a token.
func (b *Book) launched(token string, i *cloudprovider.Instance, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	mark := Mark(token)
	k := b.byID[id]
	if k == nil {
		k = &Machine{ID: id, at: b.now()}
		b.byID[id] = k
	}
	k.mark, k.Name, k.Launched = mark, i.Name, i
	b.byMark[mark] = k
	delete(b.attempts, mark)
}
