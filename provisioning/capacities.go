package provisioning

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// capacities remembers what the options of a catalog have for pods, as problems
// on it had it: of thousands of what-ifs nearly all ask about the same few sets of
// resources. The zero value remembers nothing. What it gives is what would be
// worked out anew, so that nobody can tell who asked before.
type capacities struct {
	mu    sync.Mutex
	known []*capacitiesOf // the last ones kept, newest first
}

// mostCapacities is how many sets of resources are remembered.
const mostCapacities = 8

// capacitiesOf are the options in the dimensions of one problem. They are not
// written once they are kept.
type capacitiesOf struct {
	resources []corev1.ResourceName
	options   [][]option // by pool
	onDaemon  []bitset.Set
	low       []pack.Option
	distinct  *pack.Capacities
	rates     *unitPrices
}

// find returns what is known in the dimensions of a problem, or nil.
func (c *capacities) find(p *Problem) *capacitiesOf {
	if !p.countsResourcesOnly() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, known := range c.known {
		if slices.Equal(known.resources, p.resources) {
			return known
		}
	}
	return nil
}

// keep remembers the capacities of a problem.
func (c *capacities) keep(p *Problem, of *capacitiesOf) {
	if !p.countsResourcesOnly() || c.find(p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = slices.Insert(c.known[:min(len(c.known), mostCapacities-1)], 0, of)
}

// countsResourcesOnly says whether nothing but resources takes room in the
// problem: no slots, no volumes and no devices, which mean something else in
// each problem.
func (p *Problem) countsResourcesOnly() bool {
	return len(p.rules.slots) == 0 && p.extras.counts == nil && len(p.extras.drivers) == 0
}
