// Package measure times both contenders in the same way.
package measure

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"
)

// Cost is the cost of a piece of work: wall time in seconds, and bytes and objects allocated.
type Cost struct {
	Seconds       float64
	Bytes, Allocs uint64
}

// Of runs work and returns its cost. It collects garbage first, so that the work does not pay for
// earlier garbage. It reads the counters of the whole process: nothing else may run meanwhile.
func Of(work func() error) (Cost, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err := work()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return Cost{
		Seconds: took.Seconds(),
		Bytes:   after.TotalAlloc - before.TotalAlloc,
		Allocs:  after.Mallocs - before.Mallocs,
	}, err
}

// Profiled runs work and writes a CPU profile of it to the file; an empty file writes no profile.
func Profiled(file string, work func() error) (err error) {
	if file == "" {
		return work()
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() {
		if failed := out.Close(); err == nil {
			err = failed
		}
	}()
	if err := pprof.StartCPUProfile(out); err != nil {
		return fmt.Errorf("profile %s: %w", file, err)
	}
	defer pprof.StopCPUProfile()
	return work()
}

// Sum returns the sum of the values.
func Sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

// Median returns the middle of the values, the mean of the two middle ones if their number is even,
// and 0 if there are none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
