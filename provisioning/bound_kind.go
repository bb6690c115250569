package provisioning

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/volume"
)

// boundKinds tell which pods on nodes are alike to the constraints of others, whatever
// these are: those of one namespace with the same labels, the same required
// anti-affinity, the same ports, disks and claims. So a what-if looks at each kind
// of pod once, and counts. They do not change once a problem has been compiled, so
// that all what-ifs on it can share them.
type boundKinds struct {
	base   *boundKinds // what the problem had that this one was made from; nil of the first
	lists  map[podList][]int32
	number map[string]int32
	kinds  []*corev1.Pod // one of each, from the last of base on
}

// podList is a slice of pods, told apart by where it is in memory.
type podList struct {
	first **corev1.Pod
	count int
}

// ended is the kind of pods that nobody minds, as they have ended.
const ended = -1

// read returns the kinds of the pods on nodes, and the bound kinds with what had to be
// read for it.
func (c *boundKinds) read(nodes []Node) (*boundKinds, [][]int32) {
	out, known := make([][]int32, len(nodes)), c
	var key podKey
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
func (c *boundKinds) extended() *boundKinds {
	out := &boundKinds{lists: map[podList][]int32{}, number: map[string]int32{}}
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

func (c *boundKinds) find(id podList) ([]int32, bool) {
	for ; c != nil; c = c.base {
		if list, ok := c.lists[id]; ok {
			return list, true
		}
	}
	return nil, false
}

// kindsOf numbers the kinds of pods.
func (c *boundKinds) kindsOf(pods []*corev1.Pod, key *podKey) []int32 {
	out := make([]int32, len(pods))
	for i, pod := range pods {
		if out[i] = ended; pod == nil || finished(pod) {
			continue
		}
		text := key.boundKind(pod)
		if c.base != nil {
			if kind, ok := c.base.number[string(text)]; ok {
				out[i] = kind
				continue
			}
		}
		kind, fresh := intern(c.number, text, int32(c.count()))
		if fresh {
			c.kinds = append(c.kinds, pod)
		}
		out[i] = kind
	}
	return out
}

// count is how many kinds there are.
func (c *boundKinds) count() int {
	n := 0
	for ; c != nil; c = c.base {
		n += len(c.kinds)
	}
	return n
}

// pod is one of a kind.
func (c *boundKinds) pod(kind int32) *corev1.Pod {
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
func (k *podKey) boundKind(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Text(pod.Namespace)
	k.Labels(pod.Labels)
	if pod.DeletionTimestamp != nil {
		k.Number(1)
	} else {
		k.Number(0)
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		k.AffinityTerms(pod, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	} else {
		k.Number(0)
	}
	k.ports(pod)
	if len(pod.Spec.Volumes) == 0 {
		return k.Buf
	}
	for _, d := range volume.Disks(pod) {
		k.Text(d.Name)
		if d.ReadOnly {
			k.Number(1)
		} else {
			k.Number(0)
		}
	}
	k.Number(-1)
	if hasClaims(pod) {
		for _, claim := range volume.Claims(pod) {
			k.Text(claim)
		}
	}
	return k.Buf
}
