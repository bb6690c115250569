package verify

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// survey summarises a list of options for a question. Nodes with the same list and question share a
// survey.
type survey struct {
	// sound says that each option is in the catalog and available, and that the selections of the
	// question accept all of its nodes.
	sound bool
	// room is, by referee.asks, what every option has for pods; -1 if DaemonSets take more than
	// there is.
	room []int64
	// least is the lowest total of DaemonSet requests on any option. most is the total of all
	// DaemonSets that may run on an option whatever its labels, on the option where that total is
	// lowest. landed says that some option can be launched.
	landed      bool
	least, most resources.List
	// always are the DaemonSets that run on every option, and perhaps those that run on some only.
	always, perhaps []*podInfo

	cheapest *optionInfo // the first with the lowest price; nil if none of the list is in the catalog
	// reservations are those of any option, sorted. reservedOnly says that every option has one.
	reservations []string
	reservedOnly bool
	largest      resources.List // by resource that the pool limits: the most that any option has
	// values is, by label with minValues, the number of distinct values, and steady that of options
	// that are not spot.
	values, steady map[string]int
}

// survey returns the survey of a list, computed once.
func (r *referee) survey(q *question, list []cloudprovider.LaunchOption) *survey {
	id := idOf(list)
	if known := q.surveys[id]; known != nil {
		return known
	}
	options := r.located(q.pool, list)
	s := &survey{sound: len(options) == len(list), room: slices.Repeat([]int64{math.MaxInt64}, len(r.asks)), reservedOnly: true}
	q.surveys[id] = s
	largest := map[corev1.ResourceName]int64{}
	seen, open := map[*answer]bool{}, map[*answer]bool{}
	var steady []int32
	for _, i := range options {
		o, a := q.pool.stock.options[i], r.answer(q, i)
		s.sound = s.sound && a != nil && !a.refuses && !o.indebted && o.Offering.Launchable()
		if s.cheapest == nil || o.Offering.Price < s.cheapest.Offering.Price {
			s.cheapest = o
		}
		if id := o.Offering.ReservationID; id == "" {
			s.reservedOnly = false
		} else if !slices.Contains(s.reservations, id) {
			s.reservations = append(s.reservations, id)
		}
		if o.Offering.CapacityType != v1.CapacityTypeSpot {
			steady = append(steady, i)
		}
		for name := range q.pool.limits.All() {
			largest[name] = max(largest[name], o.capacity.Get(name))
		}
		if a == nil {
			continue
		}
		for k, have := range o.room {
			if have < a.most[k] {
				s.room[k] = -1
			} else {
				s.room[k] = min(s.room[k], have-a.most[k])
			}
		}
		free := r.openAnswer(q.pool, i)
		if !s.landed {
			s.landed, s.least, s.most = true, a.least, free.all
		}
		if !seen[a] {
			seen[a] = true
			s.least = s.least.Min(a.least)
		}
		if !open[free] {
			open[free] = true
			s.most = s.most.Min(free.all)
		}
	}
	slices.Sort(s.reservations)
	s.largest = resources.New(largest)
	s.values, s.steady = r.countValues(q, options), r.countValues(q, steady)
	for _, d := range q.pool.daemons {
		nodes, runs := 0, 0
		for a := range seen {
			for _, o := range a.nodes {
				if nodes++; o.admits(d.selection) {
					runs++
				}
			}
		}
		switch runs {
		case 0:
		case nodes:
			s.always = append(s.always, d)
		default:
			s.perhaps = append(s.perhaps, d)
		}
	}
	return s
}

// fits says whether every option has room for the requests of the pods on a node.
func (r *referee) fits(s *survey, requests resources.List) bool {
	for k, name := range r.asks {
		if amount := requests.Get(name); amount > 0 && amount > s.room[k] {
			return false
		}
	}
	return true
}

// countValues counts, by label with minValues, the distinct values over the available options. A
// label that an option does not define, or for which it allows infinitely many values, does not
// count.
func (r *referee) countValues(q *question, options []int32) map[string]int {
	counts := map[string]int{}
	for want := range q.pool.demands.All() {
		if want.MinValues() == 0 {
			continue
		}
		column := r.column(q.pool, want.Key())
		states := r.narrow(q, column, want.Key())
		seen, distinct := make([]bool, len(states)), map[string]bool{}
		for _, i := range options {
			at := column.state[i]
			if seen[at] || !states[at].own || !q.pool.stock.options[i].Offering.Launchable() {
				continue
			}
			seen[at] = true
			values, _ := states[at].Values()
			for _, value := range values {
				distinct[value] = true
			}
		}
		counts[want.Key()] = len(distinct)
	}
	return counts
}

// missedValues lists the requirements of a pool whose minValues exceeds the number of values.
func (p *poolInfo) missedValues(values map[string]int) (short []requirements.Requirement) {
	for want := range p.demands.All() {
		if values[want.Key()] < want.MinValues() {
			short = append(short, want)
		}
	}
	return short
}

// listID identifies a list of options by its address. The nodes of a plan share few lists, and each
// is checked once.
type listID struct {
	first  *cloudprovider.LaunchOption
	length int
}

func idOf(list []cloudprovider.LaunchOption) listID {
	if len(list) == 0 {
		return listID{}
	}
	return listID{&list[0], len(list)}
}

// holding lists the options with room for a request in addition to every DaemonSet that could run
// on them, and which may be launched as a node that the selections of the question accept. More
// DaemonSets are counted than can run at once, so that a cautious engine is never accused.
func (r *referee) holding(q *question, options []int32, asked resources.List) (holding []int32) {
	for _, i := range options {
		o, a := q.pool.stock.options[i], r.answer(q, i)
		if a == nil || o.indebted || !slices.ContainsFunc(a.nodes, func(n *outcome) bool { return n.admitsAll(q.selections) }) {
			continue
		}
		if room, err := o.allocatable.Sub(r.openAnswer(q.pool, i).all); err == nil && covers(room, asked) {
			holding = append(holding, i)
		}
	}
	return holding
}

// launches says whether a node may be launched with some options, at least one of them without
// reservation.
func (r *referee) launches(q *question, options []int32) bool {
	return slices.ContainsFunc(options, func(i int32) bool { return q.pool.stock.options[i].Offering.ReservationID == "" }) &&
		(r.policy == provisioning.BestEffort || len(q.pool.missedValues(r.countValues(q, options))) == 0)
}

// wantsValues says whether a pool has minValues that its nodes must satisfy.
func (r *referee) wantsValues(pool *poolInfo) bool {
	return r.policy != provisioning.BestEffort && len(pool.missedValues(nil)) > 0
}

// covers says whether room has what is requested, whatever else it lacks.
func covers(room, asked resources.List) bool {
	for name, amount := range asked.All() {
		if amount > 0 && amount > room.Get(name) {
			return false
		}
	}
	return true
}
