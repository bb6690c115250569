package judge

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// supply is a kind of node that can be bought.
type supply struct {
	group int       // index of cover.hosts: which parties the node may host
	price float64   // USD per hour
	room  []float64 // by resource, as a share of the total demand of all parties
}

// cover is the linear programme. Its unknowns are a price for each resource on each group of nodes
// (nodes that host the same parties), such that no node has resources worth more than the node
// costs. A unit of a resource is worth to a party the least of those prices over the groups that
// host the party. The demand of all parties is then worth no more than any nodes that hold it cost,
// because each unit is held on a group where it is worth at least as much. The maximum of that
// worth is the bound.
type cover struct {
	names    []corev1.ResourceName
	demand   [][]float64 // by party and resource, as a share of the total
	hosts    [][]bool    // by group and party
	supplies []supply
}

// Bound returns a lower bound, in USD per hour, on the cost of any new nodes that take the pods
// that this plan puts on new nodes. It returns 0 if there are none.
func (j *Judge) Bound(p *scenario.Plan) (float64, error) {
	parties, err := j.parties(p)
	if err != nil || len(parties) == 0 {
		return 0, err
	}
	c, err := j.cover(parties)
	if err != nil {
		return 0, err
	}
	for i := range parties {
		if !slices.ContainsFunc(c.hosts, func(h []bool) bool { return h[i] }) {
			return 0, fmt.Errorf("the plan puts %s on a new node, and no node that can be bought may host it", parties[i].name)
		}
	}
	return c.value(c.prices()), nil
}

func (j *Judge) cover(parties []party) (*cover, error) {
	c := &cover{}
	var whole []float64
	sum := parties[0].demand
	for _, p := range parties[1:] {
		var err error
		if sum, err = sum.Add(p.demand); err != nil {
			return nil, fmt.Errorf("the sum of all pods: %w", err)
		}
	}
	for name, amount := range sum.All() {
		if amount > 0 {
			c.names = append(c.names, name)
			whole = append(whole, float64(amount))
		}
	}
	for _, p := range parties {
		share := make([]float64, len(c.names))
		for r, name := range c.names {
			share[r] = float64(p.demand.Get(name)) / whole[r]
		}
		c.demand = append(c.demand, share)
	}
	for _, pool := range j.pools {
		if err := j.offer(c, pool, parties, whole); err != nil {
			return nil, fmt.Errorf("pool %s: %w", pool.Name, err)
		}
	}
	return c, nil
}

// offer adds every way to launch a node of a pool. whole is the total demand by resource.
func (j *Judge) offer(c *cover, pool *v1.NodePool, parties []party, whole []float64) error {
	asked, err := requirements.FromNodePool(pool, j.Vocabulary)
	if err != nil {
		return err
	}
	taints := pool.Spec.Template.Spec.Taints
	for _, option := range launch.Compatible(j.Catalogs[pool.Name], asked) {
		labels := asked.Intersect(option.Requirements())
		room, err := option.InstanceType.AllocatableFor(option.Offering)
		if err != nil {
			return err
		}
		daemons, err := j.daemonsOn(labels, taints)
		if err != nil {
			return err
		}
		if room, err = room.Sub(daemons); err != nil {
			return err
		}
		hosted := make([]bool, len(parties))
		for i := range parties {
			hosted[i] = parties[i].least.Fits(room) && parties[i].runsOn(labels, taints, j.Vocabulary)
		}
		amounts := make([]float64, len(c.names))
		for r, name := range c.names {
			amounts[r] = max(0, float64(room.Get(name))) / whole[r]
		}
		c.add(hosted, option.Offering.Price, amounts)
	}
	return nil
}

// add adds a supply unless it is useless: it hosts no party, or another supply of its group has as
// much room and costs no more.
func (c *cover) add(hosted []bool, price float64, room []float64) {
	if !slices.Contains(hosted, true) {
		return
	}
	group := slices.IndexFunc(c.hosts, func(h []bool) bool { return slices.Equal(h, hosted) })
	if group < 0 {
		group = len(c.hosts)
		c.hosts = append(c.hosts, hosted)
	}
	one := supply{group: group, price: price, room: room}
	for i := range c.supplies {
		if c.supplies[i].beats(&one) {
			return
		}
	}
	c.supplies = append(slices.DeleteFunc(c.supplies, func(s supply) bool { return one.beats(&s) }), one)
}

// beats reports whether s makes t useless: same group, no higher price, as much room.
func (s *supply) beats(t *supply) bool {
	if s.group != t.group || s.price > t.price {
		return false
	}
	for r := range s.room {
		if s.room[r] < t.room[r] {
			return false
		}
	}
	return true
}

// prices solves the programme and returns the prices, by group and resource. The variables are
// those prices, and the worth of a unit to each party.
func (c *cover) prices() [][]float64 {
	kinds := len(c.names)
	columns := (len(c.hosts) + len(c.demand)) * kinds
	priceAt := func(group, r int) int { return group*kinds + r }
	worthAt := func(party, r int) int { return (len(c.hosts)+party)*kinds + r }
	p := programme{gain: make([]float64, columns)}
	for i := range c.demand {
		copy(p.gain[worthAt(i, 0):], c.demand[i])
	}
	for _, s := range c.supplies {
		row := make([]float64, columns)
		copy(row[priceAt(s.group, 0):], s.room)
		p.rows = append(p.rows, row)
		p.limits = append(p.limits, s.price)
	}
	for g, hosted := range c.hosts {
		for i, runs := range hosted {
			for r := 0; runs && r < kinds; r++ {
				row := make([]float64, columns)
				row[worthAt(i, r)], row[priceAt(g, r)] = 1, -1
				p.rows = append(p.rows, row)
				p.limits = append(p.limits, 0)
			}
		}
	}
	solution := p.solve()
	out := make([][]float64, len(c.hosts))
	for g := range out {
		out[g] = solution[priceAt(g, 0) : priceAt(g, 0)+kinds]
	}
	return out
}

// value returns the bound that the prices prove. Prices that make some node worth more than it
// costs are scaled down until none is, so that an approximate solution still gives a valid bound.
func (c *cover) value(prices [][]float64) float64 {
	scale := 1.0
	for _, s := range c.supplies {
		worth := 0.0
		for r, room := range s.room {
			worth += room * max(0, prices[s.group][r])
		}
		if worth > s.price*scale {
			if s.price <= 0 {
				return 0 // a node that is worth something is free
			}
			scale = worth / s.price
		}
	}
	sum := 0.0
	for i, demand := range c.demand {
		for r, amount := range demand {
			sum += amount * c.worth(prices, i, r) / scale
		}
	}
	return sum
}

// worth returns what a unit of a resource is worth to a party: the least of its prices over the
// groups that host the party.
func (c *cover) worth(prices [][]float64, party, r int) float64 {
	least := -1.0
	for g, hosted := range c.hosts {
		if price := max(0, prices[g][r]); hosted[party] && (least < 0 || price < least) {
			least = price
		}
	}
	return max(0, least)
}
