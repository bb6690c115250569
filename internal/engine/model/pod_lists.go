package model

import (
	"math/bits"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// PodList is one list of pods of an input.
type PodList struct {
	Node  Node
	Field string // of the node: Pods or Ending; "" for the pods to place, which have no node
	Pods  []*corev1.Pod
}

// PodLists returns the lists of an input: the pods to place, then those of each node.
func PodLists(pods []*corev1.Pod, nodes []Node) []PodList {
	out := append(make([]PodList, 0, 1+2*len(nodes)), PodList{Pods: pods})
	for _, n := range nodes {
		out = append(out, PodList{n, "Pods", n.Pods}, PodList{n, "Ending", n.Ending})
	}
	return out
}

// String returns the name of the list, as faults write it.
func (l *PodList) String() string {
	if l.Field == "" {
		return "Pods"
	}
	return "Node." + l.Field + " of " + NodeObject(l.Node)
}

// ReportRepeated calls add for each pod that is listed twice: an object, an empty field, and what is
// wrong. The pods of one namespace and name are one pod. Those on their way out do not count, as
// their successor may be listed too: the pod is being deleted, or its node is. Pods that have finished
// do not count either.
func ReportRepeated(lists []PodList, add func(object, field, format string, args ...any)) {
	type key struct{ namespace, name string }
	n := 0
	for i := range lists {
		n += len(lists[i].Pods)
	}
	first := make(map[key]int32, n)
	for i := range lists {
		l := &lists[i]
		leaving := l.Field != "" && l.Node.Leaving()
		for _, pod := range l.Pods {
			if !counts(pod) || l.Field != "" && leaves(pod, leaving) {
				continue
			}
			k := key{pod.Namespace, pod.Name}
			at, repeated := first[k]
			switch other := &lists[at]; {
			case !repeated:
				first[k] = int32(i)
			case other == l:
				add(PodObject(pod), "", "is listed twice in %s; list each pod once", l)
			case other.Field == "":
				add(PodObject(pod), "", "is listed in %s and in %s; list a pod to place in Pods only, and any other pod under its node only", other, l)
			default:
				add(PodObject(pod), "", "is listed in %s and in %s; list it once, under the node that it is bound to", other, l)
			}
		}
	}
}

// counts says whether a pod may be listed only once.
func counts(pod *corev1.Pod) bool { return pod != nil && pod.Name != "" && !podlife.Finished(pod) }

// leaves says whether a pod on a node is on its way out, so that its successor may be listed too.
func leaves(pod *corev1.Pod, leaving bool) bool { return leaving || pod.DeletionTimestamp != nil }

// onceKeys returns a key for each thing of a node that may be listed only once in an input: its NodeClaim
// and its machine.
func onceKeys(n *Node) []uint64 {
	out := make([]uint64, 0, 2)
	if n.NodeClaim != nil {
		out = append(out, hashOf("NodeClaim", n.NodeClaim.Name))
	}
	for _, id := range n.providerIDs() {
		out = append(out, hashOf("provider ID", id))
	}
	return out
}

// keyIsSet is the lowest bit of each key, so that none is 0.
const keyIsSet = 1

// hashOf returns a key made of two texts by FNV-1a.
func hashOf(space, name string) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	for _, text := range []string{space, name} {
		for i := range len(text) {
			h = (h ^ uint64(text[i])) * prime
		}
		h *= prime // the byte 0 between the texts
	}
	return h | keyIsSet
}

// MayRepeat says whether a NodeClaim or a machine may be listed twice. ReportShared decides that. It
// compares the keys of changed nodes with each other, and reads those of unchanged nodes only where a key
// is new: that takes O(changes) for a what-if.
func (r *Rooms) MayRepeat() bool {
	seen := newKeySet(r.Changed, func(i int) *Room { return r.Of[i] })
	for _, i := range r.Changed {
		for _, key := range r.Of[i].onceKeys {
			if !seen.add(key) {
				return true
			}
		}
	}
	if len(r.kept) == 0 {
		return false
	}
	moved := newKeySet(r.gone, func(room *Room) *Room { return room })
	for _, room := range r.gone {
		for _, key := range room.onceKeys {
			moved.add(key)
		}
	}
	some := false // something that unchanged nodes may have
	for i, key := range seen {
		if key == 0 {
			continue
		}
		if _, found := moved.find(key); found {
			seen[i] = keyIsSet // no unchanged node has it
		} else {
			some = true
		}
	}
	if !some {
		return false
	}
	for _, k := range r.kept {
		for i := k.at; i < k.at+k.count; i++ {
			for _, key := range r.Of[i].onceKeys {
				if _, found := seen.find(key); found {
					return true
				}
			}
		}
	}
	return false
}

// keySet is a hash table of keys with linear probing: a power of two of slots, 0 for an empty one.
// At most half of the slots are used.
type keySet []uint64

// newKeySet returns an empty set with space for the keys of the rooms of a list.
func newKeySet[T any](list []T, roomOf func(T) *Room) keySet {
	n := 0
	for _, t := range list {
		n += len(roomOf(t).onceKeys)
	}
	return make(keySet, 1<<bits.Len(uint(2*n)))
}

// find returns the slot of a key, or the empty slot for it and false.
func (s keySet) find(key uint64) (slot uint64, found bool) {
	mask := uint64(len(s) - 1)
	for slot = (key>>2 ^ key>>34) & mask; s[slot] != 0; slot = (slot + 1) & mask {
		if s[slot] == key {
			return slot, true
		}
	}
	return slot, false
}

// add adds a key, and returns false if it is there already.
func (s keySet) add(key uint64) bool {
	slot, found := s.find(key)
	s[slot] = key
	return !found
}
