package provisioning

import (
	"maps"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// placed counts by unit and cell what the packer found room for, and
// whether that was all.
func (s *attempt) placed(r *pack.Result) (out [][]int, all bool) {
	all = true
	for u := range s.units {
		out = append(out, make([]int, len(s.units[u].cells)))
	}
	for i := range s.bundler.pinned {
		if i := s.pinnedParts[i]; i >= 0 && s.parts[i].unit >= 0 {
			out[s.parts[i].unit][s.parts[i].cell] = s.parts[i].count
		}
	}
	left := slices.Clone(r.Left)
	for l := range s.items {
		left[l] = s.items[l].pods(left[l])
		if s.items[l].units != nil {
			if part := &s.parts[s.items[l].parts[0]]; part.unit >= 0 {
				out[part.unit][part.cell] = 1 - left[l]
				all = all && left[l] == 0
			}
			continue
		}
		// The last parts of an item come away empty.
		for _, i := range slices.Backward(s.items[l].parts) {
			part := &s.parts[i]
			short := min(left[l], part.count)
			left[l] -= short
			if part.unit >= 0 {
				out[part.unit][part.cell] += part.count - short
				all = all && short == 0
			}
		}
	}
	return out, all
}

// next is another try where cells turned out to hold less than was assigned to
// them, or nodes for other pods bring domains along that count; nil if there is
// nothing to gain.
func (s *attempt) next(p *Problem, r *pack.Result) *attempt {
	placed, all := s.placed(r)
	incidentalDomains, more := s.findIncidentalDomains(p, r)
	relaxed := s.giveUp(p, r)
	if relaxed != nil && p.skips(givenUp) {
		relaxed = nil
	}
	if relaxed == nil && all && (!more || serves(s.replay(p, placed, incidentalDomains), placed)) {
		return nil
	}
	next := s.hints
	if relaxed != nil {
		// Units change, so what is known of their rooms does not carry over.
		next.relaxed, next.incidentalDomains, next.rooms = relaxed, incidentalDomains, nil
		return s.follow(p.newAttempt(next), r)
	}
	next.incidentalDomains, next.rooms = incidentalDomains, nil
	for u := range s.units {
		rooms := make([]int, len(placed[u]))
		for cell, n := range placed[u] {
			rooms[cell] = s.problem.Classes[u].Cells[cell].Room
			if n < s.assigned.Placed[u][cell] {
				rooms[cell] = n
			}
		}
		next.rooms = append(next.rooms, rooms)
	}
	return s.follow(p.newAttempt(next), r)
}

// follow makes an attempt the next after this one, of which it has the result.
func (s *attempt) follow(next *attempt, r *pack.Result) *attempt {
	if next.origin = s.origin; next.origin == nil {
		next.origin = r
	}
	return next
}

// narrowed returns the hints for a try without the cells that nobody went to,
// if some pods are kept from all cells: kube-scheduler counts no domain that
// has no node. It returns nil if no pod is.
func (s *attempt) narrowed(r *pack.Result) *hints {
	if !s.blocks() {
		return nil
	}
	placed, _ := s.placed(r)
	out := s.hints
	out.rooms = nil
	for u := range s.units {
		rooms := make([]int, len(placed[u]))
		for cell, n := range placed[u] {
			if n > 0 {
				rooms[cell] = math.MaxInt
			}
		}
		out.rooms = append(out.rooms, rooms)
	}
	return &out
}

// blocks says whether some pods are kept from all cells.
func (s *attempt) blocks() bool {
	return len(s.units) > 0 && slices.ContainsFunc(s.assigned.Blocked, func(n int) bool { return n > 0 })
}

// giveUp returns the classes whose preferences have to be given up, now that
// pods of them found no place; nil if there are no more than before.
func (s *attempt) giveUp(p *Problem, r *pack.Result) map[int]bool {
	var out map[int]bool
	for l, n := range r.Left {
		for _, i := range s.items[l].parts {
			c := s.parts[i].class
			w := &p.preferences[c]
			if n == 0 || s.relaxed[c] || w.options == nil && len(w.spans) == 0 && p.flexible == nil {
				continue
			}
			if out == nil {
				out = maps.Clone(s.relaxed)
			}
			if out == nil {
				out = map[int]bool{}
			}
			out[c] = true
		}
	}
	return out
}

// admittedCounts is the proof that pods can be bound one by one where the packer put
// them, and how many of each part.
type admittedCounts struct {
	left   []int // by part
	events []topology.Event
	proof  *topology.Result // nil if no domains were assigned
}

// admittedCounts serves the pods once more, now that it is known what each cell holds,
// and lets through those that the rules allow.
func (s *attempt) admittedCounts(p *Problem, r *pack.Result) *admittedCounts {
	out := &admittedCounts{left: make([]int, len(s.parts))}
	for i := range s.parts {
		out.left[i] = s.parts[i].count
	}
	if len(s.units) == 0 {
		return out
	}
	placed, all := s.placed(r)
	out.proof = s.assigned
	incidentalDomains, more := s.findIncidentalDomains(p, r)
	if !all || more {
		out.proof = s.replay(p, placed, incidentalDomains)
	}
	out.events = out.proof.Events
	given := map[unitCell]int{} // where several parts are in one cell
	for i := range s.parts {
		part := &s.parts[i]
		if part.unit < 0 {
			continue
		}
		out.left[i] = out.proof.Placed[part.unit][part.cell] * s.units[part.unit].share(part.class)
		if s.raised != nil && s.units[part.unit].bundle < 0 {
			id := unitCell{part.unit, part.cell}
			out.left[i] = min(out.left[i]-given[id], part.count)
			given[id] += out.left[i]
		}
	}
	return out
}

// serves says whether an assignment has a place for all that was placed.
func serves(r *topology.Result, placed [][]int) bool {
	for u := range placed {
		if !slices.Equal(r.Placed[u], placed[u]) {
			return false
		}
	}
	return true
}

// replay serves the pods again with what each cell was found to hold.
func (s *attempt) replay(p *Problem, placed [][]int, incidentalDomains [][]bool) *topology.Result {
	again := *s
	again.incidentalDomains, again.rooms = incidentalDomains, placed
	return topology.Assign(again.state(p))
}

// share is how many pods of a class one unit stands for.
func (u *unit) share(class int) int {
	n := 0
	for _, m := range u.members {
		if m.class == class {
			n += m.count
		}
	}
	return n
}
