package device

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/faults"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Objects are the objects of dynamic resource allocation in a snapshot.
type Objects struct {
	Claims    []*resourcev1.ResourceClaim
	Templates []*resourcev1.ResourceClaimTemplate
	Classes   []*resourcev1.DeviceClass
	Slices    []*resourcev1.ResourceSlice

	// Matcher evaluates selectors. If it is nil, pods whose requests have selectors are refused.
	Matcher cloudprovider.DeviceMatcher
}

// Index finds objects by name.
type Index struct {
	claims    map[string]*resourcev1.ResourceClaim         // by namespace/name
	templates map[string]*resourcev1.ResourceClaimTemplate // by namespace/name
	classes   map[string]*resourcev1.DeviceClass           // by name
	nodes     map[string]nodeDevices                       // by node name
	remote    []remoteDevice                               // devices that no single node owns

	matcher    cloudprovider.DeviceMatcher
	vocabulary *requirements.Vocabulary
}

// New indexes objects. The error joins a *faults.Fault for each object that is nil, has no name, is
// listed twice, or that no API server would have accepted where this package relies on it; the
// Index then has no objects.
//
// v normalises the node selectors of allocations; nil means requirements.DefaultVocabulary.
func New(o Objects, v *requirements.Vocabulary) (*Index, error) {
	x := &Index{
		claims:     map[string]*resourcev1.ResourceClaim{},
		templates:  map[string]*resourcev1.ResourceClaimTemplate{},
		classes:    map[string]*resourcev1.DeviceClass{},
		matcher:    o.Matcher,
		vocabulary: v,
	}
	var f faults.List
	for i, c := range o.Claims {
		if index(&f, x.claims, "ResourceClaim", "Claims", i, c, objectKey) {
			checkSpec(&f, "ResourceClaim", objectKey(c), "spec", &c.Spec)
		}
	}
	for i, t := range o.Templates {
		if index(&f, x.templates, "ResourceClaimTemplate", "Templates", i, t, objectKey) {
			checkSpec(&f, "ResourceClaimTemplate", objectKey(t), "spec.spec", &t.Spec.Spec)
		}
	}
	for i, c := range o.Classes {
		index(&f, x.classes, "DeviceClass", "Classes", i, c, (*resourcev1.DeviceClass).GetName)
	}
	x.addSlices(o.Slices, allocatedDevices(o.Claims), &f)
	if err := f.Err(); err != nil {
		return &Index{matcher: o.Matcher, vocabulary: v}, err
	}
	return x, nil
}

// index adds an object to those of its kind by its key, and says whether it did. It reports an
// object that is nil, nameless or listed twice.
func index[T interface {
	comparable
	GetName() string
}](f *faults.List, objects map[string]T, kind, list string, i int, o T, key func(T) string) bool {
	var missing T
	if o == missing {
		f.Add(fmt.Sprintf("Devices.%s[%d]", list, i), "", "is nil; leave it out")
		return false
	}
	if o.GetName() == "" {
		f.Add(fmt.Sprintf("Devices.%s[%d]", list, i), "metadata.name", "is empty; a %s is found by name", kind)
		return false
	}
	if _, twice := objects[key(o)]; twice {
		f.Add(fmt.Sprintf("%s %q", kind, key(o)), "", "is listed twice; list each object once")
		return false
	}
	objects[key(o)] = o
	return true
}

func objectKey[T interface {
	GetName() string
	GetNamespace() string
}](o T) string {
	return o.GetNamespace() + "/" + o.GetName()
}

// checkSpec checks the numbers in the requests of a claim.
func checkSpec(f *faults.List, kind, key, path string, s *resourcev1.ResourceClaimSpec) {
	object := fmt.Sprintf("%s %q", kind, key)
	for i := range s.Devices.Requests {
		r := &s.Devices.Requests[i]
		at := fmt.Sprintf("%s.devices.requests[%d]", path, i)
		if r.Exactly != nil && len(r.FirstAvailable) > 0 {
			f.Add(object, at, "has both exactly and firstAvailable; use one of them")
		}
		if r.Exactly != nil && r.Exactly.Count < 0 {
			f.Add(object, at+".exactly.count", "is %d; use one or more, or leave it out for one", r.Exactly.Count)
		}
		for j := range r.FirstAvailable {
			if n := r.FirstAvailable[j].Count; n < 0 {
				f.Add(object, fmt.Sprintf("%s.firstAvailable[%d].count", at, j), "is %d; use one or more, or leave it out for one", n)
			}
		}
	}
}
