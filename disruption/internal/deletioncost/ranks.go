package deletioncost

import "slices"

// rankStep is the distance between new ranks. It leaves room for nodes between two others later.
const rankStep = 1024

// Ranks returns ascending negative numbers, and keeps as many present numbers as possible. present
// has the number of each place; zero is none. It takes O(n log n).
func Ranks(present []int32) []int32 {
	out := make([]int32, len(present))
	keep := ascending(present)
	for from := 0; from <= len(present); {
		to := from // the next place that keeps its number, or the end
		for to < len(present) && !keep[to] {
			to++
		}
		end, count := int64(0), int64(to-from) // places to fill between lowest and end
		if to < len(present) {
			out[to] = present[to]
			end = int64(present[to])
		}
		lowest := end - (count+1)*rankStep
		if from > 0 {
			lowest = max(lowest, int64(out[from-1]))
		}
		step := (end - lowest) / (count + 1)
		if count > 0 && (step == 0 || lowest <= -1<<31) {
			return freshRanks(len(present))
		}
		for i := from; i < to; i++ {
			out[i] = int32(end - int64(to-i)*step)
		}
		from = to + 1
	}
	return out
}

// freshRanks returns ranks for n places that all get new numbers.
func freshRanks(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(-int64(n-i) * min(rankStep, (1<<31-1)/int64(n)))
	}
	return out
}

// ascending marks the places of a longest ascending sequence of numbers. Zeros are not part of it.
func ascending(numbers []int32) []bool {
	keep := make([]bool, len(numbers))
	before := make([]int, len(numbers)) // the previous place in the sequence
	var ends []int                      // by length: the place of the smallest number that ends such a sequence
	for i, n := range numbers {
		if n == 0 {
			continue
		}
		length, _ := slices.BinarySearchFunc(ends, n, func(place int, n int32) int { return int(int64(numbers[place]) - int64(n)) })
		before[i] = -1
		if length > 0 {
			before[i] = ends[length-1]
		}
		if length == len(ends) {
			ends = append(ends, i)
		} else {
			ends[length] = i
		}
	}
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			keep[i] = true
		}
	}
	return keep
}
