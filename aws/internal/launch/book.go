package launch

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const (
	// listDelay is how long EC2 may take to list an instance that it has launched.
	listDelay = 30 * time.Second
	// unlistedGrace is how long a launched instance that EC2 does not list is assumed to exist.
	unlistedGrace = 2 * time.Minute
	// rosterAge is how old a batch that is smaller than its roster may be so that its order is
	// still reliable: up to this age EC2 also lists terminated instances.
	rosterAge = 30 * time.Minute
	// remember is how long terminated instances are remembered.
	remember = 24 * time.Hour
)

// Book makes sure that a launch happens once. It knows which instances exist and for which requests
// they were launched, which calls of CreateFleet have no answer yet, and what earlier processes may
// have asked for. Create it with NewBook. Any number of goroutines may use it.
//
// No token ever has two instances: [Book.Find] looks for the instance of a token before anything is
// launched for it, [Book.Begin] records a call before it is made, and [Book.End] its answer.
// Between the two nothing else is launched for the tokens of the call: the same call is repeated
// instead.
type Book struct {
	now       func() time.Time
	cluster   string
	instances *Instances
	endTurns  EndTurns
	flights   flights

	mu       sync.Mutex
	hydrated bool
	launches bool                // this process has begun to launch
	turn     string              // of this process among those that launch, once it is known
	overdue  time.Time           // until when EC2 may list more instances of earlier turns, or zero
	began    time.Time           // when this process began to launch
	preceded bool                // earlier processes have launched
	doubts   int                 // how often a reading was invalidated
	reading  chan struct{}       // not nil while instances are being read from EC2
	byMark   map[string]*Machine // by Mark of the token
	byName   map[string]*Machine // by NodeClaim, only instances without a roster
	byID     map[string]*Machine // by id of the instance
	attempts map[string]*attempt // by mark, of tokens that have no instance yet
	// unsure says, by mark, until when EC2 may list more instances of the batch of a request. Until
	// then it is not known which instance belongs to which request.
	unsure map[string]time.Time
}

// EndTurns ends the turns of earlier processes, so that their calls which EC2 has not carried out
// by then fail. It returns the turn of this process, whether turns were ended, and whether any
// earlier process has launched.
type EndTurns func(ctx context.Context, now time.Time) (turn string, ended, others bool, err error)

// attempt is the state of a token that has no instance yet.
type attempt struct {
	number   int       // of calls that were answered without an instance
	call     *Call     // one whose answer is not known
	mismatch time.Time // since when EC2 says that the client token was used for a different call
	touched  time.Time
}

// NewBook returns a book that reads the instances of a cluster on first use.
func NewBook(cluster string, now func() time.Time, instances *Instances, endTurns EndTurns) *Book {
	return &Book{
		now: now, cluster: cluster, instances: instances, endTurns: endTurns, byMark: map[string]*Machine{},
		byName: map[string]*Machine{}, byID: map[string]*Machine{}, attempts: map[string]*attempt{},
	}
}

// Hydrate reads the instances of the cluster from EC2, including those of other processes, unless
// they were read before. Concurrent calls share one reading. It reports whether it has read, or
// waited for a reading.
func (b *Book) Hydrate(ctx context.Context) (read bool, err error) {
	for {
		b.mu.Lock()
		if b.hydrated {
			b.mu.Unlock()
			return read, nil
		}
		wait := b.reading
		if wait == nil {
			b.reading = make(chan struct{})
			doubts := b.doubts
			b.mu.Unlock()
			err := b.read(ctx)
			b.mu.Lock()
			close(b.reading)
			// A reading that began before it was invalidated is not enough.
			b.reading, b.hydrated = nil, err == nil && doubts == b.doubts
			b.mu.Unlock()
			return true, err
		}
		b.mu.Unlock()
		select {
		case <-wait:
			read = true
		case <-ctx.Done():
			return read, context.Cause(ctx)
		}
	}
}

