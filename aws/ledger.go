package aws

import (
	"context"
	"maps"
	"sync"
	"time"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instances"
	"github.com/dovetail-sdk/dovetail/aws/internal/roster"
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

// ledger is what this process knows of instances and of the requests they were
// launched for.
type ledger struct {
	now func() time.Time

	mu       sync.Mutex
	hydrated bool
	launches bool                // this process has begun to launch
	doubts   int                 // how often what was read has come into doubt
	reading  chan struct{}       // not nil while EC2 is asked for what there is
	byMark   map[string]*known   // by roster.Mark of the token
	byName   map[string]*known   // by NodeClaim, of those without a roster
	byID     map[string]*known   // by id of the instance
	attempts map[string]*attempt // by mark, of those that have no instance yet
	// unsure says, by mark, until when EC2 may list more of the batch of a request,
	// so that it is not known yet which instance is whose.
	unsure map[string]time.Time
}

// known is one instance.
type known struct {
	id       string
	mark     string                  // empty if the request is not known
	name     string                  // of the NodeClaim
	record   *instances.Record       // as EC2 described it last
	seen     time.Time               // when that was
	launched *cloudprovider.Instance // as Create returned it, if this process did
	at       time.Time               // when it was launched
	ended    time.Time               // when EC2 accepted to terminate it
	gone     bool
	goneAt   time.Time
}

// attempt is how far the launch of a token has come without an instance.
type attempt struct {
	number   int       // of calls that gave an answer without an instance
	call     *call     // one whose answer is not known
	mismatch time.Time // since when EC2 says that the token was used otherwise
	touched  time.Time
}

func newLedger(now func() time.Time) *ledger {
	return &ledger{
		now: now, byMark: map[string]*known{}, byName: map[string]*known{},
		byID: map[string]*known{}, attempts: map[string]*attempt{},
	}
}

// hydrate reads what there is in EC2, unless that was read before: instances that
// were launched by other processes. Calls at once wait for one reading. It reports
// whether it has read, or waited for a reading.
func (l *ledger) hydrate(ctx context.Context, client *instances.Client) (read bool, err error) {
	for {
		l.mu.Lock()
		if l.hydrated {
			l.mu.Unlock()
			return read, nil
		}
		wait := l.reading
		if wait == nil {
			l.reading = make(chan struct{})
			doubts := l.doubts
			l.mu.Unlock()
			err := l.read(ctx, client)
			l.mu.Lock()
			close(l.reading)
			// A reading that began before the doubt does not settle it.
			l.reading, l.hydrated = nil, err == nil && doubts == l.doubts
			l.mu.Unlock()
			return true, err
		}
		l.mu.Unlock()
		select {
		case <-wait:
			read = true
		case <-ctx.Done():
			return read, context.Cause(ctx)
		}
	}
}

// stale has hydrate read once more.
func (l *ledger) stale() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hydrated = false
	l.doubts++
}

// launch notes that this process launches from now on. The first time hydrate
// reads once more: while it only listed, as one that waits for its turn does,
// another process may have launched.
func (l *ledger) launch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.launches {
		l.launches, l.hydrated = true, false
		l.doubts++
	}
}

// read reads all instances of the cluster, those terminated of late included, and
// notes whose they are.
func (l *ledger) read(ctx context.Context, client *instances.Client) error {
	var all []instances.Record
	if err := client.Each(ctx, instances.Remembered, func(r instances.Record) { all = append(all, r) }); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	var owners map[string]roster.Entry
	owners, l.unsure = rosters(all, now)
	for i := range all {
		l.note(&all[i], owners[all[i].ID], now)
	}
	return nil
}

// note records what EC2 says of an instance. owner is the request that it was
// launched for, by the roster of its batch; zero if it is not known. The mutex is
// held.
func (l *ledger) note(r *instances.Record, owner roster.Entry, now time.Time) *known {
	k := l.byID[r.ID]
	if k == nil {
		k = &known{id: r.ID, at: r.LaunchedAt}
		l.byID[r.ID] = k
	}
	if k.mark == "" && owner.Mark != "" {
		k.mark, k.name = owner.Mark, owner.Name
		// Of two of one token the one that runs is it.
		if other := l.byMark[k.mark]; other == nil || other.gone {
			l.byMark[k.mark] = k
		}
	}
	if name := r.NodeClaim(); name != "" {
		k.name = name
		if _, ok := r.Roster(); !ok && l.byName[name] == nil {
			l.byName[name] = k
		}
	}
	k.record, k.seen = r, now
	if r.Gone {
		l.bury(k, now)
	}
	return k
}

func (l *ledger) bury(k *known, now time.Time) {
	if !k.gone {
		k.gone, k.goneAt = true, now
	}
}

