//go:build !kubernetes138

package main

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
)

// trackSlices starts a tracker of the ResourceSlices of objects.
func trackSlices(ctx context.Context, o *objects) (*tracker.Tracker, error) {
	return tracker.StartTracker(ctx, tracker.Options{SliceInformer: o.Resource().V1().ResourceSlices()})
}

// loadSlices loads ResourceSlices in the type that the tracker reads.
func loadSlices(o *objects, slices []*resourcev1.ResourceSlice) error { return load(o, slices) }
