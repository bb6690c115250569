package buffers

import (
	"fmt"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/storage"
)

// Kind says what a fault is about.
type Kind int

// The kinds of faults: a number or a name that is wrong, an entry out of order, a reason that is
// missing or too many.
const (
	Wrong Kind = iota
	Misplaced
	Unexplained
)

// Fault is something wrong with what a plan says of buffers.
type Fault struct {
	Kind    Kind
	Message string
}

// Check compares what a plan says of buffers with where it puts their pods: on existing nodes,
// on fresh ones, or nowhere.
func Check(in []provisioning.Buffer, statuses []provisioning.BufferStatus, existing, fresh map[storage.Key]bool) (faults []Fault) {
	report := func(kind Kind, format string, args ...any) {
		faults = append(faults, Fault{kind, fmt.Sprintf(format, args...)})
	}
	said := map[storage.Key]*provisioning.BufferStatus{}
	var last storage.Key
	for i := range statuses {
		s := &statuses[i]
		key := storage.Key{Namespace: s.Namespace, Name: s.Name}
		known := slices.ContainsFunc(in, func(b provisioning.Buffer) bool { return b.Namespace == s.Namespace && b.Name == s.Name })
		switch {
		case !known:
			report(Wrong, "Buffers says how buffer %s fares, which is not in the input", key)
		case said[key] != nil:
			report(Wrong, "Buffers says twice how buffer %s fares", key)
		case last.Compare(key) > 0:
			report(Misplaced, "buffer %s comes after %s; Buffers is sorted by namespace and name", key, last)
		}
		said[key], last = s, key
	}
	for i := range in {
		b := &in[i]
		key := storage.Key{Namespace: b.Namespace, Name: b.Name}
		s := said[key]
		if s == nil {
			report(Wrong, "Buffers does not say how buffer %s fares", key)
			continue
		}
		old, young, left := 0, 0, 0
		for _, pod := range b.Pods() {
			switch key := (storage.Key{Namespace: pod.Namespace, Name: pod.Name}); {
			case existing[key]:
				old++
			case fresh[key]:
				young++
			default:
				left++
			}
		}
		if s.Existing != old || s.Fresh != young || s.Unplaced != left {
			report(Wrong, "Buffers says that buffer %s has %d pods on existing nodes, %d on new ones and %d on none, but they are %d, %d and %d",
				key, s.Existing, s.Fresh, s.Unplaced, old, young, left)
		}
		if (s.Reason != nil) != (left > 0) {
			report(Unexplained, "buffer %s has %d pods without a place, and Buffers gives a reason: %t", key, left, s.Reason != nil)
		}
	}
	return faults
}
