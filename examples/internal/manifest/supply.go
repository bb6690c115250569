package manifest

import (
	"cmp"
	"slices"
)

// want asks for pods. The workload with which there are too many is at fault.
func (x *expander) want(d demand) {
	if d.count <= 0 || x.total > MaxPods {
		return
	}
	x.demands = append(x.demands, d)
	x.total += d.count
	if x.total > MaxPods {
		x.faults = append(x.faults, d.template.object.fault(nil,
			"brings the pods that workloads stand for above %d, more than can be planned at once; lower the replicas", MaxPods))
	}
}

// supply makes the pods of a demand. Those without names get random-looking
// ones, as a ReplicaSet or Job gives.
func (x *expander) supply(d demand) {
	for _, name := range d.names {
		x.add(d.template, name)
	}
	suffixes := newSuffixes(d.template.object.namespace + "/" + d.base)
	for range d.count - len(d.names) {
		name := generated(d.base, suffixes.next())
		for x.has(d.template.object.namespace, name) {
			name = generated(d.base, suffixes.next())
		}
		x.add(d.template, name)
	}
}

// has tells whether there is or was a pod of the name.
func (x *expander) has(namespace, name string) bool {
	_, taken := x.taken[namespace+"/"+name]
	return taken
}

// add makes one pod pending.
func (x *expander) add(t *template, name string) {
	x.taken[t.object.namespace+"/"+name] = true
	x.cluster.Pods = append(x.cluster.Pods, t.pod(name))
	x.cluster.placed("Pod "+t.object.namespace+"/"+name, place{t.object, []any{"spec", "template"}})
}

// byName returns the items sorted by namespace and name.
func byName[T any](items []item[T]) []item[T] {
	return slices.SortedFunc(slices.Values(items), func(a, b item[T]) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
}
