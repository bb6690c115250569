package workload

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

// BoundKinds groups running pods that the constraints of other pods do not distinguish: pods of one
// namespace with the same labels and the same constraints. So a what-if checks one pod of each group
// and multiplies by the number of its pods. BoundKinds are read-only once a problem has been
// compiled, so derived problems can share them. Those of a derived problem hold the new groups and
// point to the earlier ones.
type BoundKinds struct {
	older  *BoundKinds // the earlier kinds, with lower numbers; nil if there are none
	first  int32       // number of the first entry of kinds
	number map[string]int32
	kinds  []boundKind
	fresh  int // number of kinds when all nodes were last read

	mu      sync.Mutex
	byLabel map[string]map[string][]int32 // by label and value: numbers of kinds; filled on demand
}

// boundKind is one kind of running pods.
type boundKind struct {
	pod        *corev1.Pod // one of its pods
	constrains bool        // its pods can exclude others; see constrains
	apart      []boundApart
}

// boundApart is a term of a running pod's required anti-affinity that can be read without the
// labels of Namespaces.
type boundApart struct {
	key  string
	pods Selection
}

// boundAparts reads the terms of a pod. It returns none if a term selects namespaces or is invalid;
// such terms are read again for each problem.
func boundAparts(pod *corev1.Pod) (out []boundApart) {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	list := pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	for i := range list {
		if list[i].NamespaceSelector != nil {
			return nil
		}
		pods, err := new(podterm.Namespaces).Affinity(pod, &list[i])
		if err != nil {
			return nil
		}
		out = append(out, boundApart{list[i].TopologyKey, newSelection(pods)})
	}
	return out
}

// Ended is the kind of finished pods, which no constraint counts.
const Ended = -1

// manyKinds is the number of kinds that may be added, besides as many as at first, before Full
// returns true.
const manyKinds = 1024

// Full says whether enough kinds were added since the first problem that the nodes should be read
// anew, because most kinds may be gone.
func (c *BoundKinds) Full() bool { return c != nil && c.Count() > 2*c.fresh+manyKinds }

// Read finds the kinds of the pods on the nodes of rooms.Read. It returns BoundKinds that include
// the new kinds.
func (c *BoundKinds) Read(rooms *model.Rooms) *BoundKinds {
	out := &BoundKinds{older: c, first: int32(c.Count()), number: map[string]int32{}}
	if c != nil {
		out.fresh = c.fresh
	}
	var key PodKey
	for _, i := range rooms.Read {
		out.read(rooms.Of[i], &key)
	}
	switch {
	case c == nil:
		out.fresh = len(out.kinds)
	case len(out.kinds) == 0:
		return c
	}
	for out.older != nil && len(out.kinds) >= len(out.older.kinds) {
		out.merge()
	}
	return out
}

// merge merges the kinds of older into c, so that few levels have to be searched.
func (c *BoundKinds) merge() {
	number := maps.Clone(c.older.number)
	maps.Copy(number, c.number)
	c.first, c.number, c.kinds, c.older = c.older.first, number, slices.Concat(c.older.kinds, c.kinds), c.older.older
}

// read assigns kinds to the pods on a node.
func (c *BoundKinds) read(room *model.Room, key *PodKey) {
	room.BoundMemberships = make([]int32, len(room.Pods))
	for i, pod := range room.Pods {
		if room.BoundMemberships[i] = Ended; pod == nil || podlife.Finished(pod) {
			continue
		}
		text := key.boundKind(pod)
		kind, known := c.older.find(text)
		if !known {
			var fresh bool
			if kind, fresh = model.Intern(c.number, text, int32(c.Count())); fresh {
				c.kinds = append(c.kinds, boundKind{pod, constrains(pod), boundAparts(pod)})
			}
		}
		room.BoundMemberships[i] = kind
		if c.of(kind).constrains && !slices.Contains(room.Constraining, kind) {
			room.Constraining = append(room.Constraining, kind)
		}
	}
}

// constrains says whether a running pod can exclude others from its domain or node: by
// anti-affinity, by what it holds of its node, or by limits.
func constrains(pod *corev1.Pod) bool {
	if pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAntiAffinity != nil || len(kinds.Held(pod)) > 0 {
		return true
	}
	limits, err := kinds.Limits(pod)
	return err == nil && len(limits) > 0
}

func (c *BoundKinds) find(text []byte) (int32, bool) {
	for ; c != nil; c = c.older {
		if kind, ok := c.number[string(text)]; ok {
			return kind, true
		}
	}
	return 0, false
}

// WithLabel calls yield for each kind of pods that has a value of a label.
func (c *BoundKinds) WithLabel(key, value string, yield func(kind int32)) {
	for ; c != nil; c = c.older {
		for _, kind := range c.kindsBy(key)[value] {
			yield(kind)
		}
	}
}

// kindsBy returns the kinds of this level by the value of a label. It is computed once for each
// label.
func (c *BoundKinds) kindsBy(key string) map[string][]int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	out, ok := c.byLabel[key]
	if ok {
		return out
	}
	out = map[string][]int32{}
	for i := range c.kinds {
		if value, has := c.kinds[i].pod.Labels[key]; has {
			out[value] = append(out[value], c.first+int32(i))
		}
	}
	if c.byLabel == nil {
		c.byLabel = map[string]map[string][]int32{}
	}
	c.byLabel[key] = out
	return out
}

// Constraining lists the kinds of running pods that can exclude others, in the order in which they
// occur on the nodes.
func (c *BoundKinds) Constraining(rooms *model.Rooms) []int32 {
	var out []int32
	seen := bitset.New(c.Count())
	for i, mark := range rooms.Marks {
		if mark&model.Constrains == 0 {
			continue
		}
		for _, kind := range rooms.Of[i].Constraining {
			if !seen.Has(int(kind)) {
				seen.Add(int(kind))
				out = append(out, kind)
			}
		}
	}
	return out
}

// Count returns the number of kinds.
func (c *BoundKinds) Count() int {
	if c == nil {
		return 0
	}
	return int(c.first) + len(c.kinds)
}

// Pod returns one pod of a kind.
func (c *BoundKinds) Pod(kind int32) *corev1.Pod { return c.of(kind).pod }

// Apart returns the terms of the required anti-affinity of a kind. It returns none if the terms
// have to be read for each problem.
func (c *BoundKinds) Apart(kind int32, r *TermReader) []Term {
	var out []Term
	for _, t := range c.of(kind).apart {
		out = append(out, Term{Kind: topology.Apart, Key: t.key, Pods: r.numbered(t.pods)})
	}
	return out
}

func (c *BoundKinds) of(kind int32) *boundKind {
	for kind < c.first {
		c = c.older
	}
	return &c.kinds[kind-c.first]
}

// boundKind returns the key of everything that decides how constraints of others count a running
// pod. The key is valid until the next call.
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
