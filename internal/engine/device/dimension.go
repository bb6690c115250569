package device

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// dimension is an artificial resource.
type dimension struct {
	name corev1.ResourceName
	kind dimensionKind

	group bitset.Set // for anyOf
	whole *whole     // for allOf
	set   int        // for soleUse and readable
	near  bitset.Set // for soleUse: the sets that overlap with set, set included
}

type dimensionKind int

const (
	// anyOf counts the devices that any of a group of sets matches.
	anyOf dimensionKind = iota
	// allOf is one on a node where a claim for all devices can have them, zero elsewhere.
	allOf
	// soleUse separates claims for all devices of a set from claims for some of these devices.
	// Every node has soleUses of it. A claim for all takes soleUses, and a claim for some takes one
	// for each device that might be among them.
	soleUse
	// readable is zero on a node with a device for which a set cannot be evaluated. A demand takes
	// one for each set that kube-scheduler tries before.
	readable
)

// soleUses is more than the number of devices of any node.
const soleUses = int64(1) << 30

// The name of a dimension is the text that reasons use. Resource names of Kubernetes contain no
// space, so they cannot be mistaken for a dimension.
const (
	anyPrefix  = "devices of class "
	allPrefix  = "all devices of class "
	solePrefix = "sole use of devices of class "
	readPrefix = "selectors that can be evaluated for devices of class "
)

// IsName says whether a resource name is that of a device dimension.
func IsName(name corev1.ResourceName) bool {
	for _, p := range []string{anyPrefix, allPrefix, solePrefix, readPrefix} {
		if strings.HasPrefix(string(name), p) {
			return true
		}
	}
	return false
}

// Amount renders an amount of a dimension, such as "2 devices of class gpu.example.com". It returns
// false for any other resource name.
func Amount(name corev1.ResourceName, n int64) (string, bool) {
	text := string(name)
	switch {
	case strings.HasPrefix(text, anyPrefix) && n == 1:
		return "1 device" + strings.TrimPrefix(text, "devices"), true
	case strings.HasPrefix(text, anyPrefix):
		return fmt.Sprintf("%d %s", n, text), true
	case IsName(name) && n > 0:
		return text, true
	case IsName(name):
		return "none of " + text, true
	}
	return "", false
}

// setDimensions makes the dimensions: one for each set of which some devices are requested, one for
// each group of sets whose overlaps require it, and two for each request for all devices of a set.
// A set that is tried before a chosen one gets one if it cannot be evaluated for some device.
func (c *Counts) setDimensions() {
	o := newOverlaps(len(c.sets), c.signatures())
	for _, component := range o.components() {
		groups, ok := o.closedGroups(component)
		if !ok {
			c.crowded.Or(component)
			continue
		}
		for i := range component.All() {
			groups = append(groups, bitset.Of(len(c.sets), i))
		}
		for _, g := range groups {
			c.add(dimension{name: c.name(g), kind: anyOf, group: g})
		}
	}
	sole := bitset.New(len(c.sets))
	for i := range c.wholes {
		w := &c.wholes[i]
		c.add(dimension{name: corev1.ResourceName(allPrefix + w.name()), kind: allOf, whole: w})
		for _, s := range w.sets {
			sole.Add(c.index[s.name])
		}
	}
	for i := range sole.All() {
		c.add(dimension{name: corev1.ResourceName(solePrefix + c.sets[i].name), kind: soleUse, set: i, near: o.neighbours[i]})
	}
	for _, name := range c.tried {
		if !c.failed.Has(c.index[name]) {
			continue
		}
		c.add(dimension{name: corev1.ResourceName(readPrefix + name), kind: readable, set: c.index[name]})
	}
}

func (c *Counts) add(d dimension) { c.dimensions = append(c.dimensions, d) }

// name returns the resource name of a group of sets.
func (c *Counts) name(group bitset.Set) corev1.ResourceName {
	var names []string
	for i := range group.All() {
		names = append(names, c.sets[i].name)
	}
	return corev1.ResourceName(anyPrefix + strings.Join(names, " or of class "))
}

// asked returns how much of the dimension a demand takes.
func (dim *dimension) asked(c *Counts, d Demand) int64 {
	n := int64(0)
	for _, s := range d.tried {
		if dim.kind == readable && dim.set == c.index[s.name] {
			n++
		}
	}
	for _, w := range d.some {
		i := c.index[w.set.name]
		if dim.kind == anyOf && dim.group.Has(i) || dim.kind == soleUse && dim.near.Has(i) {
			n = saturatedSum(n, w.count)
		}
	}
	for i := range d.whole {
		w := &d.whole[i]
		if dim.kind == allOf && dim.whole.name() == w.name() {
			n++
		}
		for _, s := range w.sets {
			if dim.kind == soleUse && dim.near.Has(c.index[s.name]) {
				n = saturatedSum(n, soleUses)
			}
		}
	}
	return n
}

// had returns how much of the dimension a node has.
func (dim *dimension) had(c *Counts, parts []part) int64 {
	switch dim.kind {
	case soleUse:
		return soleUses
	case readable:
		if slices.ContainsFunc(parts, func(p part) bool { return p.failed.Has(dim.set) }) {
			return 0
		}
		return soleUses
	case allOf:
		if c.hasAll(dim.whole, parts) {
			return 1
		}
		return 0
	}
	n := int64(0)
	for _, p := range parts {
		n = saturatedSum(n, max(matching(p.free, dim.group)-p.less, 0))
	}
	return n
}

// hasAll says whether a claim can have all devices of a node that its sets match: each set matches
// a device, none of these devices is allocated or not counted, no pool is incomplete, and one claim
// can hold them all.
func (c *Counts) hasAll(w *whole, parts []part) bool {
	total := w.others
	for _, s := range w.sets {
		i := c.index[s.name]
		single, n := bitset.Of(len(c.sets), i), int64(0)
		for _, p := range parts {
			if !p.allComplete || p.less > 0 || p.blocked.Has(i) {
				return false
			}
			n = saturatedSum(n, matching(p.free, single))
		}
		if n == 0 || c.remote.Has(i) {
			return false
		}
		total = saturatedSum(total, n)
	}
	return total <= resourcev1.AllocationResultsMaxSize
}

// IsCount says whether a resource name is that of a dimension that counts devices: each pod takes
// what it requests, whichever other pods are on the node.
func IsCount(name corev1.ResourceName) bool { return strings.HasPrefix(string(name), anyPrefix) }
