package pack

import (
	"math"
	"slices"
)

// pattern is the pods of one new node.
type pattern struct {
	shares []Share
	trait  int32
	value  float64 // worth of the pods at their dual prices
}

// bin is the node that a pattern is made for: an option to launch, or an existing node.
type bin struct {
	capacity    []int64
	inverse     []float64 // 1 / capacity by resource; 0 where capacity is 0
	pool        int
	option      int          // -1 for an existing node, where traits do not matter
	memberships []Membership // of the pods on an existing node
}

// worth has the worth of pods by class, and how strongly each class is preferred.
type worth struct {
	value      []float64 // by class
	multiplier []float64 // by class; nil means 1
	target     []float64 // by resource: the share of the bin to use; nil means all
	highest    []float64 // by resource: the highest price that any class pays
}

// filler fills bins with pods. It is scratch space and must not be used by several goroutines at a
// time.
type filler struct {
	p       *Problem
	effort  effort
	traits  *traitCache
	tally   *tally
	urgent  bool    // no pod is exchanged for one that is worth more
	needs   []need  // of all classes, one after the other
	first   []int32 // by class: index of its first need; one more entry for the end
	room    []int64
	scale   []float64 // by resource: 1 / what the bin should use
	weight  []float64 // by resource: the share still to use
	used    []int32   // by class: pods placed in this fill
	touched []int32   // classes with used > 0
	active  []active
	shareOf []float64 // scratch space: shares of the active entries
	took    int32     // class taken last, if it is active; -1 for none
	likely  int       // index of the active entry that was best last, or of the one moved to its place
	most    []int64   // by resource: the largest request of any active entry
	tight   []int32   // resources with less room than the largest request
	offset  int       // of the last sample
	weighed []entry   // entries that the fill compared
	shares  []Share
	ranked  []ranked // scratch space of refine
	dear    float64  // scratch space of refine: the highest worth / price of the room requested
	added   []entry  // scratch space of refine
}

// need is the request of a class for one resource; positive.
type need struct {
	resource int32
	want     int64
}

// active is an entry that has pods left that may still fit.
type active struct {
	entry
	value  float64
	zeal   float64   // preference for it: its multiplier to the fourth power
	needs  []need    // of its class
	shares []float64 // by need: the share of the bin
	norm   float64   // squared length of the vector of shares
	size   float64   // the largest share

	request []int64 // of its class
	ceiling float64 // upper bound on its score: the last score, because scores fall as room is used
}

func newFiller(p *Problem, urgent bool) *filler {
	f := &filler{
		p:      p,
		effort: p.effort(),
		urgent: urgent,
		traits: newTraitCache(p),
		tally:  newTally(p),
		room:   make([]int64, p.Dims),
		scale:  make([]float64, p.Dims),
		weight: make([]float64, p.Dims),
		most:   make([]int64, p.Dims),
		used:   make([]int32, len(p.Classes)),
	}
	f.first = make([]int32, 0, len(p.Classes)+1)
	for c := range p.Classes {
		f.first = append(f.first, int32(len(f.needs)))
		for r, want := range p.Classes[c].Request {
			if want > 0 {
				f.needs = append(f.needs, need{int32(r), want})
			}
		}
	}
	f.first = append(f.first, int32(len(f.needs)))
	return f
}

// fill chooses pods for a bin from the pods left. In each step it takes the class whose request
// points most in the direction of the room left, larger pods first, so that no resource runs out
// long before the others. While there is plenty of room it takes several pods at once. The shares
// returned are valid until the next call.
//
// It takes O(entries x needs) time for each step, and a few steps for each class in the bin.
func (f *filler) fill(b *bin, entries []entry, left []int, w worth) pattern {
	f.begin(b, w)
	out := pattern{}
	sampled := f.sample(entries, left, w)
	f.fillUp(b, left, &out)
	if f.effort.exchanges && b.option >= 0 && !f.urgent && f.gap(w.highest) > tolerableWaste*out.value {
		f.refine(left, &w, &out)
		f.shares = slices.DeleteFunc(f.shares, func(s Share) bool { return s.Count == 0 })
	}
	if sampled {
		f.activate(entries, 0, 1, left, w)
		f.fillUp(b, left, &out)
	}
	sortShares(f.shares)
	out.shares = f.shares
	return out
}

// fillUp takes pods of active entries until none fits.
func (f *filler) fillUp(b *bin, left []int, out *pattern) {
	for {
		best := f.choose(left)
		if best < 0 {
			return
		}
		a := &f.active[best]
		trait, ok := f.traits.join(b, out.trait, a.trait)
		if !ok {
			f.drop(best)
			continue
		}
		n := f.tally.most(int(a.class), f.batch(int(a.class), left))
		if n == 0 {
			f.drop(best)
			continue
		}
		f.take(a, n, b.capacity)
		out.trait = trait
		out.value += float64(a.value * float64(n))
	}
}

func (f *filler) begin(b *bin, w worth) {
	copy(f.room, b.capacity)
	for r := range f.weight {
		f.weight[r] = 1
		f.scale[r] = b.inverse[r]
		if w.target != nil {
			f.scale[r] /= w.target[r]
		}
	}
	for _, c := range f.touched {
		f.used[c] = 0
	}
	f.touched = f.touched[:0]
	f.shares = f.shares[:0]
	f.tally.begin(b.memberships)
}

// sample activates the entries to choose from. Of very many entries it takes every n-th, with a
// different start each time: where thousands of classes are left, a few hundred of them fill a bin
// about as well as all. It says whether it left out any.
func (f *filler) sample(entries []entry, left []int, w worth) bool {
	stride := 1
	if len(entries) > f.effort.sampleFrom() {
		stride = len(entries) / f.effort.sample
		f.offset = (f.offset + 1) % stride
		f.activate(entries, f.offset, stride, left, w)
	} else {
		f.activate(entries, 0, 1, left, w)
	}
	f.weighed = f.weighed[:0]
	for i := range f.active {
		f.weighed = append(f.weighed, f.active[i].entry)
	}
	return stride > 1
}

