package provisioning

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// existing is a node of the input.
type existing struct {
	Node
	boundMemberships []int32 // the kinds of its pods
	standing         labelsAndTaints
	ready            bool     // it is initialised
	free             []int64  // allocatable less bound pods and daemons still to come
	verdict          *verdict // on the classes
	daemons          []int    // those that will come and are not there yet
	at               []int    // by key of the domain table
	attached         []int32  // volumes that its pods have, of those that several pods have
}

// terminatingNode is a node on its way out, with what its pods count for that are not among
// those to be placed.
type terminatingNode struct {
	existing
	parts []pack.Membership
}

// labelsAndTaints is what decides who may run on a node.
type labelsAndTaints struct {
	name   string
	labels map[string]string
	taints []corev1.Taint
}

// existingNodes works out the room on each node that stays: those that are
// initialised first, then by name. Nodes on their way out come apart: their
// pods, of which the kinds are given, still count where constraints count pods.
func (p *Problem) existingNodes(nodes []Node, boundMemberships [][]int32, f *faults) (staying, leaving []existing) {
	requests := newRequestsCache()
	read := map[string]room{}
	out := make([]existing, 0, len(nodes))
	for i, n := range nodes {
		e := existing{Node: n}
		r, ok := p.rooms.find(n)
		if ok {
			e.ready, e.standing = r.ready, r.standing
		} else {
			e.ready, e.standing = n.initialized(), labelsAndTaints{name: n.hostName(), labels: n.labels(), taints: n.taints()}
		}
		if boundMemberships != nil {
			e.boundMemberships = boundMemberships[i]
		}
		if p.rooms != nil && (ok && r.leaves || !ok && n.leaving()) { // a what-if: it had a room that could be read
			leaving = append(leaving, e)
			continue
		}
		if !ok {
			var err error
			if r, err = p.readRoom(&e, requests); err != nil {
				f.wrap(nodeObject(n), "", err)
				continue
			}
			read[n.Name()] = r
		}
		free, err := p.room(&e, &r)
		if err != nil {
			f.wrap(nodeObject(n), "", err)
			continue
		}
		if r.leaves {
			leaving = append(leaving, e)
			continue
		}
		e.free = p.vector(free)
		out = append(out, e)
	}
	p.rooms = p.rooms.with(read)
	slices.SortStableFunc(out, func(a, b existing) int {
		switch {
		case a.ready == b.ready:
			return 0 // they are sorted by name already
		case a.ready:
			return -1
		}
		return 1
	})
	return out, leaving
}

// typeOf is the instance type of a node in the catalog of its pool, nil if that
// is not known.
func (p *Problem) typeOf(e *existing) *cloudprovider.InstanceType {
	name, ok := e.standing.labels[corev1.LabelInstanceTypeStable]
	if !ok {
		return nil
	}
	for i := range p.pools {
		if p.pools[i].object.Name != e.poolName() {
			continue
		}
		types := p.pools[i].types
		if at, ok := slices.BinarySearchFunc(types, name, func(t *cloudprovider.InstanceType, name string) int {
			return strings.Compare(t.Name, name)
		}); ok {
			return types[at]
		}
	}
	return nil
}

// admits says whether the labels, taints and volumes of a class let its pods
// run on a node.
func (p *Problem) admits(c int, n *existing) bool {
	if !n.verdict.admits.Has(c) {
		return false
	}
	class := &p.classes[c]
	for _, key := range class.labels {
		if _, ok := n.standing.labels[key]; !ok {
			return false
		}
	}
	if class.hasVolumes && !p.extras.volumes.Admits(&class.volumes, n.standing.name, n.standing.labels) {
		return false
	}
	if class.devices == nil {
		return true
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.standing.name, Labels: n.standing.labels}}
	for _, pin := range class.devices.Pins {
		selector, err := nodeaffinity.NewNodeSelector(pin)
		if err != nil || !selector.Match(node) {
			return false
		}
	}
	return true
}