// stale makes the next Hydrate read again.
func (b *Book) stale() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hydrated = false
	b.doubts++
}

// read reads all instances of the cluster, including recently terminated ones, and notes the
// request of each. If this process is about to launch for the first time, read ends the turns of
// earlier processes first.
func (b *Book) read(ctx context.Context) error {
	if err := b.begin(ctx); err != nil {
		return err
	}
	var all []Record
	if err := b.instances.Each(ctx, Remembered, func(r Record) { all = append(all, r) }); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	var owners map[string]Entry
	owners, b.unsure = rosters(all, now)
	for i := range all {
		b.note(&all[i], owners[all[i].ID], now)
	}
	return nil
}

// note records a description of an instance. owner is its request by the roster of its batch; zero
// if it is not known. The mutex is held.
func (b *Book) note(r *Record, owner Entry, now time.Time) *Machine {
	k := b.byID[r.ID]
	if k == nil {
		k = &Machine{ID: r.ID, at: r.LaunchedAt}
		b.byID[r.ID] = k
	}
	if k.mark == "" && owner.Mark != "" {
		k.mark, k.Name = owner.Mark, owner.Name
		// Of two instances of a token the running one counts.
		if other := b.byMark[k.mark]; other == nil || other.Gone {
			b.byMark[k.mark] = k
		}
	}
	if name := r.NodeClaim(); name != "" {
		k.Name = name
		if _, ok := r.Roster(); !ok && b.byName[name] == nil {
			b.byName[name] = k
		}
	}
	k.Record, k.Seen = r, now
	if r.Gone {
		b.markGone(k, now)
	}
	return k
}

func (b *Book) markGone(k *Machine, now time.Time) {
	if !k.Gone {
		k.Gone, k.goneAt = true, now
	}
}

// lookup returns the instance of a token, or of a NodeClaim whose instance has no roster because
// Karpenter launched it; else the call for the token whose answer is not known. Both are looked up
// under one lock, because a call that is answered becomes an instance. If both are nil, nothing was
// launched.
func (b *Book) lookup(token, name string) (*Machine, *Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	mark := Mark(token)
	if k := b.byMark[mark]; k != nil {
		c := *k
		return &c, nil
	}
	if k := b.byName[name]; name != "" && k != nil && !k.Gone {
		c := *k
		return &c, nil
	}
	if a := b.attempts[mark]; a != nil {
		return nil, a.call
	}
	return nil, nil
}

// Get returns the machine with this id in EC2, and false if it is not known.
func (b *Book) Get(id string) (Machine, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.byID[id]; k != nil {
		return *k, true
	}
	return Machine{}, false
}

// InBlocks returns the instances that are in capacity blocks and not going down.
func (b *Book) InBlocks() []Machine {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Machine
	for _, k := range b.byID {
		if k.inBlock() && !k.Gone && k.Ended.IsZero() {
			out = append(out, *k)
		}
	}
	return out
}

// Saw records a description of an instance and returns its machine.
func (b *Book) Saw(r *Record) Machine {
	b.mu.Lock()
	defer b.mu.Unlock()
	return *b.note(r, Entry{}, b.now())
}

// Lost records that EC2 does not have an instance, and returns its machine. It reports false if the
// instance is so young that EC2 may not list it yet.
func (b *Book) Lost(id string) (Machine, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.byID[id]
	if k == nil {
		return Machine{}, true
	}
	now := b.now()
	// An instance that was terminated before EC2 listed it is listed within listDelay or never.
	young := now.Sub(k.at) < unlistedGrace && (k.Ended.IsZero() || now.Sub(k.Ended) < listDelay)
	if !k.Gone && k.Record == nil && young {
		return *k, false
	}
	first := *k
	b.markGone(k, now)
	return first, true
}

// Ended records that EC2 has accepted to terminate an instance.
func (b *Book) Ended(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.byID[id]; k != nil && k.Ended.IsZero() {
		k.Ended = b.now()
	}
}

