package volume

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// Names lists all volumes, claims and disks in the Needs that a second pod
// could have too: what Private asks about.
func (n *Needs) Names() []string {
	var out []string
	for _, a := range n.Attach {
		out = append(out, a.Shared...)
	}
	out = append(out, n.Exclusive...)
	out = append(out, n.Unbound...)
	for _, d := range n.Disks {
		out = append(out, d.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Private returns what the Needs come to if no other pod has a volume, claim or
// disk, but for the Names that shared says yes to: such volumes are counted and
// no longer named, and such claims and disks stand in nobody's way. So pods of
// a StatefulSet, of which each has a claim of its own, can have the same Key.
//
// To find out which names are shared, count those of all pods, bound ones
// included; see Holds.
func (n *Needs) Private(shared func(name string) bool) Needs {
	alone := func(name string) bool { return !shared(name) }
	out := *n
	out.Attach = nil
	for _, a := range n.Attach {
		a.Shared = slices.DeleteFunc(slices.Clone(a.Shared), alone)
		a.Own += n.attachment(a.Driver).Count() - a.Count()
		out.Attach = append(out.Attach, a)
	}
	out.Exclusive = slices.DeleteFunc(slices.Clone(n.Exclusive), alone)
	out.Unbound = slices.DeleteFunc(slices.Clone(n.Unbound), alone)
	out.Disks = slices.DeleteFunc(slices.Clone(n.Disks), func(d Disk) bool { return alone(d.Name) })
	return out
}

func (n *Needs) attachment(driver string) Attachment {
	i, ok := slices.BinarySearchFunc(n.Attach, driver, func(a Attachment, d string) int { return strings.Compare(a.Driver, d) })
	if !ok {
		return Attachment{Driver: driver}
	}
	return n.Attach[i]
}

// Holds lists the names, as in Needs.Names, of all that a bound pod has and
// another pod could have too, sorted. A pod that is nil or has run its course
// has nothing.
func (x *Index) Holds(pod *corev1.Pod) []string {
	if pod == nil || podlife.Finished(pod) {
		return nil
	}
	n := Needs{Attach: x.Attached(pod), Exclusive: Claims(pod), Disks: Disks(pod)}
	return n.Names()
}
