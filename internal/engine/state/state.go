package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Pod is a pod that may be moved, and where it is.
type Pod struct {
	Pod     *corev1.Pod
	Node    string // name of its node; empty for none
	Perhaps bool   // it may not come to the node: it excludes others there, and satisfies no constraint
}

// NewNode is a node to be launched. It may become any of its options.
type NewNode struct {
	Name         string // not the name of another node
	Pool         string // name of its NodePool
	Requirements requirements.Set
	Labels       map[string]string
	Options      []cloudprovider.LaunchOption
}

// State is a cluster of running pods. Methods that change it record how to undo the change. It is
// not safe for concurrent use. New makes it; the zero value must not be used.
type State struct {
	Problem *compile.Problem // the cluster, compiled as far as constraints between pods need

	ledger  *ledger.Ledger
	nodes   map[string]*ledger.Bin
	classes map[types.NamespacedName]int
	perhaps map[types.NamespacedName]bool
	sites   [][]int                     // by key of the domain table and by domain: nodes that may be there
	options map[string]map[string][]int // by pool and instance type: index in Options of the pool

	concerns []*Concern // by class; nil until they are needed
	counts   [][]Count  // by selection
	spreads  []Count
	rates    []float64 // by class; negative until it is computed

	undo []func()
}

// New compiles a cluster. in.Nodes have only the pods that are never moved; pods has the others, each
// once. Nodes that are being deleted take no pods, and their domains count for no spread. like is a
// problem with the same catalog, from which unchanged parts are reused. It returns nil if it found faults.
//
// It takes the time of compile.NewProblem, and O(pods) more.
func New(in model.Input, opts model.Options, pods []Pod, like *compile.Problem, f *model.Faults) *State {
	opts.Placed, in.Nominated, in.Pods = true, nil, make([]*corev1.Pod, len(pods))
	for i := range pods {
		in.Pods[i] = pods[i].Pod
	}
	p := compile.NewProblem(in, nil, opts, like, nil, f)
	if p == nil {
		return nil
	}
	s := &State{Problem: p, nodes: make(map[string]*ledger.Bin, len(p.Nodes)), classes: make(map[types.NamespacedName]int, len(pods)),
		perhaps: map[types.NamespacedName]bool{}, sites: make([][]int, len(p.Table.Keys)), options: map[string]map[string][]int{}}
	for k := range p.Table.Keys {
		s.sites[k] = make([]int, len(p.Table.Values[k]))
	}
	for i, pod := range p.Pods {
		s.classes[nameOf(pod)] = p.ClassOf[i]
	}
	bins := make([]*ledger.Bin, len(p.Nodes))
	for i := range p.Nodes {
		n := &p.Nodes[i]
		bins[i] = &ledger.Bin{Number: -1, Node: i, At: ledger.NodeLocations(p, n)}
		ledger.Hold(p, bins[i], nil)
		s.nodes[n.Name()] = bins[i]
		s.countSites(bins[i], 1)
	}
	s.ledger = ledger.New(p, bins)
	for i := range pods {
		if b := s.nodes[pods[i].Node]; b != nil {
			name := nameOf(pods[i].Pod)
			if pods[i].Perhaps {
				s.perhaps[name] = true
			}
			s.ledger.Put(s.classes[name], 1, b, pods[i].Perhaps)
		}
	}
	return s
}

