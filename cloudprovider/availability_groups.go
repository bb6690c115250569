package cloudprovider

import "hash/maphash"

// group returns the marks on exactly this instance type and reservation, or nil.
func (t *markTable) group(instanceType, reservationID string) *markGroup {
	hash := t.hash(instanceType, reservationID)
	for g := t.chain(hash).Load(); g != nil; g = g.next.Load() {
		if g.hash == hash && g.instanceType == instanceType && g.reservationID == reservationID {
			return g
		}
	}
	return nil
}

func (t *markTable) hash(instanceType, reservationID string) uint64 {
	hash := maphash.String(t.seed, instanceType)
	if reservationID != "" {
		hash += 3 * maphash.String(t.seed, reservationID) // else x of y would be y of x
	}
	return hash
}

func (t *markTable) chain(hash uint64) *groupChain {
	buckets := *t.buckets.Load()
	return &buckets[hash&uint64(len(buckets)-1)]
}

// link is what leads to a group of the table.
func (t *markTable) link(g *markGroup) *groupChain {
	link := t.chain(g.hash)
	for link.Load() != g {
		link = &link.Load().next
	}
	return link
}

// add makes a group of one mark.
func (t *markTable) add(m *queuedMark) {
	t.begin()
	t.grow()
	g := &markGroup{instanceType: m.Scope.InstanceType, reservationID: m.Scope.ReservationID, marks: []taggedMark{newTaggedMark(m)}}
	g.hash = t.hash(g.instanceType, g.reservationID)
	t.push(*t.buckets.Load(), g)
	t.groups++
	f := g.fields()
	if t.counts[f]++; t.counts[f] == 1 {
		t.inUse.Or(1 << f)
	}
}

// change puts a group with other marks in the place of one.
func (t *markTable) change(g *markGroup, marks []taggedMark) {
	t.begin()
	changed := &markGroup{hash: g.hash, instanceType: g.instanceType, reservationID: g.reservationID, marks: marks}
	changed.next.Store(g.next.Load())
	t.link(g).Store(changed)
}

// drop takes a group out. Readers on the way go on from it as before.
func (t *markTable) drop(g *markGroup) {
	t.begin()
	t.link(g).Store(g.next.Load())
	t.groups--
	f := g.fields()
	if t.counts[f]--; t.counts[f] == 0 {
		t.inUse.And(^uint32(1 << f))
	}
}

func (g *markGroup) fields() fields {
	return Scope{InstanceType: g.instanceType, ReservationID: g.reservationID}.fields()
}

// push puts a group at the head of its chain.
func (*markTable) push(buckets []groupChain, g *markGroup) {
	first := &buckets[g.hash&uint64(len(buckets)-1)]
	g.next.Store(first.Load())
	first.Store(g)
}

// grow doubles the number of buckets when a group more would be too much for
// them. The groups are linked anew where they are: a reader that is led astray by
// that notices by the version.
func (t *markTable) grow() {
	old := *t.buckets.Load()
	if 2*t.groups < len(old) {
		return
	}
	buckets := make([]groupChain, 2*len(old))
	for i := range old {
		for g := old[i].Load(); g != nil; {
			next := g.next.Load()
			t.push(buckets, g)
			g = next
		}
	}
	t.buckets.Store(&buckets)
}
