package repair

import (
	"encoding/binary"
	"strconv"
)

// failures are trials that have failed since the plan last changed, by their keys. The outcome of a
// trial depends on the plan and on nothing else, so that a repeated trial fails again. Many are repeated: makeRoom repeats the trials of makeSomeRoom, sharing those of
// makeRoom, and the search for a lower cost those of the search for more pods.
type failures map[string]failure

// failure is the outcome of a trial that failed.
type failure struct {
	looks   int   // how many times it tried a node
	cheaper bool  // it leaves as many pods unplaced at a lower cost
	pod     int32 // because of which it failed, if it was about the cost
}

// failsAgain says whether a trial is known to fail, and counts its looks as if it were made.
func (r *search) failsAgain(t trial, queue []int32) bool {
	known, failed := r.failed[string(r.keyOf(t, queue))]
	if !failed || known.cheaper && r.forLess || known.looks >= r.left {
		return false
	}
	r.left -= known.looks
	if !r.placing {
		r.fails[known.pod]++
	}
	return true
}

// recordFailure records that the current trial failed; before is the number of looks left when it
// began. A trial that ran out of looks is not recorded: it may succeed with more of them.
func (r *search) recordFailure(before int, cheaper bool) {
	if r.left > 0 {
		r.failed[string(r.key)] = failure{looks: before - r.left, cheaper: cheaper, pod: r.failedPod}
	}
}

// keyOf returns the key of a trial, which the next call overwrites. A trial about the cost depends
// on the order of its pods and on its rules; there are few of them for a plan with few nodes.
func (r *search) keyOf(t trial, queue []int32) []byte {
	if !r.placing {
		r.key = r.key[:0]
		for _, rule := range []bool{r.fills, r.turns, r.weighs} {
			r.key = strconv.AppendBool(r.key, rule)
		}
		for _, podID := range queue {
			r.key = binary.AppendUvarint(r.key, uint64(podID))
		}
		return r.key
	}
	r.key = binary.AppendUvarint(r.key[:0], uint64(r.mode))
	r.key = binary.AppendUvarint(r.key, uint64(t.lead))
	for _, podID := range t.out {
		r.key = binary.AppendUvarint(r.key, uint64(podID))
	}
	return r.key
}
