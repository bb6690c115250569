package device

import (
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Objects are the objects of dynamic resource allocation in a snapshot.
type Objects struct {
	Claims    []*resourcev1.ResourceClaim
	Templates []*resourcev1.ResourceClaimTemplate
	Classes   []*resourcev1.DeviceClass
	Slices    []*resourcev1.ResourceSlice

	// Matcher evaluates selectors; without it, pods whose requests have any
	// are refused.
	Matcher cloudprovider.DeviceMatcher

	// Vocabulary normalises the node selectors of allocations; nil means
	// requirements.DefaultVocabulary.
	Vocabulary *requirements.Vocabulary
}

// Fault is something wrong with one of the objects.
type Fault struct {
	Object string // such as `ResourceClaim "shop/gpu"`
	Field  string // path of the field at fault, if one is
	Detail string // what is wrong, and what would be right
}

// Error renders the fault on one line.
func (f *Fault) Error() string {
	if f.Field == "" {
		return f.Object + ": " + f.Detail
	}
	return f.Object + ": " + f.Field + ": " + f.Detail
}

// Index finds objects by name.
type Index struct {
	claims    map[string]*resourcev1.ResourceClaim         // by namespace/name
	templates map[string]*resourcev1.ResourceClaimTemplate // by namespace/name
	classes   map[string]*resourcev1.DeviceClass           // by name
	nodes     map[string]nodeDevices                       // by node name
	remote    []remoteDevice                               // that no single node owns

	matcher    cloudprovider.DeviceMatcher
	vocabulary *requirements.Vocabulary
}

// New indexes objects. The error joins a *Fault for each that is nil, has no
// name, is listed twice, or that no API server would have accepted where this
// package has to rely on it; there is no Index then.
func New(o Objects) (*Index, error) {
	x := &Index{
		claims:     map[string]*resourcev1.ResourceClaim{},
		templates:  map[string]*resourcev1.ResourceClaimTemplate{},
		classes:    map[string]*resourcev1.DeviceClass{},
		matcher:    o.Matcher,
		vocabulary: o.Vocabulary,
	}
	var f faults
	for i, c := range o.Claims {
		if c == nil {
			f.missing("Claims", i)
		} else if f.named("ResourceClaim", "Claims", i, c) && index(&f, x.claims, "ResourceClaim", objectKey(c), c) {
			f.spec("ResourceClaim", objectKey(c), "spec", &c.Spec)
		}
	}
	for i, t := range o.Templates {
		if t == nil {
			f.missing("Templates", i)
		} else if f.named("ResourceClaimTemplate", "Templates", i, t) && index(&f, x.templates, "ResourceClaimTemplate", objectKey(t), t) {
			f.spec("ResourceClaimTemplate", objectKey(t), "spec.spec", &t.Spec.Spec)
		}
	}
	for i, c := range o.Classes {
		if c == nil {
			f.missing("Classes", i)
		} else if f.named("DeviceClass", "Classes", i, c) {
			index(&f, x.classes, "DeviceClass", c.Name, c)
		}
	}
	x.addSlices(o.Slices, allocatedDevices(o.Claims), &f)
	if len(f) > 0 {
		return nil, errors.Join(f...)
	}
	return x, nil
}

// faults collects what is wrong with the objects.
type faults []error

func (f *faults) add(object, field, format string, args ...any) {
	*f = append(*f, &Fault{Object: object, Field: field, Detail: fmt.Sprintf(format, args...)})
}

func (f *faults) missing(list string, i int) {
	f.add(fmt.Sprintf("Devices.%s[%d]", list, i), "", "is nil; leave it out")
}

// named checks that an object can be told apart from others.
func (f *faults) named(kind, list string, i int, o interface {
	GetName() string
}) bool {
	if o.GetName() == "" {
		f.add(fmt.Sprintf("Devices.%s[%d]", list, i), "metadata.name", "is empty; a %s is found by name", kind)
		return false
	}
	return true
}

// index adds an object that is not there yet.
func index[T any](f *faults, objects map[string]T, kind, key string, o T) bool {
	if _, twice := objects[key]; twice {
		f.add(fmt.Sprintf("%s %q", kind, key), "", "is listed twice; list each object once")
		return false
	}
	objects[key] = o
	return true
}

func objectKey(o interface {
	GetName() string
	GetNamespace() string
}) string {
	return o.GetNamespace() + "/" + o.GetName()
}

// spec checks the numbers in the requests of a claim.
func (f *faults) spec(kind, key, path string, s *resourcev1.ResourceClaimSpec) {
	object := fmt.Sprintf("%s %q", kind, key)
	for i := range s.Devices.Requests {
		r := &s.Devices.Requests[i]
		at := fmt.Sprintf("%s.devices.requests[%d]", path, i)
		if r.Exactly != nil && len(r.FirstAvailable) > 0 {
			f.add(object, at, "has both exactly and firstAvailable; use one of them")
		}
		if r.Exactly != nil && r.Exactly.Count < 0 {
			f.add(object, at+".exactly.count", "is %d; use one or more, or leave it out for one", r.Exactly.Count)
		}
		for j := range r.FirstAvailable {
			if n := r.FirstAvailable[j].Count; n < 0 {
				f.add(object, fmt.Sprintf("%s.firstAvailable[%d].count", at, j), "is %d; use one or more, or leave it out for one", n)
			}
		}
	}
}