// nameOf returns the namespace and the name of a pod.
func nameOf(p *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

// Class returns the class of a pod: an index in Problem.Classes. It is -1 for a pod that was not passed
// to New.
func (s *State) Class(pod *corev1.Pod) int {
	if c, known := s.classes[nameOf(pod)]; known {
		return c
	}
	return -1
}

// Node returns the index of a node in Problem.Nodes, -1 if it is not there or is new.
func (s *State) Node(name string) int {
	if b := s.nodes[name]; b != nil {
		return b.Node
	}
	return -1
}

// Uncertain returns the number of pods that may not come to their nodes.
func (s *State) Uncertain() int { return len(s.perhaps) }

// Mark returns the present state, for Rewind.
func (s *State) Mark() int { return len(s.undo) }

// Rewind undoes all changes after a mark.
func (s *State) Rewind(mark int) {
	for len(s.undo) > mark {
		last := s.undo[len(s.undo)-1]
		s.undo = s.undo[:len(s.undo)-1]
		last()
	}
}

// Log adds a change that the caller has made to those that Rewind undoes.
func (s *State) Log(undo func()) { s.undo = append(s.undo, undo) }

// Depart takes a pod off a node. If the node is not known, it changes nothing.
func (s *State) Depart(pod *corev1.Pod, node string) {
	if c, b := s.Class(pod), s.nodes[node]; c >= 0 && b != nil {
		s.put(c, -1, b, s.perhaps[nameOf(pod)])
	}
}

// Arrive puts a pod on a node. If the node is not known, it changes nothing.
func (s *State) Arrive(pod *corev1.Pod, node string, perhaps bool) {
	if c, b := s.Class(pod), s.nodes[node]; c >= 0 && b != nil {
		s.put(c, 1, b, perhaps)
	}
}

func (s *State) put(class, n int, b *ledger.Bin, perhaps bool) {
	s.ledger.Put(class, n, b, perhaps)
	s.Log(func() { s.ledger.Put(class, -n, b, perhaps) })
}

// Excluder returns the first constraint between pods that excludes a pod from a node now, nil if
// there is none. Its key is empty for a host port, a volume or a limit. Resources and node selection are not checked.
func (s *State) Excluder(pod *corev1.Pod, node string) *workload.Term {
	c, b := s.Class(pod), s.nodes[node]
	if c < 0 || b == nil {
		return nil
	}
	return s.ledger.Excluder(c, b)
}

// Remove removes a node whose pods have left.
func (s *State) Remove(node string) {
	b := s.nodes[node]
	if b == nil {
		return
	}
	delete(s.nodes, node)
	s.ledger.Remove(b)
	s.countSites(b, -1)
	s.Log(func() {
		s.nodes[node] = b
		s.ledger.Restore(b)
		s.countSites(b, 1)
	})
}

// Launch adds a new node without pods. If its pool is not known, it changes nothing.
func (s *State) Launch(n NewNode) {
	p := s.Problem
	pool := slices.IndexFunc(p.Pools, func(pl catalog.Pool) bool { return pl.Object.Name == n.Pool })
	if pool < 0 {
		return
	}
	t := ledger.BinType{Pool: pool, Asked: n.Requirements, Settled: n.Requirements, Labels: n.Labels, List: n.Options, Options: bitset.New(p.Admission.Domains.Total)}
	s.match(pool, &t)
	as := ledger.NewBinType(t)
	b := &ledger.Bin{Number: -1, Node: -1, BinType: as, At: ledger.BinTypeLocations(p, as)}
	ledger.Hold(p, b, nil)
	s.ledger.Open(b)
	s.nodes[n.Name] = b
	s.countSites(b, 1)
	s.Log(func() {
		s.countSites(b, -1)
		delete(s.nodes, n.Name)
		s.ledger.Drop()
	})
}

// match adds to a bin type the options of its pool that are in its List.
func (s *State) match(pool int, t *ledger.BinType) {
	pl := &s.Problem.Pools[pool]
	byType := s.options[pl.Object.Name]
	if byType == nil {
		byType = map[string][]int{}
		for i := range pl.Options {
			name := pl.Options[i].InstanceType.Name
			byType[name] = append(byType[name], i)
		}
		s.options[pl.Object.Name] = byType
	}
	for i := range t.List {
		asked := t.List[i].Offering
		for _, o := range byType[t.List[i].InstanceType.Name] {
			own := pl.Options[o].Offering
			if own.Zone == asked.Zone && own.CapacityType == asked.CapacityType && own.ReservationID == asked.ReservationID {
				t.Options.Add(pl.First + o)
			}
		}
	}
}

// countSites adds n to the number of nodes in the domains of a node.
func (s *State) countSites(b *ledger.Bin, n int) {
	for k := range s.sites {
		for _, d := range b.At[k].Domains {
			s.sites[k][d] += n
		}
	}
}
