package resources

import corev1 "k8s.io/api/core/v1"

// Exceeds returns the resources that keep l, taken as requests, from fitting
// into available. The result is sorted by name, and nil when l fits. A name is
// in it when
//
//   - l asks for more than 0 and for more than available has, an absent name
//     counting as 0; or
//   - available has a negative amount of it, whether l asks for it or not.
//
// A request of zero or less therefore never exceeds by itself: a pod may list
// "nvidia.com/gpu: 0" and land on a node without GPUs. The second rule makes a
// node whose overhead is larger than its capacity, in any one resource, take
// nothing at all, not even an empty list of requests.
func (l List) Exceeds(available List) []corev1.ResourceName {
	var names []corev1.ResourceName
	for i, j := 0, 0; i < len(l.entries) || j < len(available.entries); {
		var p pair
		p, i, j = nextPair(l, available, i, j)
		if p.right < 0 || p.left > 0 && p.left > p.right {
			names = append(names, p.name)
		}
	}
	return names
}

// Fits reports whether Exceeds(available) is empty. It does not allocate.
func (l List) Fits(available List) bool {
	// The rule of Exceeds in the order that fails fastest: this is the hot call
	// of anything that tries many pods on many nodes.
	for i := range available.entries {
		if available.entries[i].amount < 0 {
			return false
		}
	}
	have := available.entries
	for i := range l.entries {
		need := &l.entries[i]
		if need.amount <= 0 {
			continue
		}
		for len(have) > 0 && have[0].name < need.name {
			have = have[1:]
		}
		if len(have) == 0 || have[0].name != need.name || have[0].amount < need.amount {
			return false
		}
	}
	return true
}
