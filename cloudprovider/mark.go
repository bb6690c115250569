package cloudprovider

import (
	"fmt"
	"time"
)

// Mark says that the offerings within a scope are not to be had for a time.
type Mark struct {
	// Scope is what is marked.
	Scope Scope
	// Reason is why: the cloud's code, or what the caller gave.
	Reason string
	// Since is when the scope was first marked without a break, Until when the
	// mark ends; at that instant it no longer holds.
	Since, Until time.Time
}

// String returns one line, as in
// "m5.large/zone-a/spot unavailable until 2026-01-02T15:04:05Z: no stock".
func (m Mark) String() string {
	text := fmt.Sprintf("%s unavailable until %s", m.Scope, m.Until.UTC().Format(time.RFC3339))
	if m.Reason != "" {
		text += ": " + m.Reason
	}
	return text
}

// queuedMark is a Mark, which is never written to, and its place in the queue,
// which only who holds the lock may look at.
type queuedMark struct {
	Mark
	index int
}

// markQueue is a heap of marks: the one to end next, then the first by scope,
// is on top.
type markQueue []*queuedMark

func (q markQueue) Len() int { return len(q) }

func (q markQueue) Less(i, j int) bool {
	if c := q[i].Until.Compare(q[j].Until); c != 0 {
		return c < 0
	}
	return q[i].Scope.Compare(q[j].Scope) < 0
}

func (q markQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *markQueue) Push(m any) {
	m.(*queuedMark).index = len(*q)
	*q = append(*q, m.(*queuedMark))
}

func (q *markQueue) Pop() any {
	last := len(*q) - 1
	m := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return m
}
