package verify

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// optionSummary is what a list of options amounts to under a brief. Nodes that
// share both, as copies of one launch do, share the survey; what depends on how
// much the pods of one node ask for in sum is compared with it.
type optionSummary struct {
	// sound says that each option is in the catalog and on sale, may run the
	// pods, and is at odds with nothing. If not, a tally says what is wrong.
	sound bool
	// room is what every option has for pods, of each of referee.asks. Below
	// zero no pod that asks for any fits.
	room []int64

	// landed says that some option can be a node. Then least is what DaemonSets
	// ask for on any of those options, and most what all of them ask for that
	// could run there if the labels were left open: the least on any option.
	landed      bool
	least, most resources.List

	// cheapest is the first of the options with the lowest price, nil if the
	// catalog has none of them.
	cheapest *optionInfo
	// reservations are those that some option draws on, sorted; with reservedOnly
	// set all options do.
	reservations []string
	reservedOnly bool
	// worst is the most that any option has of each limited resource.
	worst resources.List
	// values counts the values of each label with minValues, and steady those of
	// the options that are not spot.
	values, steady map[string]int
	// tallies are the faults in detail, by what the pods ask for in sum.
	tallies map[string]*faultTally
	// always are the DaemonSets that run on every option, perhaps the others
	// that run on some.
	always, perhaps []*podInfo
}

// survey looks at every option of a list once.
func (r *referee) survey(b *labelQuestion, list []cloudprovider.LaunchOption) *optionSummary {
	id := r.idOf(list)
	if known := b.surveys[id]; known != nil {
		return known
	}
	options := r.located(b.pool, list)
	s := &optionSummary{sound: len(options) == len(list), room: make([]int64, len(r.asks))}
	b.surveys[id] = s
	for k := range s.room {
		s.room[k] = math.MaxInt64
	}
	known, open := map[*labelSet]bool{}, map[*labelSet]bool{}
	for _, i := range options {
		o, g := b.stock.options[i], r.groundOf(b, i)
		s.sound = s.sound && g != nil && !g.refuses && !o.indebted && o.Offering.Launchable()
		if s.cheapest == nil || o.Offering.Price < s.cheapest.Offering.Price {
			s.cheapest = o
		}
		if g == nil {
			continue
		}
		for k, have := range o.room {
			if have < g.most[k] {
				s.room[k] = -1
			} else {
				s.room[k] = min(s.room[k], have-g.most[k])
			}
		}
		if !s.landed {
			s.landed, s.least, s.most = true, g.least, r.openGround(b.pool, i).anywhere
		}
		if !known[g] {
			known[g] = true
			s.least = s.least.Min(g.least)
		}
		if free := r.openGround(b.pool, i); !open[free] {
			open[free] = true
			s.most = s.most.Min(free.anywhere)
		}
	}
	s.reservations, s.reservedOnly = r.drawnOn(b, options)
	s.always, s.perhaps = r.attendance(b.pool, known)
	s.worst = r.worst(b, options)
	s.values = r.countValues(b, options)
	if s.values != nil {
		s.steady = r.countValues(b, slices.DeleteFunc(slices.Clone(options), func(i int32) bool {
			return b.stock.options[i].Offering.CapacityType == v1.CapacityTypeSpot
		}))
	}
	return s
}

// fits says whether every option has room for what the pods of a node ask for.
func (r *referee) fits(s *optionSummary, requests resources.List) bool {
	for name, asked := range requests.All() {
		if asked <= 0 {
			continue
		}
		if k, known := slices.BinarySearch(r.asks, name); !known || asked > s.room[k] {
			return false
		}
	}
	return true
}

// worst is the most that any of options has of each resource that the pool
// limits.
func (r *referee) worst(b *labelQuestion, options []int32) resources.List {
	worst := map[corev1.ResourceName]int64{}
	for name := range b.pool.limits.All() {
		worst[name] = 0
		for _, i := range options {
			worst[name] = max(worst[name], b.stock.options[i].capacity.Get(name))
		}
	}
	return resources.New(worst)
}

// attendance says which DaemonSets of a pool run on all landings, and which only
// on some.
func (r *referee) attendance(pool *poolInfo, grounds map[*labelSet]bool) (always, perhaps []*podInfo) {
	landings := 0
	counts := map[*podInfo]int{}
	for g := range grounds {
		for _, l := range g.landings {
			landings++
			for _, d := range l.daemons {
				counts[d]++
			}
		}
	}
	for _, d := range pool.daemons {
		switch counts[d] {
		case 0:
		case landings:
			always = append(always, d)
		default:
			perhaps = append(perhaps, d)
		}
	}
	return always, perhaps
}

// drawnOn lists the reservations of options, and says whether there is nothing
// else.
func (*referee) drawnOn(b *labelQuestion, options []int32) (names []string, only bool) {
	only = true
	for _, i := range options {
		switch id := b.stock.options[i].Offering.ReservationID; {
		case id == "":
			only = false
		case !slices.Contains(names, id):
			names = append(names, id)
		}
	}
	slices.Sort(names)
	return names, only
}
