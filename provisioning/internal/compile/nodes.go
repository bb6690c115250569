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
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// existingNodes works out the room on each node that stays: those that are
// initialised first, then by name. Nodes on their way out come apart: their
// pods, of which the kinds are given, still count where constraints count pods.
func (p *Problem) existingNodes(nodes []model.Node, boundMemberships [][]int32, f *model.Faults) (staying, leaving []model.Existing) {
	requests := workload.NewRequestsCache()
	read := map[string]model.Room{}
	out := make([]model.Existing, 0, len(nodes))
	for i, n := range nodes {
		e := model.Existing{Node: n}
		r, ok := p.rooms.Find(n)
		if ok {
			e.Ready, e.Standing = r.Ready, r.Standing
		} else {
			e.Ready, e.Standing = n.Initialized(), model.LabelsAndTaints{Name: n.HostName(), Labels: n.Labels(), Taints: n.Taints()}
		}
		if boundMemberships != nil {
			e.BoundMemberships = boundMemberships[i]
		}
		if p.rooms != nil && (ok && r.Leaves || !ok && n.Leaving()) { // a what-if: it had a room that could be read
			leaving = append(leaving, e)
			continue
		}
		if !ok {
			var err error
			if r, err = p.readRoom(&e, requests); err != nil {
				f.Wrap(model.NodeObject(n), "", err)
				continue
			}
			read[n.Name()] = r
		}
		free, err := p.room(&e, &r)
		if err != nil {
			f.Wrap(model.NodeObject(n), "", err)
			continue
		}
		if r.Leaves {
			leaving = append(leaving, e)
			continue
		}
		e.Free = p.vector(free)
		out = append(out, e)
	}
	p.rooms = p.rooms.With(read)
	slices.SortStableFunc(out, func(a, b model.Existing) int {
		switch {
		case a.Ready == b.Ready:
			return 0 // they are sorted by name already
		case a.Ready:
			return -1
		}
		return 1
	})
	return out, leaving
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
	look := a.look(n)
	if known, ok := a.known[look]; ok {
		return known
	}
	out := &model.Verdict{Selects: bitset.New(len(a.p.Classes)), Tolerates: bitset.New(len(a.p.Classes))}
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
	a.known[look] = out
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
func (a *nodeAdmission) look(n *model.LabelsAndTaints) string {
	var b strings.Builder
	for _, key := range a.keys {
		value, ok := n.Labels[key]
		if ok {
			b.WriteString("=")
		}
		b.WriteString(value)
		b.WriteByte(0)
	}
	if a.names {
		b.WriteString(n.Name)
	}
	for i := range n.Taints {
		b.WriteByte(0)
		b.WriteString(n.Taints[i].ToString())
	}
	return b.String()
}

// room is what is left on a node for pods.
func (p *Problem) room(e *model.Existing, r *model.Room) (resources.List, error) {
	e.Daemons = r.Absent
	if p.Extras.Counts == nil && len(p.Extras.Drivers) == 0 {
		return r.Left, nil
	}
	free := r.Allocatable.Merge(p.Extras.OfNode(e, p.typeOf(e)))
	taken := r.Taken
	for _, i := range r.Absent {
		var err error
		if taken, err = taken.Add(p.Daemons[i].Extra); err != nil {
			return free, fmt.Errorf("bound pods and DaemonSets in sum: %w", err)
		}
	}
	return free.Sub(taken)
}

// readRoom looks at what a node has, at its pods and at the daemons that it is
// still to run.
func (p *Problem) readRoom(e *model.Existing, requests *workload.RequestsCache) (model.Room, error) {
	out := model.Room{Node: e.Node, Standing: e.Standing, Ready: e.Ready, Leaves: e.Leaving()}
	var err error
	if e.Launched() {
		if out.Capacity, err = e.Capacity(); err != nil {
			out.Capacity = resources.List{} // of no matter where no limit counts it
		}
	}
	if out.Allocatable, err = p.allocatable(e); err != nil {
		return out, err
	}
	for _, pod := range e.Pods {
		if pod == nil || podlife.Finished(pod) {
			continue
		}
		used, err := requests.Of(pod)
		if err != nil {
			return out, err
		}
		if out.Taken, err = out.Taken.Add(used); err != nil {
			return out, fmt.Errorf("bound pods in sum: %w", err)
		}
	}
	ready := map[string]string{}
	for i := range p.Daemons {
		d := &p.Daemons[i]
		if !d.RunsOn(e.Standing.Name, e.Standing.Labels, e.Standing.Taints) &&
			!d.RunsOn(e.Standing.Name, e.ReadyLabels(ready), e.Standing.Taints) {
			continue
		}
		missing, here, err := d.Missing(e, requests)
		if err != nil {
			return out, err
		}
		if !here {
			out.Absent = append(out.Absent, i)
		}
		if out.Taken, err = out.Taken.Add(missing); err != nil {
			return out, fmt.Errorf("bound pods and DaemonSets in sum: %w", err)
		}
	}
	out.Left, err = out.Allocatable.Sub(out.Taken)
	return out, err
}

// allocatable is what a node has for pods before any came. A claim that has not
// been launched is taken at its promise.
func (p *Problem) allocatable(e *model.Existing) (resources.List, error) {
	if e.Launched() {
		out, err := e.Node.Allocatable()
		if err != nil {
			err = fmt.Errorf("status.allocatable: %w", err)
		}
		return out, err
	}
	for i := range p.Pools {
		if p.Pools[i].Object.Name == e.PoolName() {
			claimEstimate, err := p.Pools[i].Estimated(e.Node, p.Vocabulary)
			if len(claimEstimate.Allocatable.Negative()) > 0 {
				// Nothing fits on a type that keeps more than it has.
				return resources.List{}, err
			}
			return claimEstimate.Allocatable, err
		}
	}
	return resources.List{}, nil
}
