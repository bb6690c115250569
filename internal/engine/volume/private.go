package volume

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// Names lists all volumes, claims and disks in the Needs that another pod could use too. Private
// takes these names.
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

// Private returns the Needs of a pod if no other pod uses its volumes, claims and disks, except
// those Names for which shared returns true. Private volumes are counted without names, and private
// claims and disks exclude no other pod. So pods of a StatefulSet, each with a claim of its own,
// can have the same Key.
//
// To find out which names are shared, count the Names of all pods, including bound ones; see Holds.
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

// Holds lists the names, as in Needs.Names, of everything that a bound pod uses and another pod
// could use too, sorted. A pod that is nil or has finished has none.
func (x *Index) Holds(pod *corev1.Pod) []string {
	if pod == nil || podlife.Finished(pod) {
		return nil
	}
	n := Needs{Attach: x.Attached(pod), Exclusive: Claims(pod), Disks: Disks(pod)}
	return n.Names()
}
