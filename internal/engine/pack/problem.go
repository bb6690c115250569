// Package pack is the numeric core of the engine: it fills existing nodes and buys new ones, so
// that counts of identical pods are placed at the lowest cost.
//
// It knows nothing of Kubernetes. Pods are classes with a request vector and a count. Launch
// options are capacity vectors with a price. Every rule about labels and taints is reduced to the
// set of options that a class may use. All numbers except prices are integers, and results depend
// on neither chance, time nor map order.
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

	// Options are sorted by pool, and within a pool by ascending price.
	Options []Option

	// Capacities, if set, are the distinct capacities of Options, so that problems with the same
	// options need not compute them again.
	Capacities *levels.Capacities

	// Pools are in the order in which they are tried: ascending Tier.
	Pools []Pool

	// Nodes are existing nodes in the order in which they are filled.
	Nodes []Node

	// Reservations is, by reservation, the number of nodes that can be launched from it. Options of
	// several pools may share one.
	Reservations []int
	// StrictReservation makes nodes that use a reservation have only options of that reservation.
	StrictReservation bool

	// Flexible, if set, requires nodes bought as certain options to have several kinds of them.
	Flexible *Flexible

	// Fee is added to the price of every new node when plans are compared, in USD per hour.
	Fee float64

	// NoBound leaves Result.Bound zero. The packing does not change.
	NoBound bool

	// Coarse makes the search short; see effort.
	Coarse bool

	// Rules are constraints between the pods of one node.
	Rules []Rule

	// Traits handles the labels that options leave open; nil if no variant has a trait.
	Traits Traits
}

// Class is a group of identical pods.
type Class struct {
	Request  []int64
	Count    int
	Variants []Variant

	// Urgency is the factor by which the class takes precedence where there is not room for all; 0
	// means 1. Classes with an urgency above 1 are packed first, whatever that costs.
	Urgency float64

	// Content says that nodes of these pods may have fewer kinds than Flexible requires.
	Content bool

	// Memberships say how each pod counts in the rules, sorted by rule.
	Memberships []Membership

	// Kind is equal for classes that may use the same options, apart from room: the relaxation that
	// prices pods distinguishes only kinds. Kinds are numbered from 0 without gaps.
	Kind int
}

// Variant is one way to place the pods of a class on new nodes.
type Variant struct {
	// Options are the options that hold one pod of the class, by labels, taints and room.
	Options bitset.Set
	// Trait is the requirement of the pods on labels that options leave open; 0 requires nothing.
	Trait int32
}

// Traits combines requirements on the labels that options leave open. All methods must be safe for
// concurrent use.
type Traits interface {
	// Merge returns the trait that requires both, or false if no node of the pool can satisfy both.
	Merge(pool int, a, b int32) (int32, bool)
	// Options returns the options of the pool that can satisfy the trait, as a window.
	Options(pool int, trait int32) bitset.Set
	// Values returns the value numbers of a MinValue of the pool that a node with the trait can
	// still have; nil means all.
	Values(pool, minValue int, trait int32) bitset.Set
}

// Option is one way to launch a node.
type Option struct {
	Price    float64 // USD per hour
	Capacity []int64 // allocatable minus daemons

	// Reservation is 1 + the index of the reservation that a launch uses, 0 if it uses none.
	Reservation int
}

// Pool is a range of options under common rules.
type Pool struct {
	First, Last int // its options are [First, Last)
	Tier        int

	// Limits is, by limited resource, what may still be used; nil means no limits.
	Limits []int64
	// Uses is, by option from First on, what a launch uses of each limited resource.
	Uses [][]int64
	// Levels is levels.Index.New of Uses; nil means that it is computed.
	Levels *levels.Table

	MinValues []MinValue
	// BestEffort lowers a MinValue to the values available.
	BestEffort bool
}

// MinValue requires at least Need distinct values among the options of a node. Values has, by
// option of the pool from First on, its value numbers.
type MinValue struct {
	Need   int
	Values [][]int32
	Count  int // value numbers are in [0, Count)
}

// Flexible requires a node that is bought as one of its options to have at least Need kinds of
// them. A node bought as another option that has fewer kinds drops all of these options. Pods that
// nothing else serves require at most the kinds available to them.
type Flexible struct {
	Need    int
	Options bitset.Set
	Kinds   []int32 // by option: its kind
	Count   int     // kinds are in [0, Count)
}

// Node is an existing node.
type Node struct {
	Free        []int64
	Classes     bitset.Set   // classes that may run here by labels and taints
	Memberships []Membership // of the pods that run here, summed by rule
}

// Result is a packing.
type Result struct {
	// Nodes has, by existing node, the pods it takes.
	Nodes [][]Share
	// New are the nodes to launch, tier by tier.
	New []Launch
	// Left is, by class, the number of pods without a place.
	Left []int
	// Bound is a lower bound on the cost of New.
	Bound float64
	Steps int
}

// Share is a number of pods of one class on one node.
type Share struct {
	Class   int
	Variant int // index in Variants of the class; not used on existing nodes
	Count   int
}

// Launch is a number of identical new nodes.
type Launch struct {
	Pool    int
	Copies  int
	Shares  []Share    // on each copy, sorted by class
	Options bitset.Set // each option holds the shares
	// Wide are the options that the launch could have if the limits of its pool were larger; nil if
	// that is not needed. They hold the shares and satisfy everything else.
	Wide        bitset.Set
	Trait       int32
	Price       float64 // of the cheapest option, in USD per hour
	Reservation int     // 1 + the index of the reservation that it uses, 0 for none
	Relaxed     bool    // a MinValue was lowered
}

// useLevels returns the table of what launches use of the limits, nil if there are no limits.
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

// worthOf returns the total worth of shares.
func worthOf(shares []Share, value []float64) float64 {
	sum := 0.0
	for _, sh := range shares {
		sum += float64(value[sh.Class] * float64(sh.Count))
	}
	return sum
}

// effort says how much a greedy run searches.
type effort struct {
	// awake is the number of candidates compared while prices stay the same. At dual prices every
	// candidate worth buying has the same ceiling, so many are close to it.
	awake int
	// repriceShare is the share of the pods left after whose purchase prices are computed again, if
	// it is at least the share tail of all pods at the start.
	repriceShare, tail float64
	// pivots is the number of simplex steps for each computation of prices; duals are close to the
	// optimum long before.
	pivots int
	// sample is the number of entries that a fill compares.
	sample int
	// exchanges says whether fills are improved by exchanging pods.
	exchanges bool
}

// coarse returns the effort of a coarse problem. The values were found by experiment: with fewer
// candidates awake, or prices computed less often, cost rises more than time falls.
func coarse() effort {
	return effort{awake: 12, repriceShare: 0.35, tail: 0.02, pivots: 200, sample: 80}
}

// effort returns the effort of a problem.
func (p *Problem) effort() effort {
	if p.Coarse {
		return coarse()
	}
	return effort{awake: 24, repriceShare: 0.16, tail: 0.02, pivots: maxPivots, sample: 160, exchanges: true}
}

// sampleFrom returns the number of entries above which a fill samples them.
func (e *effort) sampleFrom() int { return 2 * e.sample }
