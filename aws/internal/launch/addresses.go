package launch

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// AddressLag is how much older than a reading a claim must be for the reading to have
// it: EC2 counts an address some time after the launch.
const AddressLag = 5 * time.Second

// maxAge is how long a claim counts at the most, however old the readings are.
const maxAge = 15 * time.Minute

// Subnet is a subnet and how many addresses of it were free at an instant.
type Subnet struct {
	// ID and Zone are its id, and the name of its zone.
	ID, Zone string
	// Free is how many addresses are free, as of At.
	Free int64
	// At is the instant of the reading.
	At time.Time
}

// Addresses know what was launched into which subnet. Their zero value is ready.
type Addresses struct {
	mu     sync.Mutex
	claims map[string][]*share  // by subnet
	full   map[string]time.Time // by subnet: since when EC2 says so
}

// share is the part of a claim that one subnet has.
type share struct {
	at     time.Time
	amount int64
}

// Claim is what one launch has taken off the subnets that were chosen for it.
type Claim struct {
	ledger *Addresses
	parts  map[string]*share // by subnet
}

// Choose returns the subnet to use in each zone, by zone, and takes off each what
// need says, by zone; nothing for a zone that is missing. In a zone where every
// subnet is full none is chosen; where none has room, but EC2 has not refused
// any, the one with most is, as readings may be behind.
func (l *Addresses) Choose(now time.Time, candidates []Subnet, need map[string]int64) (map[string]Subnet, *Claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire(now)
	chosen := map[string]Subnet{}
	free := map[string]int64{}
	for _, s := range candidates {
		if l.isFull(s) {
			continue
		}
		left := l.free(s)
		best, found := chosen[s.Zone]
		if !found || left > free[s.Zone] || left == free[s.Zone] && s.ID < best.ID {
			chosen[s.Zone], free[s.Zone] = s, left
		}
	}
	claim := &Claim{ledger: l, parts: map[string]*share{}}
	for zone, s := range chosen {
		if amount := need[zone]; amount > 0 {
			if l.claims == nil {
				l.claims = map[string][]*share{}
			}
			part := &share{at: now, amount: amount}
			l.claims[s.ID] = append(l.claims[s.ID], part)
			claim.parts[s.ID] = part
		}
	}
	return chosen, claim
}

// Settle says how many addresses the launch of the claim took, by id of subnet;
// of the others none. What it took counts until a newer reading has it. A nil
// claim has nothing to settle.
func (c *Claim) Settle(used map[string]int64) {
	if c == nil {
		return
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	for id, part := range c.parts {
		part.amount = max(0, used[id])
	}
}

// Full notes that EC2 refused a launch at an instant, as the subnet has no free
// addresses.
func (l *Addresses) Full(at time.Time, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full == nil {
		l.full = map[string]time.Time{}
	}
	if at.After(l.full[id]) {
		l.full[id] = at
	}
}

// AllFull reports whether every candidate in a zone is full, and there is one.
func (l *Addresses) AllFull(zone string, candidates []Subnet) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := false
	for _, s := range candidates {
		if s.Zone != zone {
			continue
		}
		if !l.isFull(s) {
			return false
		}
		found = true
	}
	return found
}

// Spare reports whether a zone has a candidate other than the one with this id that
// is not full.
func (l *Addresses) Spare(zone, id string, candidates []Subnet) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(candidates, func(s Subnet) bool { return s.Zone == zone && s.ID != id && !l.isFull(s) })
}

func (l *Addresses) isFull(s Subnet) bool {
	since, full := l.full[s.ID]
	return full && (!s.At.After(since) || s.Free <= 0)
}

func (l *Addresses) free(s Subnet) int64 {
	left := s.Free
	for _, part := range l.claims[s.ID] {
		if part.at.Add(AddressLag).After(s.At) {
			left -= part.amount
		}
	}
	return left
}

// expire forgets what no reading can be older than.
func (l *Addresses) expire(now time.Time) {
	for _, id := range slices.Collect(maps.Keys(l.claims)) {
		l.claims[id] = slices.DeleteFunc(l.claims[id], func(s *share) bool {
			return s.amount == 0 || now.Sub(s.at) > maxAge
		})
		if len(l.claims[id]) == 0 {
			delete(l.claims, id)
		}
	}
	maps.DeleteFunc(l.full, func(_ string, since time.Time) bool { return now.Sub(since) > maxAge })
}
