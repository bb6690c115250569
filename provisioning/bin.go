package provisioning

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// location is where a node may be, as far as one label tells.
type location struct {
	domains []int // ascending
	lacks   bool  // it may come up without the label, or with a value that nobody knows of
}

// sure returns the only domain that a node can be in, if that is certain.
func (r *location) sure() (int, bool) {
	if len(r.domains) == 1 && !r.lacks {
		return r.domains[0], true
	}
	return 0, false
}

// within says whether a node that reaches r is somewhere where one that reaches
// other may be, whatever it becomes.
func (r *location) within(other *location) bool {
	return (other.lacks || !r.lacks) && !slices.ContainsFunc(r.domains, func(d int) bool { return !slices.Contains(other.domains, d) })
}

// nodeLocations works out where a node that exists may be: where its labels say, or,
// for a label that it has not got yet, where its NodeClaim lets it go.
func (p *Problem) nodeLocations(n *existing) []location {
	out := make([]location, len(n.at))
	for k, d := range n.at {
		switch {
		case d >= 0:
			out[k].domains = []int{d}
		case d == topology.None:
			out[k].lacks = true
		default:
			out[k].lacks = true
			asked, err := requirements.FromNodeClaim(n.NodeClaim, p.vocabulary)
			r, named := asked.Get(p.vocabulary.NormalizeKey(p.table.keys[k]))
			for d, value := range p.table.values[k] {
				if err != nil || (!named || r.Has(value)) && p.mayBe(n, asked, p.table.keys[k], value) {
					out[k].domains = append(out[k].domains, d)
				}
			}
		}
	}
	return out
}

// bin is a node that the plan puts pods on, or may.
type bin struct {
	number  int      // in the ledger that it is of
	node    int      // index of the node that exists, -1 for a new one
	binType *binType // of the new one
	at      []location

	free     []int64        // what is left of the node that exists
	taken    []int64        // what the pods take of the new one
	requests resources.List // the same, as pods ask for it
	attached []int32        // volumes, of those that several pods have
	apart    []pack.Membership
	pods     []bundled // of the plan, by class
	podIDs   []int32   // the same, each
	late     bool      // some were placed last
	shut     bool      // it is taken out of the plan
}

// vacate takes all pods of the plan off a bin.
func (p *Problem) vacate(s *bin) {
	s.podIDs, s.pods = nil, nil
	if s.node < 0 {
		s.taken = make([]int64, len(p.resources)+len(p.rules.slots))
		s.apart, s.attached = nil, nil
		return
	}
	n := &p.nodes[s.node]
	s.free, s.attached, s.apart = slices.Clone(n.free), n.attached, slices.Clone(p.nodeParts[s.node])
}

// addTo puts a pod on a bin.
func (p *Problem) addTo(s *bin, c int, podID int32) {
	takes := p.takes(c, s.attached)
	if s.node >= 0 {
		subtract(s.free, takes)
	} else {
		for r, n := range takes {
			s.taken[r] += n // what overflows has been refused
		}
	}
	s.attached = p.attach(s.attached, c)
	for _, part := range p.rules.duties[c].all {
		s.apart = addPart(s.apart, part.Rule, part.Owners, part.Members, part.Both)
	}
	s.podIDs = append(s.podIDs, podID)
	s.add(c)
}

// add counts a pod of a class.
func (s *bin) add(c int) {
	for i := range s.pods {
		if s.pods[i].class == c {
			s.pods[i].count++
			return
		}
	}
	s.pods = append(s.pods, bundled{c, 1})
}

// apartAllow says whether the rules over nodes that keep pods apart let one of a
// class join others, given what these count for.
func (r *rules) apartAllow(c int, others []pack.Membership) bool {
	for _, part := range r.duties[c].all {
		if r.node[part.Rule].Kind != pack.Apart {
			continue
		}
		owners, members, both := part.Owners, part.Members, part.Both
		if i, ok := slices.BinarySearchFunc(others, part.Rule, comparePart); ok {
			owners, members, both = owners+others[i].Owners, members+others[i].Members, both+others[i].Both
		}
		if owners > 0 && members > 0 && (owners > 1 || members > 1 || both < 1) {
			return false
		}
	}
	return true
}
