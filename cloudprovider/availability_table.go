package cloudprovider

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
)

// markTable finds the marks that cover an offering. One goroutine at a time may
// change it; any number may read it meanwhile without a lock, which is why a
// look-up takes some tens of nanoseconds and does not slow down others.
//
// It is a hash table of groups, with chains: a group holds the marks on one
// instance type and reservation, each of which may be "" for any. That is few,
// zones times capacity types, so going through them is faster than to hash the
// rest of the scope, and the memory that a walk through a catalog needs next is
// near. What is in the table is never written to, but for the links of a chain: a
// change puts another group in the place of the old one.
//
// Hence a reader sees whole groups, but possibly some from before and some from
// after a change. So it looks at version before and after: a number that is odd,
// or that differs, says that it has to ask again under the lock of the writers.
type markTable struct {
	seed     maphash.Seed
	version  atomic.Uint64
	inUse    atomic.Uint32 // bit f is set while there are groups with the fields f
	buckets  atomic.Pointer[[]groupChain]
	counts   [fieldsEnd]int // groups by their fields
	groups   int
	changing bool // version is odd
}

// markGroup are the marks on one instance type and reservation.
type markGroup struct {
	hash                        uint64
	instanceType, reservationID string
	next                        groupChain
	marks                       []taggedMark
}

// groupChain is the first group of a bucket, or the next of a group, or nil.
type groupChain = atomic.Pointer[markGroup]

// taggedMark is a mark, and what tells most offerings that it does not cover them
// without a look at it: those whose tag, under mask, is another.
type taggedMark struct {
	tag, mask uint32
	mark      *queuedMark
}

// fewestBuckets is a power of two, as is every number of buckets.
const fewestBuckets = 16

func (t *markTable) init() {
	t.seed = maphash.MakeSeed()
	buckets := make([]groupChain, fewestBuckets)
	t.buckets.Store(&buckets)
}

// begin has to be called before each change, end after the last of those that
// readers should see together.
func (t *markTable) begin() {
	if !t.changing {
		t.changing = true
		t.version.Add(1)
	}
}

func (t *markTable) end() {
	if t.changing {
		t.changing = false
		t.version.Add(1)
	}
}

// settled says whether nothing has changed since version was read.
func (t *markTable) settled(version uint64) bool {
	return version&1 == 0 && t.version.Load() == version
}

// covering returns, of the marks that cover the offering, the one that ends
// last; of those that end together, the first by scope; nil if there is none.
// Without the lock it means something only if settled says so afterwards, of the
// version that was read before.
func (t *markTable) covering(key OfferingKey) (best *queuedMark) {
	inUse := t.inUse.Load()
	if inUse&(1<<fieldInstanceType) != 0 {
		best = t.group(key.InstanceType, "").covering(key, best)
	}
	if inUse&1 != 0 {
		best = t.group("", "").covering(key, best)
	}
	if key.ReservationID != "" && inUse>>fieldReservationID != 0 {
		best = t.group(key.InstanceType, key.ReservationID).covering(key, best)
		best = t.group("", key.ReservationID).covering(key, best)
	}
	return best
}

// covering returns the better of best and the marks of the group, which may be
// nil, that cover the offering.
func (g *markGroup) covering(key OfferingKey, best *queuedMark) *queuedMark {
	if g == nil {
		return best
	}
	tag := tagOf(key.Zone)<<16 | tagOf(key.CapacityType)
	for i := range g.marks {
		m := &g.marks[i]
		if tag&m.mask == m.tag && m.mark.covers(key) && m.mark.before(best) {
			best = m.mark
		}
	}
	return best
}

// covers reports whether a mark of the offering's group covers it.
func (m *queuedMark) covers(key OfferingKey) bool {
	return (m.Scope.Zone == key.Zone || m.Scope.Zone == "") && (m.Scope.CapacityType == key.CapacityType || m.Scope.CapacityType == "")
}

// before reports whether m is to be told rather than best, which may be nil.
func (m *queuedMark) before(best *queuedMark) bool {
	if best == nil {
		return true
	}
	c := m.Until.Compare(best.Until)
	return c > 0 || c == 0 && m.Scope.Compare(best.Scope) < 0
}

// tagOf returns 16 bits that are zero for an empty name, and differ for most
// names that differ: those of zones end differently, those of capacity types
// differ in length.
func tagOf(name string) uint32 {
	n := len(name)
	if n == 0 {
		return 0
	}
	return (uint32(n)<<8 ^ uint32(name[0])<<4 ^ uint32(name[n-1])) & 0xffff
}

func newTaggedMark(m *queuedMark) taggedMark {
	tagged := taggedMark{tag: tagOf(m.Scope.Zone)<<16 | tagOf(m.Scope.CapacityType), mark: m}
	if m.Scope.Zone != "" {
		tagged.mask = 0xffff << 16
	}
	if m.Scope.CapacityType != "" {
		tagged.mask |= 0xffff
	}
	return tagged
}

// find returns the mark on exactly this scope, or nil.
func (t *markTable) find(scope Scope) *queuedMark {
	g := t.group(scope.InstanceType, scope.ReservationID)
	if i := g.index(scope); i >= 0 {
		return g.marks[i].mark
	}
	return nil
}

// index is where in the group, which may be nil, the mark on exactly this scope
// is, or -1.
func (g *markGroup) index(scope Scope) int {
	if g == nil {
		return -1
	}
	return slices.IndexFunc(g.marks, func(m taggedMark) bool { return m.mark.Scope == scope })
}

// insert adds a mark on a scope that has none.
func (t *markTable) insert(m *queuedMark) {
	g := t.group(m.Scope.InstanceType, m.Scope.ReservationID)
	if g == nil {
		t.add(m)
		return
	}
	marks := make([]taggedMark, len(g.marks)+1)
	marks[copy(marks, g.marks)] = newTaggedMark(m)
	t.change(g, marks)
}

// replace puts a mark in the place of the one on the same scope.
func (t *markTable) replace(m *queuedMark) {
	g := t.group(m.Scope.InstanceType, m.Scope.ReservationID)
	marks := slices.Clone(g.marks)
	marks[g.index(m.Scope)] = newTaggedMark(m)
	t.change(g, marks)
}

// remove takes the mark on a scope out.
func (t *markTable) remove(scope Scope) {
	g := t.group(scope.InstanceType, scope.ReservationID)
	i := g.index(scope)
	if len(g.marks) == 1 {
		t.drop(g)
		return
	}
	t.change(g, slices.Concat(g.marks[:i], g.marks[i+1:]))
}
