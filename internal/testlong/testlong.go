// Package testlong tells tests how long they may take. By default a test over random seeds runs few
// of them, so that all tests together take a few minutes. With the environment variable
// DOVETAIL_LONG=1, which .ci/run sets, it runs as many as fit into twenty minutes for all tests,
// and with DOVETAIL_LONG=all, which make laws sets, it runs all its seeds. By default only tests
// that cannot be shortened are skipped; go test -short is the same as the default.
package testlong

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// Variable is the name of the environment variable that asks for the long run.
const Variable = "DOVETAIL_LONG"

// On reports whether the long run was requested: the variable is set, and neither empty nor 0, and
// go test does not have the flag -short.
func On() bool {
	v := os.Getenv(Variable)
	return v != "" && v != "0" && !testing.Short()
}

// All tells whether laws are to look at every seed that they have.
func All() bool { return On() && os.Getenv(Variable) == "all" }

// Seeds returns how many seeds a law is to look at: many in the long run, few by
// default, and a third of these where the race detector watches: more problems begin no
// other goroutines. It takes any other measure of work as well.
func Seeds(few, many int) int {
	switch {
	case On():
		return many
	case UnderRace:
		return max(few/3, 1)
	}
	return few
}

// Problems returns on how many of all random problems that a law has it is to be tried: on
// all if every seed was asked for, on a third but no fewer than some in the long run, and on
// some otherwise.
func Problems(all, some int) uint64 {
	if All() {
		return uint64(all)
	}
	return uint64(Seeds(some, max(some, all/3)))
}

// Only skips a test that cannot be shortened, unless the long run was requested.
func Only(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skip("set " + Variable + "=1 to run it")
	}
}

// Alone skips a long test that runs on one core, if the race detector is on: no other
// goroutine runs with which the test could race. Without the detector the test runs.
func Alone(t testing.TB) {
	t.Helper()
	if UnderRace {
		t.Skip("runs on one core: there is nothing that it could race with")
	}
}

// collectEvery is by how many percent what is in use grows until garbage is collected, and
// memory the size from which on it is collected earlier.
const (
	collectEvery = 400
	memory       = 3 << 30
)

// Main runs the tests of a package that make much garbage and keep little: to collect it a
// quarter as often takes a third to a half off their time, and some dozens of MB. It is the
// whole of a TestMain. The environment variables GOGC and GOMEMLIMIT have the last word, and
// benchmarks run as a program of a user does.
func Main(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(collectEvery)
		}
		if os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(memory)
		}
	}
	m.Run()
}
