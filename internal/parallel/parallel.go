// Package parallel runs independent pieces of work on several goroutines. What the pieces compute may
// not depend on how many run at once, so that a result is the same on any machine.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// most is the largest default width: more goroutines help little, and a library should leave some
// cores to its caller.
const most = 4

// Width returns how many goroutines to use for an option of that value: the value itself, or, if it is
// not above zero, as many as run at once, and four at most.
func Width(option int) int {
	if option > 0 {
		return option
	}
	return min(runtime.GOMAXPROCS(0), most)
}

// Each calls do with the numbers from 0 to n-1, at most width calls at a time, and returns when all
// have returned. The goroutine of the caller takes part. With a width of 1 the calls are in order.
func Each(width, n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	var others sync.WaitGroup
	for range min(width, n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
