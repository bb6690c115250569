package screen

import (
	"math"
	"math/bits"
)

// Loose is a pod that needs a place.
type Loose struct {
	// Request is what it asks for.
	Request []int64
	// Admits tells for each room whether it admits the pod.
	Admits []bool
}

// ExactLimit is for how many pods Exact tries every way.
const ExactLimit = 9

// Exact finds the cheapest places for a few pods: in rooms, which cost nothing, or
// on new nodes of a supply, cheapest first. It returns for each pod the number of
// its room, -1 for a new node, and what the new nodes cost; infinite if there is no
// way.
func Exact(pods []Loose, rooms [][]int64, supply []Supply) (where []int, cost float64) {
	if len(pods) > ExactLimit {
		return nil, math.Inf(1)
	}
	all := 1<<len(pods) - 1
	sum := sums(pods)
	layers := [][]float64{launched(sum, supply)}
	chosen := [][]int{nil}
	for r, room := range rooms {
		last := layers[r]
		next, choice := make([]float64, all+1), make([]int, all+1)
		fit := fitting(pods, sum, r, room)
		for mask := range next {
			next[mask] = last[mask]
			for sub := mask; sub > 0; sub = (sub - 1) & mask {
				if fit[sub] && last[mask&^sub] < next[mask] {
					next[mask], choice[mask] = last[mask&^sub], sub
				}
			}
		}
		layers, chosen = append(layers, next), append(chosen, choice)
	}
	cost = layers[len(rooms)][all]
	if math.IsInf(cost, 1) {
		return nil, cost
	}
	where = make([]int, len(pods))
	for i := range where {
		where[i] = -1
	}
	mask := all
	for r := len(rooms); r > 0; r-- {
		taken := chosen[r][mask]
		for i := range pods {
			if taken&(1<<i) != 0 {
				where[i] = r - 1
			}
		}
		mask &^= taken
	}
	return where, cost
}

// sums is what each set of pods asks for.
func sums(pods []Loose) [][]int64 {
	out := make([][]int64, 1<<len(pods))
	for mask := 1; mask < len(out); mask++ {
		i := bits.TrailingZeros(uint(mask))
		out[mask] = make([]int64, len(pods[i].Request))
		rest := out[mask&(mask-1)]
		for d, n := range pods[i].Request {
			out[mask][d] = n
			if rest != nil {
				out[mask][d] += rest[d]
			}
		}
	}
	return out
}

// launched is what new nodes cost for each set of pods.
func launched(sum [][]int64, supply []Supply) []float64 {
	one, out := make([]float64, len(sum)), make([]float64, len(sum))
	for mask := 1; mask < len(sum); mask++ {
		one[mask] = math.Inf(1)
		for _, s := range supply {
			if within(sum[mask], s.Room) {
				one[mask] = s.Price
				break
			}
		}
		out[mask] = one[mask]
		for sub := (mask - 1) & mask; sub > 0; sub = (sub - 1) & mask {
			out[mask] = min(out[mask], one[sub]+out[mask&^sub])
		}
	}
	return out
}

// fitting tells which sets of pods fit into a room.
func fitting(pods []Loose, sum [][]int64, r int, room []int64) []bool {
	out := make([]bool, len(sum))
	for mask := 1; mask < len(sum); mask++ {
		ok := within(sum[mask], room)
		for i := range pods {
			ok = ok && (mask&(1<<i) == 0 || pods[i].Admits[r])
		}
		out[mask] = ok
	}
	return out
}

func within(request, room []int64) bool {
	for d, n := range request {
		if n > 0 && n > room[d] {
			return false
		}
	}
	return true
}
