// Package spelling tells how far apart two words are, for hints at what was meant.
package spelling

import "fmt"

// Distance counts the insertions, deletions and substitutions of one byte, and the swaps
// of two neighbours, that make a into b.
func Distance(a, b string) int {
	// The rows of the usual table for i-2, i-1 and i bytes of a.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			substituted := last[j]
			if a[i] != b[j] {
				substituted++
			}
			row[j+1] = min(substituted, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// DidYouMean returns a question that ends an error message, such as "; did you mean web?". It names
// the known name with the smallest Distance, of several the first. It is empty if no known name is
// similar to the given one.
func DidYouMean(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, k := range known {
		if n := Distance(name, k); n < least {
			best, least = k, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}
