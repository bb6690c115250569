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

// Packer is a compiled Problem that can be solved any number of times. It is safe for concurrent
// use.
type Packer struct {
	p      *Problem
	effort effort
	tiers  []func() *tier // each is made on first use
	size   []float64
	kinds  int

	urgency []float64 // by class
	urgent  bool      // some class has an urgency above 1
	alone   []int     // by class: how many pods the rules allow on one new node

	capacities *levels.Capacities
	uses       []*levels.Table // by pool: what launches use of its limits, nil if it has none
}

// reservedUrgency is the urgency factor of pods that only a reservation can serve.
const reservedUrgency = 4

// New compiles a problem. The candidates for new nodes are computed when a run first needs them, in
// about O(groups x options/64) time plus O(options x candidates) comparisons, independent of pod
// counts.
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

// Ready computes the candidates for new nodes, which a run otherwise computes when it first needs
// them.
func (k *Packer) Ready() {
	for _, tier := range k.tiers {
		tier()
	}
}

// solver is one run of a Packer.
type solver struct {
	*Packer
	effort       effort // of the current run
	ctx          context.Context
	filler       *filler
	left         []int          // by class: pods without a place
	limits       [][]int64      // by pool and limit: what is left
	reservations []int          // by reservation: nodes left
	sold         []tierPurchase // by new node: what it was bought as, if there are reservations

	reservationOptions []bitset.Set // by 1 + reservation, and for none at 0; nil until needed

	series map[*tier]*cover.Series

	whole    float64 // approximate lower bound on the cost of all tiers, if there are several
	steps    int
	maxSteps int
	report   func(progress.Event) // nil if no caller wants progress reports

	multiplier        []float64 // by class; see rounds
	highestMultiplier float64

	fills    []candidateFill // scratch space of greedy
	scratch  bitset.Set      // scratch space: options
	ranking  []int32         // candidates that are not dead: first those that are awake
	awake    []int32         // ascending; all others have lower scores
	sum      []int64
	wanted   bitset.Set // groups with pods left
	possible map[possibleKey]int

	level bitset.Set // scratch space: options
}

// Solve packs the pods: first into existing nodes, then tier by tier into new ones. Once maxSteps
// patterns have been built it stops improving and finishes the packing. Its only error is that of
// ctx.
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

// buyAll packs the pods left into new nodes, tier by tier.
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

// assignReservations assigns the reservations to the new nodes that save most by them, in whatever
// order these were bought. A new node may use any reservation from which options of its pool with
// room for its pods come. A node that can be launched from reservations only keeps one.
//
// If pods are without a node that only reservations could serve, reservations are first freed for
// them, even if the nodes that used them become more expensive.
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

// fillNodes places pods on existing nodes, which cost nothing: each node in turn takes pods that
// fill it well, preferably those that would be expensive elsewhere.
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

// asked returns the total request of the pods left, by resource.
func (s *solver) asked() []float64 {
	sum := make([]float64, s.p.Dims)
	for c, n := range s.left {
		for r, want := range s.p.Classes[c].Request {
			sum[r] += float64(float64(n) * float64(want))
		}
	}
	return sum
}

// spacious says whether the existing nodes have so much more room than requested that all pods may
// fit in any order. Then no worths are needed.
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

// plainWorth returns worths by the largest share of the total request.
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

// sizes returns, by class, the largest share that one pod takes of the largest capacity of any
// usable option.
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
