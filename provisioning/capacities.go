package provisioning

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
)

// capacities remembers what the options of a market have for pods, as the
// problem solved last on it had it: of thousands of what-ifs nearly all ask
// about the same resources. The zero value remembers nothing. What it gives is
// what would be worked out anew, so that nobody can tell who asked before.
type capacities struct {
	mu   sync.Mutex
	last *capacitiesOf
}

// capacitiesOf are the capacities in the dimensions of one problem. They are
// not written once they are kept.
type capacitiesOf struct {
	resources []corev1.ResourceName
	of        []capacityOf // by option
	onDaemon  []bitset.Set
}

// find returns what is known in the dimensions of a problem, or nil.
func (c *capacities) find(p *Problem) *capacitiesOf {
	if !p.countsResourcesOnly() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || !slices.Equal(c.last.resources, p.resources) {
		return nil
	}
	return c.last
}

// keep remembers the capacities of a problem.
func (c *capacities) keep(p *Problem) {
	if !p.countsResourcesOnly() {
		return
	}
	known := &capacitiesOf{resources: p.resources, onDaemon: p.onDaemon}
	for i := range p.pools {
		for j := range p.pools[i].options {
			o := &p.pools[i].options[j]
			known.of = append(known.of, capacityOf{free: o.capacity, daemons: o.daemons})
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = known
}

// countsResourcesOnly says whether nothing but resources takes room in the
// problem: no seats, no volumes and no devices, which mean something else in
// each problem.
func (p *Problem) countsResourcesOnly() bool {
	return len(p.rules.seats) == 0 && p.extras.counts == nil && len(p.extras.drivers) == 0
}
