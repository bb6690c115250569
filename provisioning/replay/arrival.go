package replay

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// maxArrivals bounds how often nodes come up in a round: each time the cluster is read
// again.
const maxArrivals = 16

// arrivals are groups of nodes in the order in which they come up in a run.
func arrivals(coming []provisioning.Node, number int, d *dice) [][]provisioning.Node {
	if len(coming) == 0 {
		return nil
	}
	if number == 0 {
		return [][]provisioning.Node{coming}
	}
	order := slices.Clone(coming)
	switch number {
	case 1:
	case 2:
		slices.Reverse(order)
	default:
		for i := len(order) - 1; i > 0; i-- {
			j := d.draw(i + 1)
			order[i], order[j] = order[j], order[i]
		}
	}
	size := (len(order) + maxArrivals - 1) / maxArrivals
	return slices.Collect(slices.Chunk(order, size))
}

// dice draws what kube-scheduler leaves to chance: the same for the same start, after
// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
type dice struct{ state uint64 }

// draw is a number from 0 to n-1.
func (d *dice) draw(n int) int {
	d.state += 0x9e3779b97f4a7c15
	x := d.state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return int(x % uint64(n))
}