// activate activates every stride-th entry that has a pod left which fits.
func (f *filler) activate(entries []entry, offset, stride int, left []int, w worth) {
	f.active, f.shareOf, f.took, f.likely = f.active[:0], f.shareOf[:0], -1, 0
	clear(f.most)
	if overdrawn(f.room) {
		return
	}
	for i := offset; i < len(entries); i += stride {
		e := entries[i]
		needs := f.needsOf(int(e.class))
		if int(f.used[e.class]) >= left[e.class] || !holds(f.room, needs) {
			continue
		}
		zeal := 1.0
		if w.multiplier != nil {
			zeal = w.multiplier[e.class] * w.multiplier[e.class]
		}
		a := active{entry: e, value: w.value[e.class], zeal: zeal * zeal, needs: needs, request: f.p.Classes[e.class].Request, ceiling: math.Inf(1)}
		f.measure(&a)
		f.active = append(f.active, a)
	}
}

// measure computes the shares of the bin that an entry takes.
func (f *filler) measure(a *active) {
	from := len(f.shareOf)
	for _, n := range a.needs {
		s := float64(n.want) * f.scale[n.resource]
		f.shareOf = append(f.shareOf, s)
		f.most[n.resource] = max(f.most[n.resource], n.want)
		a.norm += float64(s * s)
		if s > a.size { // max would also handle NaN, which no share is
			a.size = s
		}
	}
	a.shares = f.shareOf[from:]
}

// choose returns the best active entry, -1 if none fits, and drops entries that no longer fit.
//
// Scores fall while the bin is filled, so an entry whose last score was below the best one now need
// not be scored again.
func (f *filler) choose(left []int) int {
	f.tight = f.tight[:0]
	for r, most := range f.most {
		if most > f.room[r] {
			f.tight = append(f.tight, int32(r))
		}
	}
	best, bestScore, least := -1, -1.0, -1.0 // the best score is at least least
	if f.likely < len(f.active) {
		if a := &f.active[f.likely]; f.fits(a, left) {
			least = f.score(a)
		}
	}
	for i := 0; i < len(f.active); {
		a := &f.active[i]
		if !f.fits(a, left) {
			f.drop(i)
			continue
		}
		if a.ceiling >= least && a.ceiling > bestScore {
			if a.ceiling = f.score(a); a.ceiling > bestScore {
				best, bestScore = i, a.ceiling
			}
		}
		i++
	}
	f.likely = max(best, 0)
	return best
}

// fits says whether a pod of an active entry is left and has room.
func (f *filler) fits(a *active, left []int) bool {
	if a.class == f.took && int(f.used[a.class]) >= left[a.class] {
		return false
	}
	for _, r := range f.tight {
		if a.request[r] > f.room[r] {
			return false
		}
	}
	return true
}

// score returns how well an active entry suits the room left.
func (f *filler) score(a *active) float64 {
	if !(a.norm > 0) {
		return 0
	}
	dot := 0.0
	for k, n := range a.needs {
		dot += float64(a.shares[k] * f.weight[n.resource])
	}
	return dot * dot / a.norm * a.size * a.zeal
}

// needsOf returns the needs of a pod of a class.
func (f *filler) needsOf(class int) []need { return f.needs[f.first[class]:f.first[class+1]] }

// holds says whether room that is not overdrawn suffices for some needs.
func holds(room []int64, needs []need) bool {
	for _, n := range needs {
		if n.want > room[n.resource] {
			return false
		}
	}
	return true
}

// overdrawn says whether the room of any resource is negative. Then no pod fits, whatever it
// requests.
func overdrawn(room []int64) bool {
	return slices.ContainsFunc(room, func(n int64) bool { return n < 0 })
}

// drop deactivates an entry; its pods placed so far stay.
func (f *filler) drop(i int) {
	last := len(f.active) - 1
	f.active[i] = f.active[last]
	f.active = f.active[:last]
}

// batch returns how many pods of a class to take at once: a quarter of those that fit, because the
// balance of the room shifts with each.
func (f *filler) batch(c int, left []int) int {
	n := int64(left[c] - int(f.used[c]))
	for r, want := range f.p.Classes[c].Request {
		if want > 0 {
			n = min(n, f.room[r]/want)
		}
	}
	return int(max(1, n/4))
}

func (f *filler) take(a *active, n int, capacity []int64) {
	c := int(a.class)
	if f.used[c] == 0 {
		f.touched = append(f.touched, a.class)
	}
	f.used[c] += int32(n)
	f.addShare(a.entry, n)
	f.tally.add(f.p.Classes[c].Memberships, n)
	f.took = a.class
	rose := false
	for _, need := range a.needs {
		r, was := need.resource, f.weight[need.resource]
		f.room[r] -= need.want * int64(n)
		f.weight[r] = max(1-float64(float64(capacity[r]-f.room[r])*f.scale[r]), 1e-3)
		rose = rose || f.weight[r] > was
	}
	if rose { // exchanges have made room
		for i := range f.active {
			f.active[i].ceiling = math.Inf(1)
		}
	}
}

// tolerableWaste is the share of a pattern's worth that its unused room may be worth before
// exchanges are tried.
const tolerableWaste = 0.002

// gap returns what the unused room would be worth.
func (f *filler) gap(highest []float64) float64 {
	worth := 0.0
	for r, price := range highest {
		worth += float64(price * float64(max(f.room[r], 0)))
	}
	return worth
}
