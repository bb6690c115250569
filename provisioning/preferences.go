package provisioning

import (
	"math"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// preferences are the soft constraints of a class, as far as they are worth what
// they cost.
type preferences struct {
	// options are those that the class prefers, nil if it has no preference.
	options bitset.Set
	// spans and cells are the labels over which the class is rather spread or
	// kept together or apart, and where it may go at a price that is worth it.
	spans []string
	cells []topology.Cell

	// steady are the options that remain if preferences do not count, nil if
	// all do: those that are not spot, for pods that CapacityMix keeps off it.
	steady bitset.Set
	// bought says that preferences are followed, weight is that of those which are
	// not met at the lowest price anyway, and worth what all that are met may cost
	// for the pods of the class, relative to that of others.
	bought bool
	weight int
	worth  float64
}

// buy notes that preferences of some weight are followed for pods at a rate.
func (w *preferences) buy(all, paid, pods int, rate float64) {
	w.bought = true
	w.weight = max(w.weight, paid)
	w.worth += float64(all) * float64(pods) * rate
}

// weighPreferences works out the wishes of all classes. Each costs what it
// costs on paper: a share of a node, as if nodes could be bought in pieces. It
// takes O(options) for each class that has any.
func (p *Problem) weighPreferences(r *rater) {
	p.preferences = make([]preferences, len(p.classes))
	large := math.NaN()
	for c := range p.classes {
		class := &p.classes[c]
		if class.refusal != nil {
			continue
		}
		fitting := p.admission.lowered(c)
		if fitting.Empty() {
			continue
		}
		if class.noSpot {
			if fitting = p.steadyOptions(fitting); fitting.Empty() {
				continue
			}
			p.preferences[c].options, p.preferences[c].steady = fitting, fitting
		}
		if p.opts.Preferences == Ignore {
			continue
		}
		if preferred := p.preferredOptions(c, fitting, r); preferred != nil {
			p.preferences[c].options = preferred
		}
		d := &p.rules.duties[c]
		if len(d.soft) == 0 || d.phase != atWill {
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
func (p *Problem) spreadPreferences(c int, fitting bitset.Set, large float64, r *rater) {
	d := &p.rules.duties[c]
	if p.preferences[c].options != nil {
		fitting = fitting.Clone()
		fitting.And(p.preferences[c].options)
	}
	heaviest := 0
	var spans duty
	for _, rule := range d.soft {
		heaviest = max(heaviest, p.rules.domain[rule].term.weight)
		spans.span(p.rules.domain[rule].key)
	}
	keys := p.table.numbers(spans.spans)
	if slices.Contains(keys, -1) {
		return
	}
	cells := p.finder.launchable(keys, fitting, p.requests[c], r)
	cheapest := math.Inf(1)
	for i := range cells {
		cheapest = min(cheapest, cells[i].Cost)
	}
	limit := cheapest * (1 + p.opts.PreferenceCost*float64(heaviest)/100)
	cells = slices.DeleteFunc(cells, func(cell topology.Cell) bool { return cell.Cost > limit || slices.Contains(cell.At, topology.None) })
	if len(cells) < 2 || large < float64(leastNodes*len(cells)) {
		return
	}
	p.preferences[c].buy(heaviest, heaviest, len(p.classes[c].pods), cheapest)
	p.preferences[c].spans = spans.spans
	p.preferences[c].cells = p.finder.addNodes(keys, cells, func(node int) int { return p.copies(c, &p.nodes[node]) })
}

// preferredOptions returns the options that satisfy most of what a class
// prefers of its node and are worth their price; nil if it is indifferent.
func (p *Problem) preferredOptions(c int, fitting bitset.Set, r *rater) bitset.Set {
	scores, most := p.scores(c, fitting)
	if most == 0 {
		return nil
	}
	without := fitting.Clone() // where the pods go if preferences do not count
	p.keepHeaviest(without, fitting)
	base, _ := r.best(p.requests[c], without)
	cheap := 0 // the best score at the lowest rate
	for o := range without.All() {
		if r.of(p.requests[c], o) <= base*(1+1e-9) {
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
		if rate, _ := r.best(p.requests[c], here); rate <= base*(1+p.opts.PreferenceCost*float64(max(level-cheap, 0))/100) {
			p.preferences[c].buy(level, level-cheap, len(p.classes[c].pods), base)
			return here
		}
	}
	return nil
}

// preferNoSchedule is the weight of a taint that pods would rather not have.
const preferNoSchedule = 100

// scores sums up, by option, the weights of the preferences that it satisfies.
func (p *Problem) scores(c int, fitting bitset.Set) (scores map[int]int, most int) {
	class := &p.classes[c]
	scores = map[int]int{}
	add := func(here bitset.Set, weight int) {
		here.And(fitting)
		for o := range here.All() {
			scores[o] += weight
			most = max(most, scores[o])
		}
	}
	for _, pref := range class.preferences {
		if pref.NodeNames == nil {
			here := bitset.New(p.admission.domains.total)
			anywhere := *class
			anywhere.tolerations = tolerateAll
			p.admission.addMatching(here, &anywhere, pref.Alternative, false)
			add(here, int(pref.Weight))
		}
	}
	shunned := false
	for i := range p.pools {
		shunned = shunned || len(untolerated(softTaints(p.pools[i].object.Spec.Template.Spec.Taints), class.tolerations)) > 0
	}
	for i := range p.pools {
		pl := &p.pools[i]
		if shunned && len(untolerated(softTaints(pl.object.Spec.Template.Spec.Taints), class.tolerations)) == 0 {
			here := bitset.New(p.admission.domains.total)
			here.AddRange(pl.first, pl.last())
			add(here, preferNoSchedule)
		}
	}
	return scores, most
}

// softTaints are those that pods would rather not have.
func softTaints(taints []corev1.Taint) []corev1.Taint {
	var soft []corev1.Taint
	for _, t := range taints {
		if t.Effect == corev1.TaintEffectPreferNoSchedule {
			soft = append(soft, t)
		}
	}
	return soft
}

// option returns an option by its number among those of all pools.
func (p *Problem) option(number int) *option {
	i := sort.Search(len(p.pools), func(i int) bool { return p.pools[i].first > number }) - 1
	return &p.pools[i].options[number-p.pools[i].first]
}

// sizeOnPaper is how many nodes all pods come to if each class takes its share
// of the option that is best for it.
func (p *Problem) sizeOnPaper(r *rater) float64 {
	sum := 0.0
	for c := range p.classes {
		if p.classes[c].refusal != nil {
			continue
		}
		_, at := r.best(p.requests[c], p.admission.lowered(c))
		if at < 0 {
			continue
		}
		share := 0.0
		for i, want := range p.requests[c] {
			if capacity := p.option(at).capacity[i]; want > 0 && capacity > 0 {
				share = max(share, float64(want)/float64(capacity))
			}
		}
		sum += share * float64(len(p.classes[c].pods))
	}
	return sum
}
