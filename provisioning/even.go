package provisioning

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// Where limits leave room for fewer nodes than pods are to be spread over, the
// packer buys what it buys, and domains without a node do not count: all nodes may
// be in one. So domains are assigned once more, with as many of them as there are
// nodes, each with its even share of what found a place.

// even returns a plan, or one that places as many pods more evenly.
func (p *Problem) even(ctx context.Context, s *attempt, r *pack.Result, plan *Plan) (*Plan, error) {
	rooms := s.evenRooms(p, r, plan)
	if rooms == nil || p.skips(evenCells) {
		return plan, nil
	}
	o := s.again()
	o.relaxed, o.rooms = s.relaxed, rooms
	tries := []hints{o}
	if raised := p.raises(s, r, plan); len(raised) > 0 && !p.skips(evenNodes) {
		o.raised = raised[0].raised
		tries = append(tries, o)
	}
	for _, o := range tries {
		next := p.newAttempt(o)
		if len(next.units) != len(s.units) {
			continue
		}
		var err error
		if plan, err = p.better(ctx, plan, next); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// evenRooms are, by unit and cell, the even shares of the pods that a plan places;
// nil if all is even enough, or nothing shows that cells held less than was to go
// there.
func (s *attempt) evenRooms(p *Problem, r *pack.Result, plan *Plan) [][]int {
	if s.rooms == nil || !p.limited() {
		return nil
	}
	found, _ := s.placed(r)
	in := p.placedIn(plan)
	nodes := len(plan.Create) + len(plan.Bind)
	var out [][]int
	some := false
	for u := range s.units {
		unit, class := &s.units[u], &s.problem.Classes[u]
		rooms := make([]int, len(class.Cells))
		for cell := range rooms {
			rooms[cell] = class.Cells[cell].Room
		}
		if rule := s.spreadOf(u); rule >= 0 && unit.bundle < 0 && unit.pinned < 0 && !unit.leads {
			count := min(in[unit.members[0].class], unit.count)
			if rooms = s.shares(p, u, rule, count, nodes); used(rooms) > used(found[u]) {
				some = true
			}
		}
		out = append(out, rooms)
	}
	if !some {
		return nil
	}
	return out
}

// spreadOf is the first hard topology spread of a unit, -1 if it has none.
func (s *attempt) spreadOf(u int) int {
	for _, own := range s.problem.Classes[u].Owns {
		if own.Weight == 0 && s.problem.Rules[own.Rule].Kind == topology.Spread {
			return own.Rule
		}
	}
	return -1
}

// used counts the cells that something goes to.
func used(cells []int) int {
	n := 0
	for _, count := range cells {
		if count > 0 {
			n++
		}
	}
	return n
}

// shares divides pods of a unit evenly among at most so many of its cells: those
// with room on nodes that exist first, then the cheapest. What is there counts.
func (s *attempt) shares(p *Problem, u, rule, count, most int) []int {
	cells := s.units[u].cells
	key := slices.Index(s.problem.Classes[u].Keys, s.problem.Rules[rule].Key)
	var order []int
	for cell := range cells {
		if cells[cell].At[key] >= 0 && cells[cell].Room > 0 {
			order = append(order, cell)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(-compareBools(cells[a].Free > 0, cells[b].Free > 0), cmp.Compare(cells[a].Cost, cells[b].Cost))
	})
	order = order[:min(len(order), most)]
	members := slices.Clone(s.problem.Rules[rule].Members)
	out := make([]int, len(cells))
	for ; count > 0 && len(order) > 0; count-- {
		least := order[0]
		for _, cell := range order {
			if members[cells[cell].At[key]] < members[cells[least].At[key]] {
				least = cell
			}
		}
		out[least]++
		members[cells[least].At[key]]++
	}
	return out
}

// placedIn counts the pods that a plan places, by class.
func (p *Problem) placedIn(plan *Plan) []int {
	unplaced := map[*corev1.Pod]bool{}
	for i := range plan.Unplaced {
		unplaced[plan.Unplaced[i].Pod] = true
	}
	out := make([]int, len(p.classes))
	for c := range p.classes {
		for _, podID := range p.classes[c].pods {
			if !unplaced[p.pods[podID]] {
				out[c]++
			}
		}
	}
	return out
}

// limited says whether some pool has limits.
func (p *Problem) limited() bool {
	return slices.ContainsFunc(p.lowPools, func(pool pack.Pool) bool { return pool.Limits != nil })
}

// unevenness is how unevenly a plan spreads pods over domains by hard constraints:
// for each, the sum of the squares of what is in each domain. It is worked out only
// where there are limits, which decide how even pods can be.
func (a *assembler) unevenness() int {
	p := a.p
	if !p.limited() || !slices.ContainsFunc(p.rules.domain, func(r domainRule) bool { return r.owned && r.Kind == topology.Spread }) {
		return 0
	}
	a.findClasses()
	counts := make([][]int, len(p.rules.domain))
	for i := range p.rules.domain {
		counts[i] = slices.Clone(p.rules.domain[i].Members)
	}
	add := func(podID int32, at []location) {
		for _, r := range p.rules.duties[a.classOf[podID]].joins {
			rule := &p.rules.domain[r]
			if !rule.owned || rule.Kind != topology.Spread || rule.Rule.Key < 0 {
				continue
			}
			if domains := at[rule.Rule.Key].domains; len(domains) == 1 {
				counts[r][domains[0]]++
			}
		}
	}
	for i, podIDs := range a.bound {
		at := p.nodeLocations(&p.nodes[i])
		for _, podID := range podIDs {
			add(podID, at)
		}
	}
	for _, s := range a.new {
		for _, podID := range s.podIDs {
			add(podID, p.binTypeLocations(s.binType))
		}
	}
	sum := 0
	for i := range counts {
		if rule := &p.rules.domain[i]; rule.owned && rule.Kind == topology.Spread {
			for _, n := range counts[i] {
				sum += n * n
			}
		}
	}
	return sum
}
