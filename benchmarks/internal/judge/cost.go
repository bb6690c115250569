package judge

import (
	"fmt"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Cost returns what the new nodes of a plan cost at the cheapest launch that
// each allows, in USD per hour. A reservation is used only as often as it holds,
// by the claims in their order. A claim that allows no launch is an error.
func (j *Judge) Cost(p *scenario.Plan) (float64, error) {
	sum := 0.0
	used := map[string]int{}
	for i := range p.NewNodeClaims {
		o, err := j.cheapest(&p.NewNodeClaims[i], used)
		if err != nil {
			return 0, fmt.Errorf("newNodeClaims[%d]: %w", i, err)
		}
		if o.CapacityType == v1.CapacityTypeReserved {
			used[o.ReservationID]++
		}
		sum += o.Price
	}
	return sum, nil
}

// cheapest returns the offering by which the claim is launched.
func (j *Judge) cheapest(c *scenario.NewNodeClaim, used map[string]int) (*cloudprovider.Offering, error) {
	asked, err := requirements.FromRequirements(c.Requirements, j.vocabulary)
	if err != nil {
		return nil, err
	}
	sold, ok := j.byName[c.NodePool]
	if !ok {
		return nil, fmt.Errorf("there is no node pool %q", c.NodePool)
	}
	var best *cloudprovider.Offering
	for _, name := range c.InstanceTypes {
		t, ok := sold[name]
		if !ok {
			return nil, fmt.Errorf("pool %s cannot launch %q", c.NodePool, name)
		}
		for i := range t.Offerings {
			o := &t.Offerings[i]
			full := o.CapacityType == v1.CapacityTypeReserved && used[o.ReservationID] >= o.ReservationCapacity
			if !o.Launchable() || full || best != nil && best.Price <= o.Price {
				continue
			}
			labels := cloudprovider.LaunchOption{InstanceType: t, Offering: o}.Requirements()
			if !asked.Intersect(labels).Impossible() {
				best = o
			}
		}
	}
	if best == nil {
		return nil, fmt.Errorf("none of its %d instance types can be launched as it asks", len(c.InstanceTypes))
	}
	return best, nil
}
