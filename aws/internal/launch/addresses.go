package launch

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// AddressLag is the delay with which EC2 counts the addresses of a launch: a reading includes only
// claims that are at least this much older.
const AddressLag = 5 * time.Second

// maxAge is the longest time for which a claim counts, however old the readings are.
const maxAge = 15 * time.Minute

// Subnet is a subnet and its number of free addresses at an instant.
type Subnet struct {
	// ID is the id of the subnet, Zone the name of its zone.
	ID, Zone string
	// Free is how many addresses are free, as of At.
	Free int64
	// At is the instant of the reading.
	At time.Time
}

// Addresses keeps count of the addresses of subnets that launches take. The zero value is ready for
// use.
type Addresses struct {
	mu     sync.Mutex
	claims map[string][]*share  // by subnet
	full   map[string]time.Time // by subnet: since when EC2 says so
}

// share is the number of addresses that a claim takes of one subnet.
type share struct {
	at     time.Time
	amount int64
}

// Claim has the addresses that one launch takes of the subnets that were chosen for it.
type Claim struct {
	ledger *Addresses
	parts  map[string]*share // by subnet
}

// Choose returns, by zone, the subnet to use, and claims need[zone] addresses in it. It chooses no
// subnet in a zone in which every subnet is full, which means that EC2 has refused a launch into
// it. If no subnet has enough free addresses, but one is not full, it chooses the one with most,
// because readings may be outdated.
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

// Settle replaces the claimed numbers by the numbers of addresses that the launch took, by subnet
// id; missing ids count as zero. These count until a newer reading includes them. It does nothing
// for a nil claim.
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

// Full notes that EC2 refused a launch at an instant because the subnet has no free addresses.
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

// expire drops claims and marks that are older than maxAge.
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
