package workload

import (
	"reflect"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Indexes are the indexed storage and device objects of an input. They depend on no pods and are
// read-only, so problems with the same objects and options share them.
type Indexes struct {
	Volumes *volume.Index
	Devices *device.Index

	storage model.Volumes // objects of which the indexes were made
	claimed model.Devices
}

// newIndexes indexes the objects and reports their faults. It reuses known where the objects are
// the same.
func newIndexes(in *model.Input, v *requirements.Vocabulary, kubernetes minors.Range, known *Indexes, f *model.Faults) *Indexes {
	x := &Indexes{storage: in.Volumes, claimed: in.Devices}
	var err error
	if known != nil && sameStorage(&known.storage, &x.storage) {
		x.Volumes = known.Volumes
	} else {
		x.Volumes, err = volume.New(x.storage, v, kubernetes)
		f.Join(err)
	}
	if known != nil && sameDevices(&known.claimed, &x.claimed) {
		x.Devices = known.Devices
	} else {
		x.Devices, err = device.New(x.claimed, v)
		f.Join(err)
	}
	return x
}

func sameStorage(a, b *model.Volumes) bool {
	return model.SameList(a.Claims, b.Claims) && model.SameList(a.Volumes, b.Volumes) &&
		model.SameList(a.Classes, b.Classes) && model.SameList(a.CSINodes, b.CSINodes) &&
		model.SameList(a.CSIDrivers, b.CSIDrivers) && model.SameList(a.CSIStorageCapacities, b.CSIStorageCapacities) &&
		model.SameList(a.VolumeAttachments, b.VolumeAttachments)
}

func sameDevices(a, b *model.Devices) bool {
	return model.SameList(a.Claims, b.Claims) && model.SameList(a.Templates, b.Templates) &&
		model.SameList(a.Classes, b.Classes) && model.SameList(a.Slices, b.Slices) && sameMatcher(a.Matcher, b.Matcher)
}

// sameMatcher says whether two matchers are equal, false if they cannot be compared.
func sameMatcher(a, b cloudprovider.DeviceMatcher) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
