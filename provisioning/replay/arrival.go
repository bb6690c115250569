package replay

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/chance"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// maxArrivals bounds how often nodes come up in a round: each time the cluster is read
// again.
const maxArrivals = 16

// arrivals are groups of nodes in the order in which they come up in a run.
func arrivals(coming []provisioning.Node, number int, dice *chance.Stream) [][]provisioning.Node {
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
			j := draw(dice, i+1)
			order[i], order[j] = order[j], order[i]
		}
	}
	size := (len(order) + maxArrivals - 1) / maxArrivals
	return slices.Collect(slices.Chunk(order, size))
}

// draw is a number from 0 to n-1: what kube-scheduler leaves to chance, the same for the
// same start.
func draw(dice *chance.Stream, n int) int { return int(dice.Next() % uint64(n)) }
