package workload

import (
	"errors"
	"reflect"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/device"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/volume"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Indexes are the storage and device objects of an input, indexed. They know no pods and
// do not change, so that problems with the same objects share them.
type Indexes struct {
	Volumes *volume.Index
	Devices *device.Index

	storage model.Volumes // what they were made of
	claimed model.Devices
}

// newIndexes reports the faults of the objects. What is at fault has been said then; the
// rest goes on without it.
func newIndexes(in *model.Input, v *requirements.Vocabulary, known *Indexes, f *model.Faults) *Indexes {
	x := &Indexes{storage: in.Volumes, claimed: in.Devices}
	if known != nil && sameStorage(&known.storage, &x.storage) {
		x.Volumes = known.Volumes
	} else {
		x.indexVolumes(v, f)
	}
	if known != nil && sameDevices(&known.claimed, &x.claimed) {
		x.Devices = known.Devices
	} else {
		x.indexDevices(v, f)
	}
	return x
}

func (x *Indexes) indexVolumes(v *requirements.Vocabulary, f *model.Faults) {
	var err error
	x.Volumes, err = volume.New(volume.Objects(x.storage), v)
	for _, e := range model.Joined(err) {
		var fault *volume.Fault
		if errors.As(e, &fault) {
			f.Add("Volumes."+fault.Object, fault.Field, "%s", fault.Detail)
		}
	}
	if x.Volumes == nil {
		x.Volumes, _ = volume.New(volume.Objects{}, v)
	}
}

func (x *Indexes) indexDevices(v *requirements.Vocabulary, f *model.Faults) {
	var err error
	x.Devices, err = device.New(device.Objects{
		Claims: x.claimed.Claims, Templates: x.claimed.Templates, Classes: x.claimed.Classes,
		Slices: x.claimed.Slices, Matcher: x.claimed.Matcher, Vocabulary: v,
	})
	for _, e := range model.Joined(err) {
		var fault *device.Fault
		if errors.As(e, &fault) {
			f.Add(fault.Object, fault.Field, "%s", fault.Detail)
		}
	}
	if x.Devices == nil {
		x.Devices, _ = device.New(device.Objects{})
	}
}

func sameStorage(a, b *model.Volumes) bool {
	return model.SameList(a.Claims, b.Claims) && model.SameList(a.Volumes, b.Volumes) &&
		model.SameList(a.Classes, b.Classes) && model.SameList(a.CSINodes, b.CSINodes)
}

func sameDevices(a, b *model.Devices) bool {
	return model.SameList(a.Claims, b.Claims) && model.SameList(a.Templates, b.Templates) &&
		model.SameList(a.Classes, b.Classes) && model.SameList(a.Slices, b.Slices) && sameMatcher(a.Matcher, b.Matcher)
}

// sameMatcher says so of those that can be compared.
func sameMatcher(a, b cloudprovider.DeviceMatcher) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
