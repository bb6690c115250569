//go:build !race

package disruption_test

// underRace says whether the race detector watches.
const underRace = false
