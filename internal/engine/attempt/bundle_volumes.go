package attempt

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
)

// The packer counts the volumes of each pod by themselves, as it does resources.
// Where that would run into the limit of a driver, although pods have volumes in
// common which a node attaches once, these pods are dealt with before.

// bundleShares puts pods of a class with volumes in common together, so that as
// many fit a node as would if only other resources counted. It leaves alone what
// must be looked at one by one.
func (b *bundler) bundleShares() {
	for c := range b.p.Classes {
		d := &b.p.Rules.Duties[c]
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

// shareSize is how many pods of a class have to count as one for attachments not
// to be what is short at the option that is best for the class by all else; 1 if
// they are not.
func shareSize(p *compile.Problem, c int) int {
	shared := map[int]bool{}
	for _, id := range p.Classes[c].Shares {
		shared[p.Extras.Attached.Dimensions[id]] = true
	}
	lowest, size := math.Inf(1), 1
	for o := range p.Admission.Lowered(c).All() {
		option := p.Option(o)
		by, room := int64(math.MaxInt32), int64(math.MaxInt32) // pods by attachments, and by all else
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
