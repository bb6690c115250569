package pack

import (
	"math"
	"slices"
)

// Floor returns a lower bound on the cost of new nodes in any packing that places all pods,
// whichever of them go to existing nodes or use reservations. bought is, by class, how many pods a
// good packing puts on new nodes without reservation; it only helps to find good prices, and the
// bound is valid whatever it is.
//
// Each class may use any option of its variants: tiers, limits, MinValues, Flexible, Fee and traits
// are ignored. Of rules it uses only how many pods of one class may be on a node, and which pods
// may join an existing node.
//
// The proof uses worths of pods such that no new node can hold more than its price: the worth of
// all pods, minus the highest worth that existing nodes and reservations can hold, must be paid
// for. Worths follow from the prices of the covering relaxation; several are tried. The time is
// about that of one relaxation, and bounded for each knapsack and in all.
func Floor(p *Problem, bought []int) float64 {
	k := New(reduced(p))
	t := k.tiers[0]()
	if t.free {
		return 0
	}
	counts := make([]int, len(p.Classes))
	for c := range p.Classes {
		counts[c] = p.Classes[c].Count
	}
	f := newFloor(&solver{Packer: k}, t, counts)
	f.spare = floorItems
	f.groupNodes()
	f.fillAlone()
	bound, best, most := 0.0, worths{}, math.Inf(-1)
	for _, w := range f.candidates(bought) {
		of := f.rough(&w)
		if f.spare > 0 {
			of = max(of, f.exact(&w))
		}
		if of > most {
			best, most = w, of
		}
		bound = max(bound, of)
	}
	return max(bound, f.inComponents(best, bound))
}

// newFloor starts the search for a bound on the cost of new nodes of a tier for some pods.
func newFloor(s *solver, t *tier, counts []int) *floor {
	return &floor{s: s, t: t, counts: counts, onNodes: make([]int, len(counts)), tally: newTally(s.p)}
}

// floor is the search for one lower bound.
type floor struct {
	s       *solver
	t       *tier
	counts  []int   // by class
	looks   []look  // existing nodes, grouped by the classes that they admit
	rooms   [][]int // by look: its nodes
	onNodes []int   // by class: how many pods existing nodes can hold
	spare   int     // number of items that knapsacks may still load

	fitting []int32 // scratch space
	tally   *tally  // scratch space
}

// look has the common properties of existing nodes that admit the same classes.
type look struct {
	entries []entry
	kinds   []int
}

// groupNodes groups the existing nodes that may take any pod.
func (f *floor) groupNodes() {
	p := f.s.p
	least := leastRequest(p)
	index := map[string]int{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if !fits(least, n.Free) || n.Classes.Empty() {
			continue
		}
		key := n.Classes.Key()
		id, known := index[key]
		if !known {
			id = len(f.looks)
			index[key] = id
			f.looks = append(f.looks, newLook(p, n))
			f.rooms = append(f.rooms, nil)
		}
		f.rooms[id] = append(f.rooms[id], i)
	}
}

func newLook(p *Problem, n *Node) look {
	var l look
	seen := map[int]bool{}
	for c := range n.Classes.All() {
		l.entries = append(l.entries, entry{class: int32(c)})
		if kind := p.Classes[c].Kind; !seen[kind] {
			seen[kind] = true
			l.kinds = append(l.kinds, kind)
		}
	}
	return l
}

// leastRequest returns, by resource, the least request of any class.
func leastRequest(p *Problem) []int64 {
	out := slices.Repeat([]int64{math.MaxInt64}, p.Dims)
	for c := range p.Classes {
		for r, want := range p.Classes[c].Request {
			out[r] = min(out[r], want)
		}
	}
	return out
}

// one returns the least price of a new node for a class, or 0 if existing nodes could hold all pods
// of the class if no other pods went there.
func (f *floor) one(c int) float64 {
	if f.t.groupOf[c] < 0 || f.onNodes[c] >= f.counts[c] {
		return 0
	}
	least := math.Inf(1)
	for i := range f.t.candidates { // sorted by price, surcharge included
		cand := &f.t.candidates[i]
		if surchargeFactor*cand.price > least {
			break
		}
		if f.t.admits[cand.serves].Has(int(f.t.groupOf[c])) && fits(f.s.p.Classes[c].Request, cand.capacity) {
			least = min(least, f.s.p.Options[cand.option].Price+f.s.p.Fee)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// fillAlone computes, by class, how many of its pods existing nodes hold if no other pods go there.
func (f *floor) fillAlone() {
	for l := range f.looks {
		for _, e := range f.looks[l].entries {
			for _, i := range f.rooms[l] {
				if f.onNodes[e.class] == f.counts[e.class] {
					break
				}
				f.onNodes[e.class] = min(f.onNodes[e.class]+f.roomFor(int(e.class), i), f.counts[e.class])
			}
		}
	}
}

// roomFor returns how many pods of a class an existing node holds.
func (f *floor) roomFor(c, node int) int {
	p := f.s.p
	if !f.mayJoin(c, node) {
		return 0
	}
	most := int64(min(f.counts[c], f.s.alone[c]))
	for r, want := range p.Classes[c].Request {
		if want > 0 {
			most = min(most, max(p.Nodes[node].Free[r], 0)/want)
		}
	}
	return int(most)
}

// mayJoin says whether the rules allow a pod of a class together with the pods on an existing node.
func (f *floor) mayJoin(c, node int) bool {
	p := f.s.p
	if len(p.Nodes[node].Memberships) == 0 || len(p.Classes[c].Memberships) == 0 {
		return true
	}
	f.tally.begin(p.Nodes[node].Memberships)
	return f.tally.most(c, 1) > 0
}
