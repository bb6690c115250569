package provisioning

import "slices"

// addBuffers adds the pods that buffers stand for. A real pod of the same name
// comes first.
func (r *referee) addBuffers() {
	for i := range r.in.Buffers {
		for _, pod := range r.in.Buffers[i].Pods() {
			key := refereeKeyOf(pod)
			if r.pods[key] == nil {
				r.pods[key] = r.newPod(pod)
				r.pods[key].virtual = true
			}
		}
	}
}

// checkBuffers compares what the plan says of buffers with where their pods are.
func (r *referee) checkBuffers() {
	existing, fresh := map[refereeKey]bool{}, map[refereeKey]bool{}
	for i := range r.plan.Create {
		for _, p := range r.knownPods(r.plan.Create[i].Pods) {
			fresh[p.key] = true
		}
	}
	for _, b := range r.plan.Bind {
		for _, p := range r.knownPods(b.Pods) {
			existing[p.key] = true
		}
	}
	said := map[refereeKey]*BufferStatus{}
	var last refereeKey
	for i := range r.plan.Buffers {
		s := &r.plan.Buffers[i]
		key := refereeKey{s.Namespace, s.Name}
		known := slices.ContainsFunc(r.in.Buffers, func(b Buffer) bool { return b.Namespace == s.Namespace && b.Name == s.Name })
		switch {
		case !known:
			r.report(RuleAccounts, "", "", "Buffers says how buffer %s fares, which is not in the input", key)
		case said[key] != nil:
			r.report(RuleAccounts, "", "", "Buffers says twice how buffer %s fares", key)
		case last.compare(key) > 0:
			r.report(RuleOrder, "", "", "buffer %s comes after %s; Buffers is sorted by namespace and name", key, last)
		}
		said[key], last = s, key
	}
	for i := range r.in.Buffers {
		b := &r.in.Buffers[i]
		key := refereeKey{b.Namespace, b.Name}
		s := said[key]
		if s == nil {
			r.report(RuleAccounts, "", "", "Buffers does not say how buffer %s fares", key)
			continue
		}
		old, young, left := 0, 0, 0
		for _, pod := range b.Pods() {
			switch key := refereeKeyOf(pod); {
			case existing[key]:
				old++
			case fresh[key]:
				young++
			default:
				left++
			}
		}
		if s.Existing != old || s.Fresh != young || s.Unplaced != left {
			r.report(RuleAccounts, "", "", "Buffers says that buffer %s has %d pods on existing nodes, %d on new ones and %d on none, but they are %d, %d and %d",
				key, s.Existing, s.Fresh, s.Unplaced, old, young, left)
		}
		if (s.Reason != nil) != (left > 0) {
			r.report(RuleReason, "", "", "buffer %s has %d pods without a place, and Buffers gives a reason: %t", key, left, s.Reason != nil)
		}
	}
}
