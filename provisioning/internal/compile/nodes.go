package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// existingNodes works out the room on each node that stays: those that are
// initialised first, then by name. Nodes on their way out come apart: their
// pods still count where constraints count pods. failed says, by node, why a room could not be read.
func (p *Problem) existingNodes(failed map[int]error, f *model.Faults) (staying, leaving []model.Existing) {
	staying = make([]model.Existing, 0, len(p.rooms.Of))
	var starting []model.Existing
	dims := len(p.Resources) + len(p.Rules.Slots)
	free := make([]int64, dims*len(p.rooms.Of))
	for i, room := range p.rooms.Of {
		e, err := model.Existing{Room: room}, failed[i]
		var left resources.List
		if err == nil {
			left, err = p.room(&e)
		}
		if err != nil {
			f.Wrap(model.NodeObject(room.Node), "", err)
			continue
		}
		if room.Leaves {
			leaving = append(leaving, e)
			continue
		}
		e.Free, free = free[:dims:dims], free[dims:]
		p.layOut(e.Free, left)
		if room.Ready {
			staying = append(staying, e)
		} else {
			starting = append(starting, e)
		}
	}
	return append(staying, starting...), leaving
}

// typeOf is the instance type of a node in the catalog of its pool, nil if that
// is not known.
func (p *Problem) typeOf(e *model.Existing) *cloudprovider.InstanceType {
	name, ok := e.Standing.Labels[corev1.LabelInstanceTypeStable]
	if !ok {
		return nil
	}
	for i := range p.Pools {
		if p.Pools[i].Object.Name != e.PoolName() {
			continue
		}
		types := p.Pools[i].Types
		if at, ok := slices.BinarySearchFunc(types, name, func(t *cloudprovider.InstanceType, name string) int {
			return strings.Compare(t.Name, name)
		}); ok {
			return types[at]
		}
	}
	return nil
}

// Admits says whether the labels, taints and volumes of a class let its pods
// run on a node.
func (p *Problem) Admits(c int, n *model.Existing) bool {
	if !n.Verdict.Admits.Has(c) {
		return false
	}
	class := &p.Classes[c]
	for _, key := range class.Labels {
		if _, ok := n.Standing.Labels[key]; !ok {
			return false
		}
	}
	if class.HasVolumes && !p.Extras.Volumes.Admits(&class.Volumes, n.Standing.Name, n.Standing.Labels) {
		return false
	}
	if class.Devices == nil {
		return true
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Standing.Name, Labels: n.Standing.Labels}}
	for _, pin := range class.Devices.Pins {
		selector, err := nodeaffinity.NewNodeSelector(pin)
		if err != nil || !selector.Match(node) {
			return false
		}
	}
	return true
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
	known     map[string]*model.Verdict
	buf       []byte // scratch
}

func newNodeAdmission(p *Problem) *nodeAdmission {
	a := &nodeAdmission{p: p, known: map[string]*model.Verdict{}}
	keys := map[string]bool{}
	for c := range p.Classes {
		pod := p.Pod(c)
		a.selectors = append(a.selectors, nodeaffinity.GetRequiredNodeAffinity(pod))
		for key := range pod.Spec.NodeSelector {
			keys[key] = true
		}
		for _, key := range p.Classes[c].Labels {
			keys[key] = true
		}
		for _, term := range model.RequiredTerms(pod) {
			a.names = a.names || len(term.MatchFields) > 0
			for i := range term.MatchExpressions {
				keys[term.MatchExpressions[i].Key] = true
			}
		}
	}
	a.keys = slices.Sorted(maps.Keys(keys))
	return a
}

// judge returns the verdict on a node.
func (a *nodeAdmission) judge(n *model.LabelsAndTaints) *model.Verdict {
	a.look(n)
	if known, ok := a.known[string(a.buf)]; ok {
		return known
	}
	out := &model.Verdict{Number: len(a.known), Selects: bitset.New(len(a.p.Classes)), Tolerates: bitset.New(len(a.p.Classes))}
	for c := range a.p.Classes {
		if a.p.Classes[c].Refusal != nil {
			continue
		}
		if a.selects(c, n) {
			out.Selects.Add(c)
		}
		if len(model.Untolerated(n.Taints, a.p.Classes[c].Tolerations)) == 0 {
			out.Tolerates.Add(c)
		}
	}
	out.Admits = out.Selects.Clone()
	out.Admits.And(out.Tolerates)
	a.known[string(a.buf)] = out
	return out
}

func (a *nodeAdmission) selects(c int, n *model.LabelsAndTaints) bool {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}}
	// An error means that the selector cannot be read, which FromPod reports.
	ok, err := a.selectors[c].Match(node)
	return ok && err == nil
}

// signatures numbers the classes so that those are equal which the same looks
// admit.
func (a *nodeAdmission) signatures() []int32 {
	out := make([]int32, len(a.p.Classes))
	looks := slices.Sorted(maps.Keys(a.known))
	index := map[string]int32{}
	buf := make([]byte, len(looks))
	for c := range a.p.Classes {
		for i, look := range looks {
			buf[i] = 0
			if a.known[look].Admits.Has(c) {
				buf[i] = 1
			}
		}
		out[c], _ = model.Intern(index, buf, int32(len(index)))
	}
	return out
}

// look renders all that admission depends on.
func (a *nodeAdmission) look(n *model.LabelsAndTaints) {
	b := a.buf[:0]
	for _, key := range a.keys {
		value, ok := n.Labels[key]
		if ok {
			b = append(b, '=')
		}
		b = append(append(b, value...), 0)
	}
	if a.names {
		b = append(b, n.Name...)
	}
	for i := range n.Taints {
		b = append(append(b, 0), n.Taints[i].ToString()...)
	}
	a.buf = b
}

// room is what is left on a node for pods.
func (p *Problem) room(e *model.Existing) (resources.List, error) {
	if p.Extras.Counts == nil && len(p.Extras.Drivers) == 0 {
		return e.Left, nil
	}
	free := e.Allocatable.Merge(p.Extras.OfNode(e, p.typeOf(e)))
	taken := e.Taken
	for _, i := range e.Daemons {
		var err error
		if taken, err = taken.Add(p.Daemons[i].Extra); err != nil {
			return free, fmt.Errorf("bound pods and DaemonSets in sum: %w", err)
		}
	}
	return free.Sub(taken)
}
