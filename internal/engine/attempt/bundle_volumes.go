package attempt

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
)

// The packer counts the volumes of each pod separately, as it does resources, but a node attaches a
// volume that several pods share only once. Where counting them separately would reach the limit of
// a CSI driver, pods that share volumes are bundled before packing.

// bundleShares bundles pods of a class that share volumes, so that a node takes as many of them as
// other resources allow. It skips classes whose pods must be placed one by one.
func (b *bundler) bundleShares() {
	for c := range b.p.Classes {
		d := &b.p.Rules.ByClass[c]
		if b.left[c] < 2 || len(b.p.Classes[c].Shares) == 0 || len(d.With) > 0 || len(d.All) > 0 || d.Phase < compile.ByDomain || d.Phase > compile.AtWill {
			continue
		}
		for size := shareSize(b.p, c); size > 1 && b.left[c] > 1; {
			if !b.bundleSome(c, []int{c}, d.Phase, size-1) {
				break
			}
		}
	}
}

// shareSize returns how many pods of a class must be bundled so that volume attachments are not the
// scarcest resource on the option that is best for the class by all other resources; 1 if they are
// not the scarcest anyway.
func shareSize(p *compile.Problem, c int) int {
	shared := map[int]bool{}
	for _, id := range p.Classes[c].Shares {
		shared[p.Extras.Attached.Dimensions[id]] = true
	}
	lowest, size := math.Inf(1), 1
	for o := range p.Admission.Lowered(c).All() {
		option := p.Option(o)
		by, room := int64(math.MaxInt32), int64(math.MaxInt32) // pods that fit by attachments, and by all other resources
		for r, want := range p.Requests[c] {
			switch {
			case want <= 0:
			case shared[r]:
				by = min(by, option.Capacity[r]/want)
			default:
				room = min(room, option.Capacity[r]/want)
			}
		}
		if rate := option.Offering.Price / float64(room); by > 0 && rate < lowest {
			lowest, size = rate, int((room+by-1)/by)
		}
	}
	return size
}
