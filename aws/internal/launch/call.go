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

// Alone is up to how many launches at a time go by a call each. The client token of
// such a call is made of the token of its launch and of nothing else. So whoever
// repeats the launch, in whatever company and however late the first call is carried
// out, asks EC2 for the same instance.
//
// More launches go by calls for many, as EC2 takes fifty calls at once and five more
// each second. After a crash nobody knows which launches were in such a call. So it
// names launch templates of the turn of this process, and the process that launches
// next deletes these before it does: of a call that was not carried out by then,
// nothing comes. And as such a call has another client token than one for a single launch,
// a process that others have launched before begins with single calls, Alone at a time,
// until nothing more can come of the single calls of those before.
const Alone = 10

// ErrBusy is the outcome of a launch whose token another call is under way for, or
// has launched an instance for.
var ErrBusy = errors.New("a launch with this token is under way")

// Order is a request on its way. Create it with Book.Order.
type Order struct {
	Request *cloudprovider.LaunchRequest
	room    int // for tags of its instance
	number  int // of calls for its token that have ended without an instance
}

// Order enters a request, whose instance has room for so many more tags.
func (b *Book) Order(req *cloudprovider.LaunchRequest, room int) *Order {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := &Order{Request: req, room: room}
	if a := b.attempts[Mark(req.Token)]; a != nil {
		o.number = a.number
	}
	return o
}

// Call is one call of CreateFleet. From Begin until End the book has it for the token of
// each of its orders, so nothing else is launched for these.
type Call struct {
	// Orders are what it is for, in the order of their marks, as in the roster.
	Orders []*Order
	// Token is its client token, and Tags are those that its instances bear besides
	// others.
	Token string
	Tags  map[string]string
	// Turn is that of this process if the call is for many, and must name launch
	// templates of it; else empty.
	Turn string
	// Make makes the call, and End is called when its answer is known. It is set
	// before the first Release, and called by one at a time.
	Make func(ctx context.Context) error

	lock  chan struct{} // holds a value while nobody works on the call
	ended bool          // belongs to whoever works on the call
}

// Begin divides launches that can go by one call into calls, and enters these: one for
// each launch if there are up to Alone, or processes before this one may have calls under
// way; else one for as many as the tags of an instance
// can list. busy are those for whose token there is a call or an instance already.
// Whoever has a call works on it, until Release.
func (b *Book) Begin(orders []*Order) (calls []*Call, busy []*Order) {
	left := slices.SortedFunc(slices.Values(orders), func(a, b *Order) int {
		return cmp.Or(strings.Compare(Mark(a.Request.Token), Mark(b.Request.Token)), cmp.Compare(a.number, b.number))
	})
	many := len(orders) > Alone && !b.inherits()
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

// entries are the launches as a roster has them.
func entries(orders []*Order) []Entry {
	out := make([]Entry, len(orders))
	for i, o := range orders {
		out[i] = Entry{Token: o.Request.Token, Name: o.Request.Name}
	}
	return out
}

// name sets token and tags of a call by its launches.
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

// claim enters a call as the one for a token, and reports false if there is one
// already, or an instance.
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

// Release lets others work on the call: those who want to know what came of it.
func (c *Call) Release() { c.lock <- struct{}{} }

// again makes a call whose answer is not known once more, word for word: EC2 then
// says what it has launched, and launches nothing that it has launched already. It
// waits for whoever works on the call, and returns nil once the answer is known.
func (c *Call) again(ctx context.Context) error {
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

// Answer is what came of a call.
type Answer struct {
	// Used says that EC2 has used the token of the call, so that orders without an
	// instance need another one.
	Used bool
	// IDs are the instances in EC2, and Instances what Create returns of them, of the
	// first orders of the call.
	IDs       []string
	Instances []*cloudprovider.Instance
}

// End records what came of a call.
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

// Refuted ends a call of which EC2 says that its token was used for another one: a
// process before this one has launched something for these orders, or has tried to.
// What EC2 lists decides. It returns the instances that there are; and, as EC2 may list
// what was launched only after a while, how long nothing else is launched for the
// other orders.
func (b *Book) Refuted(ctx context.Context, c *Call) (found map[*Order]*Machine, wait map[*Order]time.Duration, err error) {
	b.stale()
	_, err = b.Hydrate(ctx)
	b.End(c, Answer{})
	if err != nil {
		return nil, nil, err
	}
	found, wait = map[*Order]*Machine{}, map[*Order]time.Duration{}
	for _, o := range c.Orders {
		if k, _ := b.of(o.Request.Token, ""); k != nil {
			found[o] = k
			continue
		}
		left := settle
		b.try(o.Request.Token, func(a *attempt) {
			now := b.now()
			if a.mismatch.IsZero() {
				a.mismatch = now
			}
			if left = settle - now.Sub(a.mismatch); left <= 0 {
				a.number, a.mismatch = o.number+1, time.Time{}
			}
		})
		wait[o] = max(left, 0)
	}
	return found, wait, nil
}

// try changes how far the launch of a token has come.
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
