package compile

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// preferred lists the classes whose preferences are worth their price, those with the highest worth
// first. Share is the share by which these preferences may raise the cost of a plan.
type preferred struct {
	Classes []int
	Share   float64
}

// findPreferred lists the classes with preferences to be bought. weighPreferences must have run.
func (p *Problem) findPreferred() {
	most := 0
	for c := range p.Preferences {
		if w := &p.Preferences[c]; w.Bought {
			p.Preferred.Classes = append(p.Preferred.Classes, c)
			most = max(most, w.weight)
		}
	}
	p.Preferred.Share = p.Opts.PreferenceCost * max(1, float64(most)/100)
	slices.SortStableFunc(p.Preferred.Classes, func(x, y int) int { return -cmp.Compare(p.Preferences[x].worth, p.Preferences[y].worth) })
}

// preferences are the soft constraints of a class that are worth their price.
type preferences struct {
	// Options are the options that the class prefers, nil if it prefers none.
	Options bitset.Set
	// Spans are the labels over which the class is to be spread, or kept together or apart, by
	// preference. Cells are the cells in which a place costs no more than its preferences are
	// worth.
	Spans []string
	Cells []topology.Cell

	// Steady are the options that remain if preferences do not count; nil means all. For pods that
	// CapacityMix keeps off spot, they are the options that are not spot.
	Steady bitset.Set
	// Bought says that preferences are to be satisfied. weight is the weight of those that are not
	// satisfied at the lowest price anyway. worth is the amount that all satisfied preferences may
	// cost for the pods of the class, relative to other classes.
	Bought bool
	weight int
	worth  float64
	// Choice describes the domains over which the class has soft constraints between pods; zero if
	// it has none.
	Choice DomainChoice
}

// DomainChoice says whether preferences over domains are worth their price for a class.
type DomainChoice struct {
	Launchable int     // cells in which new nodes for its pods can be launched
	Extra      float64 // unit-price cost of the second cheapest of them over the cheapest, as a share
	Allowed    float64 // the share that its heaviest preference is worth
	Affordable int     // cells that cost at most that share more
	Nodes      int     // estimated number of nodes of the plan
}

// NodesWanted returns the least number of nodes of a plan in which preferences over these domains
// are satisfied.
func (d *DomainChoice) NodesWanted() int { return leastNodes * d.Affordable }

// buy records that preferences are to be satisfied for a number of pods. all is the weight of all
// of them, and paid that of those that cost something.
func (w *preferences) buy(all, paid, pods int, rate float64) {
	w.Bought = true
	w.weight = max(w.weight, paid)
	w.worth += float64(all) * float64(pods) * rate
}

// weighPreferences decides which preferences of all classes are worth their price. The price is
// that of unit prices, as if nodes could be bought in parts. It takes O(options) for each class
// that has preferences.
func (p *Problem) weighPreferences(r *catalog.Rater) {
	p.Preferences = make([]preferences, len(p.Classes))
	large := math.NaN()
	for c := range p.Classes {
		class := &p.Classes[c]
		if class.Refusal != nil {
			continue
		}
		fitting := p.Admission.Lowered(c)
		if fitting.Empty() {
			continue
		}
		if class.NoSpot {
			if fitting = p.SteadyOptions(fitting); fitting.Empty() {
				continue
			}
			p.Preferences[c].Options, p.Preferences[c].Steady = fitting, fitting
		}
		if p.Opts.Preferences == model.Ignore {
			continue
		}
		if preferred := p.preferredOptions(c, fitting, r); preferred != nil {
			p.Preferences[c].Options = preferred
		}
		d := &p.Rules.ByClass[c]
		if len(d.Soft) == 0 || d.Phase != AtWill {
			continue
		}
		if math.IsNaN(large) {
			large = p.sizeOnPaper(r)
		}
		p.spreadPreferences(c, fitting, large, r)
	}
}

// leastNodes is the least number of nodes for each domain over which a preference spreads pods: the
// last node of each domain is half empty on average.
const leastNodes = 10

// spreadPreferences decides over which domains the preferences of a class are worth their price. In
// a plan of few nodes none is.
func (p *Problem) spreadPreferences(c int, fitting bitset.Set, large float64, r *catalog.Rater) {
	d := &p.Rules.ByClass[c]
	if p.Preferences[c].Options != nil {
		fitting = fitting.Clone()
		fitting.And(p.Preferences[c].Options)
	}
	heaviest := 0
	var spans ClassRules
	for _, rule := range d.Soft {
		heaviest = max(heaviest, p.Rules.Domain[rule].Term.Weight)
		spans.Span(p.Rules.Domain[rule].Term.Key)
	}
	keys := p.Table.Numbers(spans.Spans)
	if slices.Contains(keys, -1) {
		return
	}
	cells := p.Finder.Launchable(keys, fitting, p.Requests[c], r)
	cheapest := math.Inf(1)
	for i := range cells {
		cheapest = min(cheapest, cells[i].Cost)
	}
	choice := &p.Preferences[c].Choice
	choice.Allowed, choice.Nodes = p.Opts.PreferenceCost*float64(heaviest)/100, max(1, int(large))
	cells = slices.DeleteFunc(cells, func(cell topology.Cell) bool { return slices.Contains(cell.At, topology.None) })
	if choice.Launchable = len(cells); len(cells) > 1 {
		choice.Extra = secondCheapest(cells)/cheapest - 1
	}
	limit := cheapest * (1 + choice.Allowed)
	cells = slices.DeleteFunc(cells, func(cell topology.Cell) bool { return cell.Cost > limit })
	choice.Affordable = len(cells)
	if len(cells) < 2 || large < float64(choice.NodesWanted()) {
		return
	}
	p.Preferences[c].buy(heaviest, heaviest, len(p.Classes[c].Pods), cheapest)
	p.Preferences[c].Spans = spans.Spans
	p.Preferences[c].Cells = p.Finder.AddNodes(keys, cells, func(node int) int { return p.Copies(c, &p.Nodes[node]) })
}

