//go:build kubernetes138

package main

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/api"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
)

// trackSlices starts a tracker of the ResourceSlices of objects. From 1.38 on the tracker has its
// own type for them.
func trackSlices(ctx context.Context, o *objects) (*tracker.Tracker, error) {
	informer := api.NewInformerForResourceSlice(o)
	return tracker.StartTracker(ctx, tracker.Options{SliceInformer: informer, SliceLister: api.NewResourceSliceLister(informer.GetIndexer())})
}

// loadSlices loads ResourceSlices in the type that the tracker reads.
func loadSlices(o *objects, slices []*resourcev1.ResourceSlice) error {
	read := make([]*api.ResourceSlice, len(slices))
	for i, slice := range slices {
		read[i] = &api.ResourceSlice{}
		if err := api.Convert_v1_ResourceSlice_To_api_ResourceSlice(slice, read[i], nil); err != nil {
			return err
		}
	}
	return load(o, read)
}
