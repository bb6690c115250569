package simcluster

import "time"

// Event is a change of a cluster at a given time after the start of a simulation.
type Event struct {
	After  time.Duration
	Name   string // for plots; empty for an event that plots leave out
	Text   string // one line for a story
	Happen func(World) error
}

// World is a simulation that events change.
type World interface {
	// Cluster is the cluster of the simulation.
	Cluster() *Cluster
	// Restart replaces the autoscaler by one that has no state except the objects in the cluster.
	Restart() error
}

// Due takes the events from the front of a list that are due at an instant. It returns them and
// the others. The list is in the order of After.
func Due(events []Event, since time.Duration) (due, later []Event) {
	n := 0
	for n < len(events) && events[n].After <= since {
		n++
	}
	return events[:n], events[n:]
}