// readyLabels are those of the node once it has started. into is scratch space
// that is filled on the first call.
func (e *existing) readyLabels(into map[string]string) map[string]string {
	if e.ready && !e.rebooting() {
		return e.standing.labels
	}
	if len(into) == 0 {
		maps.Copy(into, e.standing.labels)
		into[v1.NodeRegisteredLabelKey] = "true"
		into[v1.NodeInitializedLabelKey] = "true"
	}
	return into
}

// nodeAdmission says which classes may run on which nodes. Most nodes of a
// cluster look alike to the pods, so each look is judged once. Labels of nodes
// that exist are judged as they stand, by kube-scheduler's own code: no alias
// helps a pod whose label is not there.
type nodeAdmission struct {
	p         *Problem
	selectors []nodeaffinity.RequiredNodeAffinity // by class
	keys      []string                            // labels that some class asks about
	names     bool                                // some class asks about names
	known     map[string]*verdict
}

// verdict says which classes suit nodes of one look.
type verdict struct {
	selects   bitset.Set // by labels
	tolerates bitset.Set // by taints
	admits    bitset.Set // by both
}

func newNodeAdmission(p *Problem) *nodeAdmission {
	a := &nodeAdmission{p: p, known: map[string]*verdict{}}
	keys := map[string]bool{}
	for c := range p.classes {
		pod := p.pod(c)
		a.selectors = append(a.selectors, nodeaffinity.GetRequiredNodeAffinity(pod))
		for key := range pod.Spec.NodeSelector {
			keys[key] = true
		}
		for _, key := range p.classes[c].labels {
			keys[key] = true
		}
		for _, term := range requiredTerms(pod) {
			a.names = a.names || len(term.MatchFields) > 0
			for i := range term.MatchExpressions {
				keys[term.MatchExpressions[i].Key] = true
			}
		}
	}
	a.keys = slices.Sorted(maps.Keys(keys))
	return a
}

func requiredTerms(pod *corev1.Pod) []corev1.NodeSelectorTerm {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// judge returns the verdict on a node.
func (a *nodeAdmission) judge(n *labelsAndTaints) *verdict {
	look := a.look(n)
	if known, ok := a.known[look]; ok {
		return known
	}
	out := &verdict{selects: bitset.New(len(a.p.classes)), tolerates: bitset.New(len(a.p.classes))}
	for c := range a.p.classes {
		if a.p.classes[c].refusal != nil {
			continue
		}
		if a.selects(c, n) {
			out.selects.Add(c)
		}
		if len(untolerated(n.taints, a.p.classes[c].tolerations)) == 0 {
			out.tolerates.Add(c)
		}
	}
	out.admits = out.selects.Clone()
	out.admits.And(out.tolerates)
	a.known[look] = out
	return out
}

func (a *nodeAdmission) selects(c int, n *labelsAndTaints) bool {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: n.labels}}
	// An error means that the selector cannot be read, which FromPod reports.
	ok, err := a.selectors[c].Match(node)
	return ok && err == nil
}

// signatures numbers the classes so that those are equal which the same looks
// admit.
func (a *nodeAdmission) signatures() []int32 {
	out := make([]int32, len(a.p.classes))
	looks := slices.Sorted(maps.Keys(a.known))
	index := map[string]int32{}
	buf := make([]byte, len(looks))
	for c := range a.p.classes {
		for i, look := range looks {
			buf[i] = 0
			if a.known[look].admits.Has(c) {
				buf[i] = 1
			}
		}
		out[c], _ = intern(index, buf, int32(len(index)))
	}
	return out
}

// look renders all that admission depends on.
func (a *nodeAdmission) look(n *labelsAndTaints) string {
	var b strings.Builder
	for _, key := range a.keys {
		value, ok := n.labels[key]
		if ok {
			b.WriteString("=")
		}
		b.WriteString(value)
		b.WriteByte(0)
	}
	if a.names {
		b.WriteString(n.name)
	}
	for i := range n.taints {
		b.WriteByte(0)
		b.WriteString(n.taints[i].ToString())
	}
	return b.String()
}