// Listed records a complete list of instances, and returns the machine of each, by id. A known
// instance that is not in the list is gone, unless it is younger than unlistedGrace.
func (b *Book) Listed(all []Record) map[string]Machine {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	out := make(map[string]Machine, len(all))
	for i := range all {
		out[all[i].ID] = *b.note(&all[i], Entry{}, now)
	}
	for id, k := range b.byID {
		if _, found := out[id]; !found && !k.Gone && now.Sub(k.at) >= unlistedGrace {
			b.markGone(k, now)
		}
	}
	b.forget(now)
	return out
}

// forget drops machines and attempts that are older than remember.
func (b *Book) forget(now time.Time) {
	old := func(k *Machine) bool { return k.Gone && now.Sub(k.goneAt) > remember }
	maps.DeleteFunc(b.byID, func(_ string, k *Machine) bool { return old(k) })
	maps.DeleteFunc(b.byMark, func(_ string, k *Machine) bool { return old(k) })
	maps.DeleteFunc(b.byName, func(_ string, k *Machine) bool { return k.Gone })
	maps.DeleteFunc(b.attempts, func(_ string, a *attempt) bool { return now.Sub(a.touched) > remember })
}

// Once returns the instance of a request. If the token has one, known describes it; else launch
// launches one, and is called again while it returns ErrBusy. Concurrent calls with one token share
// one launch, which goes on as long as a caller waits for it.
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

// Find returns the instance of a token, or of the NodeClaim of a name if its instance has no
// roster. Nil without an error means that nothing was launched and that no earlier call will launch
// anything. If the answer of a call for the token is not known, the call is repeated. The error is
// KindUnknown, with the time to wait, while EC2 may not list all recent instances.
func (b *Book) Find(ctx context.Context, token, name string) (*Machine, error) {
	b.launch()
	for {
		// Hydrate first: before the reading has ended, lookups may miss instances.
		if _, err := b.Hydrate(ctx); err != nil {
			return nil, err
		}
		if wait, read := b.unsureFor(token); read {
			continue
		} else if wait > 0 {
			return nil, tooEarly(name, wait, "an earlier process recently launched instances for this and other requests, and EC2 may not list all of them yet")
		}
		wait, read := b.overdueFor()
		if read {
			continue
		}
		k, c := b.lookup(token, name)
		switch {
		case k != nil:
			return k, nil
		case c == nil && wait > 0:
			return nil, tooEarly(name, wait, "an earlier process recently launched many instances at a time, and EC2 may not list all of them yet")
		case c == nil:
			return nil, nil
		}
		if err := c.repeat(ctx); err != nil {
			return nil, err
		}
	}
}

// tooEarly returns the error while it is not known whether a token has an instance.
func tooEarly(name string, wait time.Duration, why string) error {
	return &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindUnknown, Object: name, RetryAfter: wait,
		Err: errors.New(why + "; repeat with the same token")}
}

// flights lets concurrent calls with one token share one launch.
type flights struct {
	mu  sync.Mutex
	all map[string]*flight
}

// flight is one launch and the callers that wait for it.
type flight struct {
	waiting  int
	cancel   context.CancelFunc
	done     chan struct{}
	instance *cloudprovider.Instance
	err      error
}

// do calls launch, or waits for a call with the same token that is under way. A caller whose ctx is
// done returns; the launch goes on for the others, and its ctx is cancelled when no caller is left.
func (f *flights) do(
	ctx context.Context, token string, launch func(context.Context) (*cloudprovider.Instance, error),
) (*cloudprovider.Instance, error) {
	f.mu.Lock()
	one := f.all[token]
	if one == nil {
		// The launch uses the values of the first caller's context, but not its cancellation.
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
		// A later caller must not get the error of a cancelled context.
		if f.all[token] == one {
			delete(f.all, token)
		}
	}
	return nil, context.Cause(ctx)
}
