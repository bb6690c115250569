package ledger

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Location lists the domains of one label in which a node may be.
type Location struct {
	Domains []int // ascending
	Lacks   bool  // the node may lack the label, or have a value that is not known
	Beyond  bool  // a new node may have a value that the domain table does not list
}

// Sure returns the only domain that a node can be in, if there is exactly one.
func (r *Location) Sure() (int, bool) {
	if len(r.Domains) == 1 && r.Certain() {
		return r.Domains[0], true
	}
	return 0, false
}

// Certain says whether it is certain where a node is: in one domain, or in none.
func (r *Location) Certain() bool {
	return !r.Beyond && (len(r.Domains) == 0 || len(r.Domains) == 1 && !r.Lacks)
}

// Within says whether a node with location r is, whatever its labels turn out to be, in a domain in
// which a node with location other may be.
func (r *Location) Within(other *Location) bool {
	return (other.Lacks || !r.Lacks) && (other.Beyond || !r.Beyond) && !slices.ContainsFunc(r.Domains, func(d int) bool { return !slices.Contains(other.Domains, d) })
}

// NodeLocations returns the locations of an existing node by key: those of its labels, or, for a
// label that it lacks so far, those that its NodeClaim allows.
func NodeLocations(p *compile.Problem, n *model.Existing) []Location {
	out := make([]Location, len(n.At))
	for k, d := range n.At {
		switch {
		case d >= 0:
			out[k].Domains = []int{d}
		case d == topology.None:
			out[k].Lacks = true
		default:
			out[k].Lacks = true
			asked, err := requirements.FromNodeClaim(n.NodeClaim, p.Vocabulary)
			r, named := asked.Get(p.Vocabulary.NormalizeKey(p.Table.Keys[k]))
			for d, value := range p.Table.Values[k] {
				if err != nil || (!named || r.Has(value)) && p.MayBe(n, asked, p.Table.Keys[k], value) {
					out[k].Domains = append(out[k].Domains, d)
				}
			}
		}
	}
	return out
}

// Bin is a node of the plan, existing or new, with its pods.
type Bin struct {
	Number  int      // index in the ledger
	Node    int      // index of the existing node, -1 for a new node
	BinType *BinType // of a new node
	At      []Location

	Free     []int64        // of an existing node: what is left, by resource
	Taken    []int64        // of a new node: what its pods use, by resource
	Requests resources.List // of a new node: what its pods request, by name
	Attached []int32        // volumes that are attached, among those that several pods use
	Apart    []pack.Membership
	Pods     []attempt.Bundled // pods of the plan, by class
	PodIDs   []int32           // pods of the plan, each
	Late     bool              // some of its pods were placed one by one, after packing
	Shut     bool              // it was removed from the plan
}

// HasRoom says whether a bin has room for one request more and another, nil for none, less. capacity
// is a method of BinType, which returns what a new node has.
func (s *Bin) HasRoom(p *compile.Problem, capacity func(*BinType, *compile.Problem) []int64, more, less []int64) bool {
	left := s.Free
	if s.Node < 0 {
		left = capacity(s.BinType, p)
	}
	for r, n := range more {
		if s.Node < 0 {
			n += s.Taken[r]
		}
		if less != nil {
			n -= less[r]
		}
		if more[r] > 0 && n > left[r] {
			return false
		}
	}
	return true
}

// Hold replaces the pods of the plan on a bin by some others.
func Hold(p *compile.Problem, s *Bin, podIDs []int32) {
	s.PodIDs, s.Pods = nil, nil
	if len(podIDs) > 0 {
		s.PodIDs = make([]int32, 0, len(podIDs))
	}
	if s.Node < 0 {
		s.Taken = make([]int64, len(p.Resources)+len(p.Rules.Slots))
		s.Apart, s.Attached = nil, nil
	} else {
		n := &p.Nodes[s.Node]
		s.Free, s.Attached, s.Apart = slices.Clone(n.Free), n.Attached, slices.Clone(p.NodeParts[s.Node])
	}
	for _, podID := range podIDs {
		addTo(p, s, podID)
	}
}

// addTo puts a pod on a bin.
func addTo(p *compile.Problem, s *Bin, podID int32) {
	c := p.ClassOf[podID]
	takes := p.Takes(c, s.Attached)
	if s.Node >= 0 {
		attempt.Subtract(s.Free, takes)
	} else {
		for r, n := range takes {
			s.Taken[r] += n // a sum that overflows was refused before
		}
	}
	s.Attached = p.Attach(s.Attached, c)
	s.Apart = pack.AddPods(s.Apart, 1, p.Rules.ByClass[c].All...)
	s.PodIDs = append(s.PodIDs, podID)
	s.Add(c, 1)
}

// Add adds n pods of a class to Pods; n may be negative.
func (s *Bin) Add(c, n int) {
	i := slices.IndexFunc(s.Pods, func(m attempt.Bundled) bool { return m.Class == c })
	if i < 0 {
		s.Pods = append(s.Pods, attempt.Bundled{Class: c, Count: n})
	} else if s.Pods[i].Count += n; s.Pods[i].Count == 0 {
		s.Pods = slices.Delete(s.Pods, i, i+1)
	}
}
