package compile

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// existingNodes computes the room of each staying node: initialised ones first, then by name.
// Terminating nodes are returned separately: constraints still count their pods.
func (p *Problem) existingNodes(r *reading, f *model.Faults) (staying, leaving []model.Existing) {
	staying = make([]model.Existing, 0, len(p.rooms.Of))
	var starting []model.Existing
	dims := len(p.Resources) + len(p.Rules.Slots)
	plain := p.countsResourcesOnly()
	var free []int64
	if plain {
		free = p.freeOfResources(r.before)
	} else {
		free = make([]int64, dims*len(p.rooms.Of))
	}
	for i, room := range p.rooms.Of {
		e := model.Existing{Room: room, Index: int32(i), Marks: p.rooms.Marks[i], Free: free[i*dims : (i+1)*dims : (i+1)*dims]}
		err := r.failed[i]
		if err == nil && !plain {
			var left resources.List
			left, err = p.room(&e)
			p.layOut(e.Free, left)
		}
		switch {
		case err != nil:
			f.Named(model.NodeObject(room.Node), err)
		case e.Marks&model.Leaves != 0:
			leaving = append(leaving, e)
		case e.Marks&model.Ready == 0:
			starting = append(starting, e)
		default:
			staying = append(staying, e)
		}
	}
	return append(staying, starting...), leaving
}

// typeOf returns the instance type of a node in the catalog of its pool, nil if it is not known.
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

// nodeAdmission computes which classes may run on which nodes. Most nodes of a cluster have the
// same relevant labels and taints, so each combination is computed once. Labels of existing nodes
// are compared as they are, by kube-scheduler's own code: an alias does not help a pod whose label
// is missing.
type nodeAdmission struct {
	p         *Problem
	selectors []nodeaffinity.RequiredNodeAffinity // by class
	keys      []*model.LabelColumn                // labels that some class requires
	names     bool                                // some class selects nodes by name
	known     map[string]*model.Verdict
	verdicts  []*model.Verdict // by number
	plain     *model.Verdict   // of a node without taints, if no class requires labels
	buf       []byte           // scratch space
}

func newNodeAdmission(p *Problem, before *model.Rooms) *nodeAdmission {
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
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		a.keys = append(a.keys, p.rooms.Column(key, before))
	}
	return a
}

// judge returns the verdict on a node.
func (a *nodeAdmission) judge(n *model.Existing) *model.Verdict {
	if len(a.keys) > 0 || a.names || n.Marks&model.Tainted != 0 {
		return a.judgeLook(n)
	}
	if a.plain == nil {
		a.plain = a.judgeLook(n)
	}
	return a.plain
}

func (a *nodeAdmission) judgeLook(e *model.Existing) *model.Verdict {
	a.look(e)
	if known, ok := a.known[string(a.buf)]; ok {
		return known
	}
	n := &e.Standing
	out := &model.Verdict{Number: len(a.verdicts), Selects: bitset.New(len(a.p.Classes)), Tolerates: bitset.New(len(a.p.Classes))}
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
	out.Open = out.Selects.Clone()
	out.Open.And(out.Tolerates)
	for c := range out.Open.All() {
		if slices.ContainsFunc(a.p.Classes[c].Labels, func(key string) bool { _, ok := n.Labels[key]; return !ok }) {
			out.Open.Remove(c)
		}
	}
	a.known[string(a.buf)], a.verdicts = out, append(a.verdicts, out)
	return out
}

func (a *nodeAdmission) selects(c int, n *model.LabelsAndTaints) bool {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}}
	// An error means that the selector cannot be read, which FromPod reports.
	ok, err := a.selectors[c].Match(node)
	return ok && err == nil
}

// look writes everything on which the admission of a node depends to buf.
func (a *nodeAdmission) look(n *model.Existing) {
	b := a.buf[:0]
	for _, key := range a.keys {
		b = binary.LittleEndian.AppendUint32(b, uint32(key.Of[n.Index]))
	}
	if a.names {
		b = append(b, n.Standing.Name...)
	}
	if n.Marks&model.Tainted != 0 {
		for i := range n.Standing.Taints {
			b = append(append(b, 0), n.Standing.Taints[i].ToString()...)
		}
	}
	a.buf = b
}

// room returns what is left on a node for pods.
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
