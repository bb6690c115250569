package pricing

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// AddNodeCost returns types whose offerings have the price of the whole node. cost returns for each
// type the cost of a node in addition to its instance, in USD per hour: volumes, a public address,
// licences, agents. It is added to Offering.Price and stored in Offering.NodeCost, so that plans,
// proposals and bounds count the whole bill. A node cost from an earlier call is replaced.
//
// An offering without a price stays without one, because the cost of the instance is not known. A
// cost that is NaN, infinite or below zero counts as zero. Apply overlays afterwards: they change
// the price of the instance alone.
//
// The input is not modified: types that differ are replaced by copies, the others are
// shared with the input. The slice is the caller's and has the order of the input; an entry
// that is nil stays nil.
func AddNodeCost(types []*cloudprovider.InstanceType, cost func(*cloudprovider.InstanceType) float64) []*cloudprovider.InstanceType {
	out := slices.Clone(types)
	for i, t := range types {
		if t == nil {
			continue
		}
		extra := cost(t)
		if !(extra >= 0) || math.IsInf(extra, 0) {
			extra = 0
		}
		for j := range t.Offerings {
			o := &t.Offerings[j]
			if o.Price == 0 || o.NodeCost == extra {
				continue
			}
			if out[i] == t {
				out[i] = t.Clone()
			}
			n := &out[i].Offerings[j]
			n.Price, n.NodeCost = o.Price-o.NodeCost+extra, extra
		}
	}
	return out
}
