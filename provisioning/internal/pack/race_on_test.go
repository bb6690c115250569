//go:build race

package pack_test

// underRace says whether the race detector watches.
const underRace = true
