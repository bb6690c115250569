package provisioning

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// sharedVolumes are the volumes that several pods have. A node attaches each
// once, however many of its pods use it.
type sharedVolumes struct {
	ids        map[string]int32 // by driver and name
	drivers    []string         // by volume
	dimensions []int            // by volume: the resource that counts it
}

// number returns the number of a volume, and gives it one if need be.
func (v *sharedVolumes) number(driver, name string) int32 {
	key := driver + "\x00" + name
	id, ok := v.ids[key]
	if !ok {
		if v.ids == nil {
			v.ids = map[string]int32{}
		}
		id = int32(len(v.drivers))
		v.ids[key] = id
		v.drivers = append(v.drivers, driver)
	}
	return id
}

// findShares notes which of the volumes that a class attaches other pods may
// have attached.
func (x *extras) findShares(c *class) {
	for _, a := range c.volumes.Attach {
		for _, name := range a.Shared {
			if x.claims.shared[name] {
				c.shares = append(c.shares, x.attached.number(a.Driver, name))
			}
		}
	}
}

// setDimensions says where in vectors of some resources volumes are counted.
func (v *sharedVolumes) setDimensions(names []corev1.ResourceName) {
	for _, driver := range v.drivers {
		at, _ := slices.BinarySearch(names, volumesOf(driver))
		v.dimensions = append(v.dimensions, at)
	}
}

// attachedTo lists the volumes that pods on a node have, of those that several
// pods have.
func (x *extras) attachedTo(pods []*corev1.Pod) []int32 {
	if len(x.attached.ids) == 0 || !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return pod != nil && hasVolumes(pod) }) {
		return nil
	}
	var out []int32
	for _, a := range x.volumes.Attached(pods...) {
		for _, name := range a.Shared {
			if id, ok := x.attached.ids[a.Driver+"\x00"+name]; ok {
				out = append(out, id)
			}
		}
	}
	return out
}

// takes is what a pod of a class takes of a node where some volumes are attached
// already. Treat it as read-only.
func (p *Problem) takes(c int, attached []int32) []int64 {
	out := p.requests[c]
	if len(attached) == 0 {
		return out
	}
	for _, id := range p.classes[c].shares {
		if slices.Contains(attached, id) {
			if &out[0] == &p.requests[c][0] {
				out = slices.Clone(out)
			}
			out[p.extras.attached.dimensions[id]]--
		}
	}
	return out
}

// attach adds the volumes of a class to those that are attached. The list is
// not shared with what comes out, unless it is equal.
func (p *Problem) attach(attached []int32, c int) []int32 {
	for _, id := range p.classes[c].shares {
		if !slices.Contains(attached, id) {
			attached = append(slices.Clip(attached), id)
		}
	}
	return attached
}
