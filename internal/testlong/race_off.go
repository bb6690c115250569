//go:build !race

package testlong

// UnderRace says whether the race detector watches. It slows a test down tenfold, and
// looks for something else than laws do.
const UnderRace = false
