// Package pack is the numeric heart of the engine: it fills existing nodes and
// buys new ones so that counts of identical pods find room at the least cost.
//
// It knows nothing of Kubernetes. Pods come as classes with a request vector
// and a count; launch options as capacity vectors with a price; every rule
// about labels and taints has been lowered to the set of options that a class
// may use. All numbers are integers but prices, and nothing depends on chance,
// time or map order.
package pack

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/levels"
)

// Problem is one packing problem. It is read-only once handed to New.
type Problem struct {
	// Dims is the number of resources. Every vector has this length.
	Dims int

	Classes []Class

	// Options lie pool by pool, within a pool cheapest first.
	Options []Option

	// Capacities, if set, are those of Options: so that problems which share
	// options need not tell them apart each time.
	Capacities *levels.Capacities

	// Pools are in the order they are tried: ascending Tier.
	Pools []Pool

	// Nodes are existing nodes in the order they are filled.
	Nodes []Node

	// Reservations are how many nodes can be launched from each reservation. Options of
	// several pools may share one.
	Reservations []int
	// StrictReservation makes nodes from a reservation name no options outside of it.
	StrictReservation bool

	// Flexible, if set, wants nodes aimed at some options to name several kinds
	// of them.
	Flexible *Flexible

	// Fee is added to the price of every new node when plans are compared.
	Fee float64

	// NoBound says that nobody asks for Result.Bound, which is zero then. The
	// packing is the same.
	NoBound bool

	// Coarse makes the search a quick one: see effort.
	Coarse bool

	// Rules hold between the pods of one node.
	Rules []Rule

	// Traits knows the labels that an option leaves open; nil when no variant
	// has a trait.
	Traits Traits
}

// Class is a group of identical pods.
type Class struct {
	Request  []int64
	Count    int
	Variants []Variant

	// Urgency is how far the class comes before others where there is not room
	// for all, as a factor; 0 means 1. Any above 1 make the packer take them
	// first, whatever it costs.
	Urgency float64

	// Content says that the pods do without the kinds that Flexible demands.
	Content bool

	// Memberships say what each pod counts for in the rules, in ascending order of
	// rules.
	Memberships []Membership

	// Kind is equal for classes that may use the same options but for the room
	// they need: the relaxation that prices pods tells only kinds apart. Kinds
	// are numbered from 0, without gaps.
	Kind int
}

// Variant is one way to place the pods of a class on new nodes.
type Variant struct {
	// Options that hold one pod of the class: labels, taints and room.
	Options bitset.Set
	// Trait is what the pods ask of the labels that options leave open; 0 asks
	// nothing.
	Trait int32
}

// Traits is an algebra over the labels that an option leaves open. All
// methods must be safe for concurrent use.
type Traits interface {
	// Merge returns the trait that asks for both, or false when no node of the
	// pool can have both.
	Merge(pool int, a, b int32) (int32, bool)
	// Options returns the options of the pool that can have the trait, as the
	// window of its options.
	Options(pool int, trait int32) bitset.Set
	// Values returns the value numbers of a MinValue of the pool that a node
	// with the trait can still show; nil means all.
	Values(pool, minValue int, trait int32) bitset.Set
}

// Option is one way to launch a node.
type Option struct {
	Price    float64 // USD per hour
	Capacity []int64 // allocatable less daemons

	// Reservation is one more than the index of the reservation that a launch takes one
	// piece of, such as a reservation; 0 if there is no end of it.
	Reservation int
}

// Pool is a range of options under common rules.
type Pool struct {
	First, Last int // its options are [First, Last)
	Tier        int

	// Limits is what may still be used of each limited resource; nil means
	// that there are no limits.
	Limits []int64
	// Uses holds, for each option from First on, what a launch takes of each
	// limited resource.
	Uses [][]int64
	// Levels is what levels.Index.New makes of Uses; nil has it made anew.
	Levels *levels.Table

	MinValues []MinValue
	// BestEffort lowers a MinValue to what can be had.
	BestEffort bool
}

