//go:build race

package provisioning_test

// underRace says whether the race detector watches.
const underRace = true
