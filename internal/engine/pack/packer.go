package pack

import (
	"context"
	"slices"
	"sync"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
	"github.com/dovetail-sdk/dovetail/internal/engine/levels"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// Packer is a Problem made ready to be solved, any number of times and from
// any number of goroutines.
type Packer struct {
	p      *Problem
	effort effort
	tiers  []func() *tier // each made when it is asked for first
	size   []float64
	kinds  int

	urgency []float64 // by class
	urgent  bool      // some class is
	alone   []int     // by class: how many the rules let stand on one new node

	capacities *levels.Capacities
	uses       []*levels.Table // by pool: what launches take of its limits, nil without
}

// reservedUrgency is how far pods that only a reservation can serve come before
// others.
const reservedUrgency = 4

// New compiles a problem. What new nodes there may be is worked out when a run
// first needs some: it costs about O(groups x options/64) plus O(options x
// candidates) comparisons, independent of counts.
func New(p *Problem) *Packer {
	k := &Packer{p: p, effort: p.effort(), size: sizes(p)}
	reserved := onlyReserved(p)
	for c := range p.Classes {
		k.kinds = max(k.kinds, p.Classes[c].Kind+1)
		k.urgency = append(k.urgency, max(p.Classes[c].Urgency, 1))
		if reserved[c] {
			k.urgency[c] *= reservedUrgency
		}
		k.alone = append(k.alone, p.alone(c))
		k.urgent = k.urgent || p.Classes[c].Urgency > 1
	}
	k.capacities = p.capacities()
	for i := range p.Pools {
		k.uses = append(k.uses, p.Pools[i].useLevels())
	}
	for i := 0; i < len(p.Pools); {
		j := i
		var pools []int
		for j < len(p.Pools) && p.Pools[j].Tier == p.Pools[i].Tier {
			pools = append(pools, j)
			j++
		}
		k.tiers = append(k.tiers, sync.OnceValue(func() *tier { return newTier(p, pools, k.capacities) }))
		i = j
	}
	return k
}

// Ready works out what new nodes there may be, which is otherwise left until a run
// needs some.
func (k *Packer) Ready() {
	for _, tier := range k.tiers {
		tier()
	}
}

// solver is one run.
type solver struct {
	*Packer
	effort       effort // of the run at hand
	ctx          context.Context
	filler       *filler
	left         []int          // by class
	limits       [][]int64      // by pool: what may still be used
	reservations []int          // what is left of each
	sold         []tierPurchase // by new node: what it was bought as, if there are reservations

	reservationOptions []bitset.Set // by reservation, first none; once asked for

	series map[*tier]*cover.Series

	whole    float64 // about what all tiers cost at least, if there are several
	steps    int
	maxSteps int
	report   func(progress.Event) // nil if nobody waits

	multiplier        []float64 // by class: see rounds
	highestMultiplier float64

	fills    []candidateFill // scratch of greedy
	scratch  bitset.Set      // of options
	ranking  []int32         // live candidates: first those that are awake
	awake    []int32         // ascending; others are less likely to be the best
	sum      []int64
	wanted   bitset.Set // of groups
	possible map[possibleKey]int

	level bitset.Set // scratch, of options
}

// Solve packs the pods: first into existing nodes, then tier by tier into new
// ones. When maxSteps patterns have been built it stops looking for better
// ones, but still finishes. It fails only with the context's error.
func (k *Packer) Solve(ctx context.Context, maxSteps int) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &solver{
		Packer:       k,
		effort:       k.effort,
		ctx:          ctx,
		filler:       newFiller(k.p, k.urgent),
		left:         make([]int, len(k.p.Classes)),
		limits:       make([][]int64, len(k.p.Pools)),
		maxSteps:     maxSteps,
		report:       progress.From(ctx),
		reservations: slices.Clone(k.p.Reservations),
		scratch:      bitset.New(len(k.p.Options)),
		sum:          make([]int64, k.p.Dims),
		possible:     map[possibleKey]int{},
		series:       map[*tier]*cover.Series{},
		level:        bitset.New(len(k.p.Options)),
	}
	for c := range k.p.Classes {
		s.left[c] = k.p.Classes[c].Count
	}
	for i := range k.p.Pools {
		s.limits[i] = slices.Clone(k.p.Pools[i].Limits)
	}
	out := &Result{Nodes: make([][]Share, len(k.p.Nodes))}
	if err := s.fillNodes(out); err != nil {
		return nil, err
	}
	if err := s.buyAll(out); err != nil {
		return nil, err
	}
	if err := s.assignReservations(out); err != nil {
		return nil, err
	}
	out.Left = s.left
	out.Steps = s.steps
	return out, nil
}

