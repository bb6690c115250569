package disruption

import (
	"time"
)

// settling is a node that consolidation must send no pod to for now.
type settling struct {
	// Node is its name.
	Node string
	// Until is when it takes pods again; zero if that is not known, as the
	// node is not initialized.
	Until time.Time
}

// String is the node and until when, in one line.
func (s settling) String() string {
	if s.Until.IsZero() {
		return s.Node + ", not initialized"
	}
	return s.Node + " until " + instant(s.Until)
}

// settling lists the nodes that pods have come to or left within
// consolidateAfter, by name: where pods move, others should not move yet, or
// nodes would be filled and emptied in circles. They take pods that are pending
// all the same, and pods of nodes that are on their way out. Nodes of pools whose
// consolidateAfter is Never or 0s always take pods, and so do those of pools that
// are static, not ready or being deleted, or not there.
func (f *Cluster) settling() []settling {
	var out []settling
	for _, m := range f.nodes {
		if m.pool == nil || !m.managed() || m.pool.static() || !m.pool.ready() {
			continue
		}
		after := m.pool.consolidateAfter.Duration
		if after == nil || *after <= 0 {
			continue
		}
		since, known := f.lastPodEvent(m)
		switch until := since.Add(*after); {
		case !known:
			out = append(out, settling{Node: m.name})
		case until.After(f.now):
			out = append(out, settling{Node: m.name, Until: until})
		}
	}
	return out
}
