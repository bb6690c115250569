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

// Location is where a node may be, as far as one label tells.
type Location struct {
	Domains []int // ascending
	Lacks   bool  // it may come up without the label, or with a value that nobody knows of
}

// Sure returns the only domain that a node can be in, if that is certain.
func (r *Location) Sure() (int, bool) {
	if len(r.Domains) == 1 && !r.Lacks {
		return r.Domains[0], true
	}
	return 0, false
}

// Certain says whether it is known where a node is: in one domain, or in none.
func (r *Location) Certain() bool { return len(r.Domains) == 0 || len(r.Domains) == 1 && !r.Lacks }

// Within says whether a node that reaches r is somewhere where one that reaches
// other may be, whatever it becomes.
func (r *Location) Within(other *Location) bool {
	return (other.Lacks || !r.Lacks) && !slices.ContainsFunc(r.Domains, func(d int) bool { return !slices.Contains(other.Domains, d) })
}

// NodeLocations works out where a node that exists may be: where its labels say, or,
// for a label that it has not got yet, where its NodeClaim lets it go.
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

// Bin is a node that the plan puts pods on, or may.
type Bin struct {
	Number  int      // in the ledger that it is of
	Node    int      // index of the node that exists, -1 for a new one
	BinType *BinType // of the new one
	At      []Location

	Free     []int64        // what is left of the node that exists
	Taken    []int64        // what the pods take of the new one
	Requests resources.List // the same, as pods ask for it
	Attached []int32        // volumes, of those that several pods have
	Apart    []pack.Membership
	Pods     []attempt.Bundled // of the plan, by class
	PodIDs   []int32           // the same, each
	Late     bool              // some were placed last
	Shut     bool              // it is taken out of the plan
}

// Hold puts some pods on a bin in place of all those of the plan that are on it.
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
		AddTo(p, s, p.ClassOf[podID], podID)
	}
}

// AddTo puts a pod on a bin.
func AddTo(p *compile.Problem, s *Bin, c int, podID int32) {
	takes := p.Takes(c, s.Attached)
	if s.Node >= 0 {
		attempt.Subtract(s.Free, takes)
	} else {
		for r, n := range takes {
			s.Taken[r] += n // what overflows has been refused
		}
	}
	s.Attached = p.Attach(s.Attached, c)
	all := p.Rules.Duties[c].All
	if len(s.Apart) == 0 {
		s.Apart = slices.Grow(s.Apart, len(all))
	}
	for _, part := range all {
		s.Apart = compile.AddPart(s.Apart, part.Rule, part.Owners, part.Members, part.Both)
	}
	s.PodIDs = append(s.PodIDs, podID)
	s.Add(c)
}

// Add counts a pod of a class.
func (s *Bin) Add(c int) {
	for i := range s.Pods {
		if s.Pods[i].Class == c {
			s.Pods[i].Count++
			return
		}
	}
	s.Pods = append(s.Pods, attempt.Bundled{Class: c, Count: 1})
}

// NodeAllows says whether the rules over nodes let a pod of a class join others, given what
// these count for: all but topology spreads, of which HostsAllow knows how they stand.
func NodeAllows(r *compile.Rules, c int, others []pack.Membership) bool {
	for _, part := range r.Duties[c].All {
		rule := &r.Node[part.Rule]
		if rule.Spread {
			continue
		}
		owners, members, both := part.Owners, part.Members, part.Both
		if i, ok := slices.BinarySearchFunc(others, part.Rule, compile.ComparePart); ok {
			owners, members, both = owners+others[i].Owners, members+others[i].Members, both+others[i].Both
		}
		if !rule.Holds(owners, members, both) {
			return false
		}
	}
	return true
}
