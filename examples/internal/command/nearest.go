package command

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/internal/spelling"
)

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
		if n := spelling.Distance(name, k); n < least {
			best, least = k, n
		}
	}
	return best
}
