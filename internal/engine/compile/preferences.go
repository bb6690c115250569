package compile

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// preferred are the classes whose preferences are worth their price on paper, those
// first that matter most; and the share that a plan may cost more for their sake.
type preferred struct {
	Classes []int
	Share   float64
}

// findPreferred lists the classes with wishes. Each must have been weighed.
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

// preferences are the soft constraints of a class, as far as they are worth what
// they cost.
type preferences struct {
	// options are those that the class prefers, nil if it has no preference.
	Options bitset.Set
	// spans and cells are the labels over which the class is rather spread or
	// kept together or apart, and where it may go at a price that is worth it.
	Spans []string
	Cells []topology.Cell

	// steady are the options that remain if preferences do not count, nil if
	// all do: those that are not spot, for pods that CapacityMix keeps off it.
	Steady bitset.Set
	// bought says that preferences are followed, weight is that of those which are
	// not met at the lowest price anyway, and worth what all that are met may cost
	// for the pods of the class, relative to that of others.
	Bought bool
	weight int
	worth  float64
	// Choice is what the class can choose from over the labels of its soft constraints
	// between pods; zero if it is not asked.
	Choice DomainChoice
}

// DomainChoice says whether preferences over domains are worth their price for a class.
type DomainChoice struct {
	Launchable int     // cells in which new nodes for its pods can be launched
	Extra      float64 // what the second cheapest of them costs more than the cheapest on paper, as a share
	Allowed    float64 // the share that its heaviest preference is worth
	Affordable int     // cells that cost no more than that
	Nodes      int     // how many nodes the plan comes to on paper
}

// NodesWanted is how many nodes a plan has at least for preferences over the domains to be
// followed.
func (d *DomainChoice) NodesWanted() int { return leastNodes * d.Affordable }

// buy notes that preferences of some weight are followed for pods at a rate.
func (w *preferences) buy(all, paid, pods int, rate float64) {
	w.Bought = true
	w.weight = max(w.weight, paid)
	w.worth += float64(all) * float64(pods) * rate
}

// weighPreferences works out the wishes of all classes. Each costs what it
// costs on paper: a share of a node, as if nodes could be bought in pieces. It
// takes O(options) for each class that has any.
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
		d := &p.Rules.Duties[c]
		if len(d.Soft) == 0 || d.Phase != AtWill {
			continue
		}
		if math.IsNaN(large) {
			large = p.sizeOnPaper(r)
		}
		p.spreadPreferences(c, fitting, large, r)
	}
}

// leastNodes is how many nodes there must be for each domain that pods are
// spread over for the sake of a preference: the last node of each is on
// average half empty.
const leastNodes = 10

// spreadPreferences works out over which domains the preferences of a class are
// worth their price. In a plan of few nodes none is.
func (p *Problem) spreadPreferences(c int, fitting bitset.Set, large float64, r *catalog.Rater) {
	d := &p.Rules.Duties[c]
	if p.Preferences[c].Options != nil {
		fitting = fitting.Clone()
		fitting.And(p.Preferences[c].Options)
	}
	heaviest := 0
	var spans Duty
	for _, rule := range d.Soft {
		heaviest = max(heaviest, p.Rules.Domain[rule].Term.Weight)
		spans.Span(p.Rules.Domain[rule].Key)
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

// secondCheapest is what the second cheapest of several cells costs.
func secondCheapest(cells []topology.Cell) float64 {
	costs := make([]float64, len(cells))
	for i := range cells {
		costs[i] = cells[i].Cost
	}
	slices.Sort(costs)
	return costs[1]
}

// preferredOptions returns the options that satisfy most of what a class
// prefers of its node and are worth their price; nil if it is indifferent.
func (p *Problem) preferredOptions(c int, fitting bitset.Set, r *catalog.Rater) bitset.Set {
	scores, most := p.scores(c, fitting)
	if most == 0 {
		return nil
	}
	without := fitting.Clone() // where the pods go if preferences do not count
	p.KeepHeaviest(without, fitting)
	base, _ := r.Best(p.Requests[c], without)
	cheap := 0 // the best score at the lowest rate
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

// PreferNoSchedule is the weight of a taint that pods would rather not have.
const PreferNoSchedule = 100

// scores sums up, by option, the weights of the preferences that it satisfies.
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

// Satisfying returns the options that can have the labels which an alternative asks for,
// whatever their taints.
func (p *Problem) Satisfying(c int, alt requirements.Alternative) bitset.Set {
	out := bitset.New(p.Admission.Domains.Total)
	if alt.NodeNames == nil {
		anywhere := p.Classes[c]
		anywhere.Tolerations = tolerateAll
		p.Admission.addMatching(out, &anywhere, alt, false)
	}
	return out
}

// ExtraCost is what a pod of a class costs more on paper if it is to have one of some options,
// as a share of what it costs without its preferences; infinite if it can have none of them.
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

// WithoutPreferences are the options that the pods of a class can have if preferences do not
// count.
func (p *Problem) WithoutPreferences(c int) bitset.Set {
	if steady := p.Preferences[c].Steady; steady != nil {
		return steady
	}
	return p.Admission.Lowered(c)
}

// Option returns an option by its number among those of all pools.
func (p *Problem) Option(number int) *catalog.Option {
	i := sort.Search(len(p.Pools), func(i int) bool { return p.Pools[i].First > number }) - 1
	return &p.Pools[i].Options[number-p.Pools[i].First]
}

// sizeOnPaper is how many nodes all pods come to if each class takes its share
// of the option that is best for it.
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