// MinValue demands that the options of a node show at least Need distinct
// values. Values holds the value numbers, small and dense, of each option from
// the pool's First on.
type MinValue struct {
	Need   int
	Values [][]int32
	Count  int // value numbers are below Count
}

// Flexible demands that a node which is aimed at one of its options names at
// least Need kinds of them. A node aimed elsewhere that names fewer names none.
// Pods that nothing else serves are content with as many as there are.
type Flexible struct {
	Need    int
	Options bitset.Set
	Kinds   []int32 // by option, small and dense
	Count   int     // kinds are below Count
}

// Node is an existing node.
type Node struct {
	Free        []int64
	Classes     bitset.Set   // that may run here by labels and taints
	Memberships []Membership // of the pods that run here, summed up by rule
}

// Result says which pods go where.
type Result struct {
	// Nodes holds, for each existing node, what it takes.
	Nodes [][]Share
	// New holds the nodes to launch, tier by tier.
	New []Launch
	// Left counts, by class, the pods without a place.
	Left []int
	// Bound is a lower bound on the cost of New.
	Bound float64
	Steps int
}

// Share is a number of pods of one class on one node.
type Share struct {
	Class   int
	Variant int // of the class; meaningless on existing nodes
	Count   int
}

// Launch is a number of identical new nodes.
type Launch struct {
	Pool    int
	Copies  int
	Shares  []Share    // on each copy, ascending by class
	Options bitset.Set // each of which holds the shares
	// Wide are those that it could have if what was set aside of the limits of its
	// pool were more; nil if that is of no matter. They hold the shares, and are as
	// the node has to be in all else.
	Wide        bitset.Set
	Trait       int32
	Price       float64 // of the cheapest option
	Reservation int     // one more than the index of the reservation it takes from, 0 if none
	Relaxed     bool    // a MinValue was lowered
}

// useLevels are the levels of what launches take of the limits, nil without.
func (p *Pool) useLevels() *levels.Table {
	if p.Limits == nil || p.Levels != nil {
		return p.Levels
	}
	return new(levels.Index).New(p.Uses, p.First)
}

func sortShares(shares []Share) {
	slices.SortFunc(shares, func(x, y Share) int {
		return cmp.Or(cmp.Compare(x.Class, y.Class), cmp.Compare(x.Variant, y.Variant))
	})
}

// worthOf sums up what shares are worth.
func worthOf(shares []Share, value []float64) float64 {
	sum := 0.0
	for _, sh := range shares {
		sum += float64(value[sh.Class] * float64(sh.Count))
	}
	return sum
}

// effort is how much of a greedy run is search.
type effort struct {
	// awake is how many candidates are looked at while prices stay the same. Where
	// prices are duals every candidate worth buying has the same ceiling, so that
	// many more are near it than can be the best.
	awake int
	// repriceShare is the share of what is left after whose purchase prices are asked for
	// again, if that is at least the share called tail of what there was at first.
	repriceShare, tail float64
	// pivots bounds the simplex behind each asking; duals are near their optimum
	// long before.
	pivots int
	// sample is how many entries a fill weighs against each other.
	sample int
	// exchanges says whether fills are improved by exchanging pods.
	exchanges bool
}

// coarse is the search of a coarse problem. It was found by trying: with fewer
// candidates awake, or prices asked for less often, cost goes up faster than time goes
// down.
func coarse() effort {
	return effort{awake: 12, repriceShare: 0.35, tail: 0.02, pivots: 200, sample: 80}
}

// effort returns how much search a problem gets.
func (p *Problem) effort() effort {
	if p.Coarse {
		return coarse()
	}
	return effort{awake: 24, repriceShare: 0.16, tail: 0.02, pivots: maxPivots, sample: 160, exchanges: true}
}

// sampleFrom is the number of entries from which they are sampled.
func (e *effort) sampleFrom() int { return 2 * e.sample }
