package repair

import "encoding/binary"

// failures are trials that place unplaced pods and have failed since the plan last changed, by
// their keys. The outcome of a trial depends on the plan and on nothing else, so that a repeated
// one fails again. Many are repeated: makeRoom repeats the trials of makeSomeRoom, sharing those of
// makeRoom, and the search for a lower cost those of the search for more pods.
type failures map[string]failure

// failure is the outcome of a trial that failed.
type failure struct {
	looks   int  // how many times it tried a node
	cheaper bool // it leaves as many pods unplaced at a lower cost
}

// failsAgain says whether a trial is known to fail, and counts its looks as if it were made.
func (r *search) failsAgain(t trial) bool {
	known, failed := r.failed[string(r.keyOf(t))]
	if !failed || known.cheaper && r.forLess || known.looks >= r.left {
		return false
	}
	r.left -= known.looks
	return true
}

// recordFailure records that a trial failed; before is the number of looks left when it began. A
// trial that ran out of looks is not recorded: it may succeed with more of them.
func (r *search) recordFailure(t trial, before int, cheaper bool) {
	if r.left > 0 {
		r.failed[string(r.keyOf(t))] = failure{looks: before - r.left, cheaper: cheaper}
	}
}

// keyOf returns the key of a trial, which the next call overwrites.
func (r *search) keyOf(t trial) []byte {
	r.key = binary.AppendUvarint(r.key[:0], uint64(r.mode))
	r.key = binary.AppendUvarint(r.key, uint64(t.lead))
	for _, podID := range t.out {
		r.key = binary.AppendUvarint(r.key, uint64(podID))
	}
	return r.key
}
