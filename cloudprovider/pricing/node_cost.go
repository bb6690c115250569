package pricing

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// AddNodeCost returns types whose offerings cost what the whole node does: cost says for
// each type what a node has beside its instance, in USD per hour, such as volumes, a public
// address, licences and agents. It is added to Offering.Price, and Offering.NodeCost says
// how much of the price it is, so that plans, proposals and bounds count the bill. What was
// added before is replaced.
//
// An offering without a price stays without one, as what the instance costs is not known.
// A cost that is no amount (NaN, infinite or below zero) counts as zero. Overlays come
// afterwards, and change the price of the instance alone.
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
