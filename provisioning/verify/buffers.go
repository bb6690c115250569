package verify

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// addBuffers adds the pods of buffers. A real pod of the same name takes precedence.
func (r *referee) addBuffers() {
	for i := range r.in.Buffers {
		for _, pod := range r.in.Buffers[i].Pods() {
			if key := keyOf(pod); r.pods[key] == nil {
				r.pods[key] = r.newPod(pod)
				r.pods[key].virtual = true
			}
		}
	}
}

// checkBuffers compares the status of each buffer with where its pods are: on existing nodes, on
// new ones, or unplaced. A buffer must have a reason exactly if some of its pods are unplaced.
func (r *referee) checkBuffers() {
	said := map[objectKey]*provisioning.BufferStatus{}
	var last objectKey
	for i := range r.plan.Buffers {
		s := &r.plan.Buffers[i]
		key := objectKey{Namespace: s.Namespace, Name: s.Name}
		known := slices.ContainsFunc(r.in.Buffers, func(b provisioning.Buffer) bool { return b.Namespace == s.Namespace && b.Name == s.Name })
		switch {
		case !known:
			r.report(RuleAccounts, "", "", "Buffers says how buffer %s fares, which is not in the input", key)
		case said[key] != nil:
			r.report(RuleAccounts, "", "", "Buffers says twice how buffer %s fares", key)
		case last.Compare(key) > 0:
			r.report(RuleOrder, "", "", "buffer %s comes after %s; Buffers is sorted by namespace and name", key, last)
		}
		said[key], last = s, key
	}
	onNew := map[objectKey]bool{} // by placed pod: only new nodes have it
	for i, l := range r.placements() {
		for _, p := range l.pods {
			_, known := onNew[p.key]
			onNew[p.key] = i >= len(r.plan.Bind) && (!known || onNew[p.key])
		}
	}
	for i := range r.in.Buffers {
		b := &r.in.Buffers[i]
		key := objectKey{Namespace: b.Namespace, Name: b.Name}
		s := said[key]
		if s == nil {
			r.report(RuleAccounts, "", "", "Buffers does not say how buffer %s fares", key)
			continue
		}
		old, young, left := 0, 0, 0
		for _, pod := range b.Pods() {
			switch fresh, placed := onNew[keyOf(pod)]; {
			case !placed:
				left++
			case fresh:
				young++
			default:
				old++
			}
		}
		if s.Existing != old || s.Fresh != young || s.Unplaced != left {
			r.report(RuleAccounts, "", "", "Buffers says that buffer %s has %d pods on existing nodes, %d on new ones and %d on none, but they are %d, %d and %d",
				key, s.Existing, s.Fresh, s.Unplaced, old, young, left)
		}
		if (s.Explanation != nil) != (left > 0) {
			r.report(RuleReason, "", "", "buffer %s has %d pods without a place, and Buffers gives a reason: %t", key, left, s.Explanation != nil)
		}
	}
}