// buyAll packs what is left into new nodes, tier by tier.
func (s *solver) buyAll(out *Result) error {
	s.whole = s.wholeBound()
	for _, tier := range s.tiers {
		if !s.anyLeft() {
			break
		}
		if err := s.buy(tier(), out); err != nil {
			return err
		}
	}
	return nil
}

// assignReservations gives what is in the reservations to those new nodes that save most by
// it, whoever came first when they were bought. Each new node may draw on one of
// the reservations that options of its pool with room for its pods come from, and a
// node that can be launched from reservations only keeps to one.
//
// Where pods are left without a node that only reservations could serve, reservations are
// first freed for them, even if the nodes that drew on those become dearer.
func (s *solver) assignReservations(out *Result) error {
	if len(s.p.Reservations) == 0 {
		return nil
	}
	if s.anyLeft() && s.free(out) {
		if err := s.buyAll(out); err != nil {
			return err
		}
	}
	if len(s.sold) > 0 {
		s.assign(out, nil)
	}
	return s.ctx.Err()
}

// fillNodes places pods on existing nodes, which cost nothing: each node in
// turn takes pods that fill it well, rather those that would be dear elsewhere.
func (s *solver) fillNodes(out *Result) error {
	if len(s.p.Nodes) == 0 || !s.anyLeft() {
		return nil
	}
	if asked := s.asked(); s.spacious(asked) {
		start := s.save()
		if err := s.fillNodesBy(s.plainWorth(asked), out); err != nil || !s.anyLeft() {
			return err
		}
		s.restore(start)
		clear(out.Nodes)
	}
	return s.fillNodesBy(s.nodeWorth(), out)
}

// asked sums up what is left to place, by resource.
func (s *solver) asked() []float64 {
	sum := make([]float64, s.p.Dims)
	for c, n := range s.left {
		for r, want := range s.p.Classes[c].Request {
			sum[r] += float64(float64(n) * float64(want))
		}
	}
	return sum
}

// spacious says whether the nodes have so much more room than is asked for that
// all pods may well fit, whoever goes where. Then there is nothing to weigh.
func (s *solver) spacious(asked []float64) bool {
	free := make([]float64, len(asked))
	for i := range s.p.Nodes {
		for r, n := range s.p.Nodes[i].Free {
			free[r] += float64(n)
		}
	}
	for r := range asked {
		if 2*asked[r] > free[r] {
			return false
		}
	}
	return true
}

// plainWorth values pods by their largest share of what is asked for.
func (s *solver) plainWorth(asked []float64) worth {
	out := worth{value: make([]float64, len(s.left)), multiplier: s.urgency}
	for c := range out.value {
		for r, want := range s.p.Classes[c].Request {
			if want > 0 {
				out.value[c] = max(out.value[c], float64(want)/asked[r])
			}
		}
	}
	return out
}

// fillNodesBy fills each node in turn with the pods that are worth most.
func (s *solver) fillNodesBy(w worth, out *Result) error {
	entries := make([]entry, 0, len(s.p.Classes))
	remaining, may := s.remaining(), bitset.New(len(s.p.Classes))
	for i := range s.p.Nodes {
		if remaining.Empty() {
			break
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		n := &s.p.Nodes[i]
		if overdrawn(n.Free) {
			continue
		}
		copy(may, n.Classes)
		may.And(remaining)
		entries = entries[:0]
		for c := range may.All() {
			if holds(n.Free, s.filler.needsOf(c)) {
				entries = append(entries, entry{class: int32(c)})
			}
		}
		if len(entries) == 0 {
			continue
		}
		b := bin{capacity: n.Free, inverse: inverse(n.Free), option: -1, memberships: n.Memberships}
		s.step()
		got := s.filler.fill(&b, entries, s.left, w)
		out.Nodes[i] = slices.Clone(got.shares)
		s.remove(got.shares, 1)
		for _, sh := range got.shares {
			if s.left[sh.Class] == 0 {
				remaining.Remove(sh.Class)
			}
		}
	}
	return nil
}

// sizes measures each class by the largest share it takes of the largest
// capacity that any class may use.
func sizes(p *Problem) []float64 {
	used := bitset.New(len(p.Options))
	for c := range p.Classes {
		for _, v := range p.Classes[c].Variants {
			used.Or(v.Options)
		}
	}
	largest := make([]int64, p.Dims)
	for o := range used.All() {
		for r, c := range p.Options[o].Capacity {
			largest[r] = max(largest[r], c)
		}
	}
	out := make([]float64, len(p.Classes))
	for c := range p.Classes {
		for r, want := range p.Classes[c].Request {
			if largest[r] > 0 {
				out[c] = max(out[c], float64(want)/float64(largest[r]))
			}
		}
	}
	return out
}
