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
	// settle is how long EC2 may take to list what it has launched.
	settle = 30 * time.Second
	// newborn is how long an instance that EC2 does not list yet is taken to be
	// there because it was launched.
	newborn = 2 * time.Minute
	// rosterAge is how old a batch that is smaller than its roster may be for the
	// order in that to be trusted: instances of it that are gone are still listed.
	rosterAge = 30 * time.Minute
	// remember is how long what is gone is remembered.
	remember = 24 * time.Hour
)

// Book holds everything that makes a launch happen once: which instances there are and
// for which requests they were launched, which calls of CreateFleet have no answer yet,
// and what processes before this one may have asked for. Create it with NewBook. Any
// number of goroutines may use it.
//
// No token ever has two instances: [Book.Find] says what there is for a token before
// anything is launched for it, [Book.Begin] enters a call before it is made, and
// [Book.End] what came of it after its answer. Between the two nothing else is launched
// for the tokens of the call; it is made once more instead, word for word.
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
	overdue  time.Time           // until when EC2 may list more of the turns before, or zero
	began    time.Time           // when it did
	heir     bool                // processes before this one have launched
	doubts   int                 // how often what was read has come into doubt
	reading  chan struct{}       // not nil while EC2 is asked for what there is
	byMark   map[string]*Machine // by Mark of the token
	byName   map[string]*Machine // by NodeClaim, of those without a roster
	byID     map[string]*Machine // by id of the instance
	attempts map[string]*attempt // by mark, of those that have no instance yet
	// unsure says, by mark, until when EC2 may list more of the batch of a request,
	// so that it is not known yet which instance is whose.
	unsure map[string]time.Time
}

// EndTurns ends the turns of processes before this one, so that nothing comes of a call
// of theirs that EC2 has not carried out by then. It returns the turn of this process,
// whether turns were ended, and whether there has been any process that launched.
type EndTurns func(ctx context.Context, now time.Time) (turn string, ended, others bool, err error)

// attempt is how far the launch of a token has come without an instance.
type attempt struct {
	number   int       // of calls that gave an answer without an instance
	call     *Call     // one whose answer is not known
	mismatch time.Time // since when EC2 says that the token was used otherwise
	touched  time.Time
}

// NewBook returns a book that reads the instances of a cluster when somebody first asks.
func NewBook(cluster string, now func() time.Time, instances *Instances, endTurns EndTurns) *Book {
	return &Book{
		now: now, cluster: cluster, instances: instances, endTurns: endTurns, byMark: map[string]*Machine{},
		byName: map[string]*Machine{}, byID: map[string]*Machine{}, attempts: map[string]*attempt{},
	}
}

// Hydrate reads what there is in EC2, unless that was read before: instances that
// were launched by other processes. Calls at once wait for one reading. It reports
// whether it has read, or waited for a reading.
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
			// A reading that began before the doubt does not settle it.
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

// stale has hydrate read once more.
func (b *Book) stale() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hydrated = false
	b.doubts++
}

// read reads all instances of the cluster, those terminated of late included, and
// notes whose they are. The first time that this process is to launch, it ends the
// turns of earlier ones before.
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

// note records what EC2 says of an instance. owner is the request that it was
// launched for, by the roster of its batch; zero if it is not known. The mutex is
// held.
func (b *Book) note(r *Record, owner Entry, now time.Time) *Machine {
	k := b.byID[r.ID]
	if k == nil {
		k = &Machine{ID: r.ID, at: r.LaunchedAt}
		b.byID[r.ID] = k
	}
	if k.mark == "" && owner.Mark != "" {
		k.mark, k.Name = owner.Mark, owner.Name
		// Of two of one token the one that runs is it.
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
		b.bury(k, now)
	}
	return k
}

func (b *Book) bury(k *Machine, now time.Time) {
	if !k.Gone {
		k.Gone, k.goneAt = true, now
	}
}

// of returns the instance of a token, or of a NodeClaim whose instance bears no
// tokens, as one that Karpenter has launched; or else the call for the token whose
// answer is not known. Both are looked up at one instant: a call that is answered
// turns into an instance. With neither nothing was launched.
func (b *Book) of(token, name string) (*Machine, *Call) {
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

// Get returns what is known of an instance.
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

// Saw records what EC2 says of an instance, by its id.
func (b *Book) Saw(r *Record) Machine {
	b.mu.Lock()
	defer b.mu.Unlock()
	return *b.note(r, Entry{}, b.now())
}

// Lost records that EC2 no longer has an instance, and returns what was known of
// it. It reports false if the instance is so young that EC2 may not list it yet.
func (b *Book) Lost(id string) (Machine, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.byID[id]
	if k == nil {
		return Machine{}, true
	}
	now := b.now()
	// One that was terminated before EC2 listed it is listed soon, or never.
	young := now.Sub(k.at) < newborn && (k.Ended.IsZero() || now.Sub(k.Ended) < settle)
	if !k.Gone && k.Record == nil && young {
		return *k, false
	}
	first := *k
	b.bury(k, now)
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

// Listed records a complete list of instances, and returns what is known of each,
// by id. What was expected and is not in it is gone, unless it is new.
func (b *Book) Listed(all []Record) map[string]Machine {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	out := make(map[string]Machine, len(all))
	for i := range all {
		out[all[i].ID] = *b.note(&all[i], Entry{}, now)
	}
	for id, k := range b.byID {
		if _, found := out[id]; !found && !k.Gone && now.Sub(k.at) >= newborn {
			b.bury(k, now)
		}
	}
	b.forget(now)
	return out
}

// forget drops what was gone long ago.
func (b *Book) forget(now time.Time) {
	old := func(k *Machine) bool { return k.Gone && now.Sub(k.goneAt) > remember }
	maps.DeleteFunc(b.byID, func(_ string, k *Machine) bool { return old(k) })
	maps.DeleteFunc(b.byMark, func(_ string, k *Machine) bool { return old(k) })
	maps.DeleteFunc(b.byName, func(_ string, k *Machine) bool { return k.Gone })
	maps.DeleteFunc(b.attempts, func(_ string, a *attempt) bool { return now.Sub(a.touched) > remember })
}

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
