package workload

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
)

// BoundKinds tell which pods on nodes are alike to the constraints of others, whatever
// these are: those of one namespace with the same labels, that have the same of each kind of
// constraint. So a what-if looks at each kind of pod once, and counts. They do not change once a problem has been compiled, so
// that all what-ifs on it can share them.
type BoundKinds struct {
	base   *BoundKinds // what the problem had that this one was made from; nil of the first
	lists  map[podList][]int32
	number map[string]int32
	kinds  []*corev1.Pod // one of each, from the last of base on
}

// podList is a slice of pods, told apart by where it is in memory.
type podList struct {
	first **corev1.Pod
	count int
}

// Ended is the kind of pods that nobody minds, as they have ended.
const Ended = -1

// Read returns the kinds of the pods on nodes, and the bound kinds with what had to be
// read for it.
func (c *BoundKinds) Read(nodes []model.Node) (*BoundKinds, [][]int32) {
	out, known := make([][]int32, len(nodes)), c
	var key PodKey
	for i := range nodes {
		pods := nodes[i].Pods
		if len(pods) == 0 {
			continue
		}
		id := podList{&pods[0], len(pods)}
		list, ok := known.find(id)
		if !ok {
			if known == c {
				known = c.extended()
			}
			list = known.kindsOf(pods, &key)
			known.lists[id] = list
		}
		out[i] = list
	}
	return known, out
}

// extended returns bound kinds that can be added to.
func (c *BoundKinds) extended() *BoundKinds {
	out := &BoundKinds{lists: map[podList][]int32{}, number: map[string]int32{}}
	switch {
	case c == nil:
	case c.base == nil:
		out.base = c
	default:
		out.base, out.lists, out.number = c.base, maps.Clone(c.lists), maps.Clone(c.number)
		out.kinds = c.kinds[:len(c.kinds):len(c.kinds)]
	}
	return out
}

func (c *BoundKinds) find(id podList) ([]int32, bool) {
	for ; c != nil; c = c.base {
		if list, ok := c.lists[id]; ok {
			return list, true
		}
	}
	return nil, false
}

// kindsOf numbers the kinds of pods.
func (c *BoundKinds) kindsOf(pods []*corev1.Pod, key *PodKey) []int32 {
	out := make([]int32, len(pods))
	for i, pod := range pods {
		if out[i] = Ended; pod == nil || podlife.Finished(pod) {
			continue
		}
		text := key.boundKind(pod)
		if c.base != nil {
			if kind, ok := c.base.number[string(text)]; ok {
				out[i] = kind
				continue
			}
		}
		kind, fresh := model.Intern(c.number, text, int32(c.Count()))
		if fresh {
			c.kinds = append(c.kinds, pod)
		}
		out[i] = kind
	}
	return out
}

// Count is how many kinds there are.
func (c *BoundKinds) Count() int {
	n := 0
	for ; c != nil; c = c.base {
		n += len(c.kinds)
	}
	return n
}

// Pod is one of a kind.
func (c *BoundKinds) Pod(kind int32) *corev1.Pod {
	if c.base != nil {
		if n := int32(len(c.base.kinds)); kind >= n {
			return c.kinds[kind-n]
		}
		c = c.base
	}
	return c.kinds[kind]
}

// boundKind returns the key of all that decides how constraints of others look at a pod
// that runs. It is valid until the next call.
func (k *PodKey) boundKind(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Text(pod.Namespace)
	k.Labels(pod.Labels)
	if pod.DeletionTimestamp != nil {
		k.Number(1)
	} else {
		k.Number(0)
	}
	kinds.WriteBound(&k.Writer, pod)
	return k.Buf
}