// of returns the instance of a token, or of a NodeClaim whose instance bears no
// tokens, as one that Karpenter has launched; or else the call for the token whose
// answer is not known. Both are looked up at one instant: a call that is answered
// turns into an instance. With neither nothing was launched.
func (l *ledger) of(token, name string) (*known, *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	mark := roster.Mark(token)
	if k := l.byMark[mark]; k != nil {
		c := *k
		return &c, nil
	}
	if k := l.byName[name]; name != "" && k != nil && !k.gone {
		c := *k
		return &c, nil
	}
	if a := l.attempts[mark]; a != nil {
		return nil, a.call
	}
	return nil, nil
}

// get returns what is known of an instance.
func (l *ledger) get(id string) (known, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.byID[id]; k != nil {
		return *k, true
	}
	return known{}, false
}

// launched records the instance of a token.
func (l *ledger) launched(token string, i *cloudprovider.Instance, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	mark := roster.Mark(token)
	k := l.byID[id]
	if k == nil {
		k = &known{id: id, at: l.now()}
		l.byID[id] = k
	}
	k.mark, k.name, k.launched = mark, i.Name, i
	l.byMark[mark] = k
	delete(l.attempts, mark)
}

// inBlocks returns the instances that are in capacity blocks and not going down.
func (l *ledger) inBlocks() []known {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []known
	for _, k := range l.byID {
		if k.inBlock() && !k.gone && k.ended.IsZero() {
			out = append(out, *k)
		}
	}
	return out
}

// inBlock reports whether an instance is in a capacity block.
func (k *known) inBlock() bool {
	switch {
	case k.record != nil:
		return k.record.Block && k.record.ReservationID != "" && !k.record.Terminating
	case k.launched != nil:
		return k.launched.ReservationID != "" &&
			k.launched.Labels[awsv1.LabelCapacityReservationType] == string(awsv1.CapacityReservationTypeCapacityBlock)
	}
	return false
}

// providerID is the ID of an instance in Kubernetes.
func (k *known) providerID() string {
	if k.record != nil {
		return k.record.ProviderID()
	}
	return k.launched.ID
}

// number returns how many calls for a token have ended without an instance.
func (l *ledger) number(token string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.attempts[roster.Mark(token)]; a != nil {
		return a.number
	}
	return 0
}

// claim enters a call as the one for a token, and reports false if there is one
// already, or an instance.
func (l *ledger) claim(token string, c *call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	mark := roster.Mark(token)
	a := l.attempts[mark]
	if l.byMark[mark] != nil || a != nil && a.call != nil {
		return false
	}
	if a == nil {
		a = &attempt{}
		l.attempts[mark] = a
	}
	a.call, a.touched = c, l.now()
	return true
}

// try changes how far the launch of a token has come.
func (l *ledger) try(token string, change func(*attempt)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	mark := roster.Mark(token)
	a := l.attempts[mark]
	if a == nil {
		a = &attempt{}
		l.attempts[mark] = a
	}
	a.touched = l.now()
	change(a)
}

// saw records what EC2 says of an instance, by its id.
func (l *ledger) saw(r *instances.Record) known {
	l.mu.Lock()
	defer l.mu.Unlock()
	return *l.note(r, roster.Entry{}, l.now())
}

// lost records that EC2 no longer has an instance, and returns what was known of
// it. It reports false if the instance is so young that EC2 may not list it yet.
func (l *ledger) lost(id string) (known, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.byID[id]
	if k == nil {
		return known{}, true
	}
	now := l.now()
	// One that was terminated before EC2 listed it is listed soon, or never.
	young := now.Sub(k.at) < newborn && (k.ended.IsZero() || now.Sub(k.ended) < settle)
	if !k.gone && k.record == nil && young {
		return *k, false
	}
	first := *k
	l.bury(k, now)
	return first, true
}

// end records that EC2 has accepted to terminate an instance.
func (l *ledger) end(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.byID[id]; k != nil && k.ended.IsZero() {
		k.ended = l.now()
	}
}

// listed records a complete list of instances, and returns what is known of each,
// by id. What was expected and is not in it is gone, unless it is new.
func (l *ledger) listed(all []instances.Record) map[string]known {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	out := make(map[string]known, len(all))
	for i := range all {
		out[all[i].ID] = *l.note(&all[i], roster.Entry{}, now)
	}
	for id, k := range l.byID {
		if _, found := out[id]; !found && !k.gone && now.Sub(k.at) >= newborn {
			l.bury(k, now)
		}
	}
	l.forget(now)
	return out
}

// forget drops what was gone long ago.
func (l *ledger) forget(now time.Time) {
	old := func(k *known) bool { return k.gone && now.Sub(k.goneAt) > remember }
	maps.DeleteFunc(l.byID, func(_ string, k *known) bool { return old(k) })
	maps.DeleteFunc(l.byMark, func(_ string, k *known) bool { return old(k) })
	maps.DeleteFunc(l.byName, func(_ string, k *known) bool { return k.gone })
	maps.DeleteFunc(l.attempts, func(_ string, a *attempt) bool { return now.Sub(a.touched) > remember })
}
