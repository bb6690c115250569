package provisioning

import (
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// setFlexible states Options.SpotFlexibility for the packer.
func (p *Problem) setFlexible() {
	if p.opts.SpotFlexibility < 2 {
		return
	}
	f := &pack.Flexible{Need: p.opts.SpotFlexibility, Options: bitset.New(p.admission.domains.total)}
	number := map[*cloudprovider.InstanceType]int32{}
	for i := range p.pools {
		for j := range p.pools[i].options {
			o := &p.pools[i].options[j]
			id, ok := number[o.InstanceType]
			if !ok {
				id = int32(len(number))
				number[o.InstanceType] = id
			}
			f.Kinds = append(f.Kinds, id)
			if o.Offering.CapacityType == v1.CapacityTypeSpot {
				f.Options.Add(p.pools[i].first + j)
			}
		}
	}
	f.Count = len(number)
	p.flexible = f
}
