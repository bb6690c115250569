package command

import "fmt"

// DidYouMean is a question to end an error with, or nothing where no known
// name resembles the one given.
func DidYouMean(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// nearest returns the known name that the fewest slips of the hand make of the
// one given, the first of several, or nothing if it takes too many.
func nearest(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, k := range known {
		if n := slips(name, k); n < least {
			best, least = k, n
		}
	}
	return best
}

// slips counts the bytes to insert, leave out or replace to make b of a.
func slips(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			kept := before
			if a[i] != b[j] {
				kept++
			}
			before = row[j+1]
			row[j+1] = min(kept, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