// secondCheapest returns the cost of the second cheapest of several cells.
func secondCheapest(cells []topology.Cell) float64 {
	costs := make([]float64, len(cells))
	for i := range cells {
		costs[i] = cells[i].Cost
	}
	slices.Sort(costs)
	return costs[1]
}

// preferredOptions returns the options that satisfy most of a class's node preferences and are
// worth their price; nil if it has none.
func (p *Problem) preferredOptions(c int, fitting bitset.Set, r *catalog.Rater) bitset.Set {
	scores, most := p.scores(c, fitting)
	if most == 0 {
		return nil
	}
	without := fitting.Clone() // options of the pods without preferences
	p.KeepHeaviest(without, fitting)
	base, _ := r.Best(p.Requests[c], without)
	cheap := 0 // the best score at the lowest price
	for o := range without.All() {
		if r.Of(p.Requests[c], o) <= base*(1+1e-9) {
			cheap = max(cheap, scores[o])
		}
	}
	var levels []int
	for o := range fitting.All() {
		if s := scores[o]; s > 0 && !slices.Contains(levels, s) {
			levels = append(levels, s)
		}
	}
	slices.Sort(levels)
	for _, level := range slices.Backward(levels) {
		here := fitting.Clone()
		for o := range fitting.All() {
			if scores[o] < level {
				here.Remove(o)
			}
		}
		if rate, _ := r.Best(p.Requests[c], here); rate <= base*(1+p.Opts.PreferenceCost*float64(max(level-cheap, 0))/100) {
			p.Preferences[c].buy(level, level-cheap, len(p.Classes[c].Pods), base)
			return here
		}
	}
	return nil
}

// PreferNoSchedule is the weight of a PreferNoSchedule taint.
const PreferNoSchedule = 100

// scores returns, by option, the total weight of the preferences that it satisfies, and the highest
// of these.
func (p *Problem) scores(c int, fitting bitset.Set) (scores map[int]int, most int) {
	class := &p.Classes[c]
	scores = map[int]int{}
	add := func(here bitset.Set, weight int) {
		here.And(fitting)
		for o := range here.All() {
			scores[o] += weight
			most = max(most, scores[o])
		}
	}
	for _, pref := range class.Preferences {
		add(p.Satisfying(c, pref.Alternative), int(pref.Weight))
	}
	shunned := false
	for i := range p.Pools {
		shunned = shunned || len(model.Untolerated(model.SoftTaints(p.Pools[i].Object.Spec.Template.Spec.Taints), class.Tolerations)) > 0
	}
	for i := range p.Pools {
		pl := &p.Pools[i]
		if shunned && len(model.Untolerated(model.SoftTaints(pl.Object.Spec.Template.Spec.Taints), class.Tolerations)) == 0 {
			here := bitset.New(p.Admission.Domains.Total)
			here.AddRange(pl.First, pl.Last())
			add(here, PreferNoSchedule)
		}
	}
	return scores, most
}

// Satisfying returns the options that can have the labels of an alternative, whatever their taints.
func (p *Problem) Satisfying(c int, alt requirements.Alternative) bitset.Set {
	if alt.NodeNames != nil {
		return bitset.New(p.Admission.Domains.Total)
	}
	return p.satisfying(alt.Set)
}

// ExtraCost returns how much more a pod of a class costs by unit prices on one of some options, as
// a share of its cost without preferences; +Inf if it can use none of them.
func (p *Problem) ExtraCost(c int, preferred bitset.Set) float64 {
	fitting := p.WithoutPreferences(c)
	without := fitting.Clone()
	p.KeepHeaviest(without, fitting)
	r := p.Rates.Rater()
	base, _ := r.Best(p.Requests[c], without)
	rate, at := r.Best(p.Requests[c], fitting.Both(preferred))
	switch {
	case at < 0:
		return math.Inf(1)
	case rate <= base:
		return 0
	}
	return rate/base - 1
}

// WithoutPreferences returns the options that the pods of a class can have if preferences do not
// count.
func (p *Problem) WithoutPreferences(c int) bitset.Set {
	if steady := p.Preferences[c].Steady; steady != nil {
		return steady
	}
	return p.Admission.Lowered(c)
}

// sizeOnPaper returns the estimated number of nodes for all pods, if each class takes its share of
// its best option.
func (p *Problem) sizeOnPaper(r *catalog.Rater) float64 {
	sum := 0.0
	for c := range p.Classes {
		if p.Classes[c].Refusal != nil {
			continue
		}
		_, at := r.Best(p.Requests[c], p.Admission.Lowered(c))
		if at < 0 {
			continue
		}
		share := 0.0
		for i, want := range p.Requests[c] {
			if capacity := p.Option(at).Capacity[i]; want > 0 && capacity > 0 {
				share = max(share, float64(want)/float64(capacity))
			}
		}
		sum += share * float64(len(p.Classes[c].Pods))
	}
	return sum
}
