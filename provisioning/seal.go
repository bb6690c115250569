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
func (s *stage) placed(r *pack.Result) (out [][]int, all bool) {
	all = true
	for u := range s.units {
		out = append(out, make([]int, len(s.units[u].cells)))
	}
	for i := range s.bundler.fixed {
		if i := s.fixedParts[i]; i >= 0 && s.parts[i].unit >= 0 {
			out[s.parts[i].unit][s.parts[i].cell] = s.parts[i].count
		}
	}
	left := slices.Clone(r.Left)
	for l := range s.lots {
		left[l] = s.lots[l].pods(left[l])
		if s.lots[l].units != nil {
			if part := &s.parts[s.lots[l].parts[0]]; part.unit >= 0 {
				out[part.unit][part.cell] = 1 - left[l]
				all = all && left[l] == 0
			}
			continue
		}
		// The last parts of a lot come away empty.
		for _, i := range slices.Backward(s.lots[l].parts) {
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
func (s *stage) next(p *Problem, r *pack.Result) *stage {
	placed, all := s.placed(r)
	strays, more := s.findStrays(p, r)
	firm := s.giveUp(p, r)
	if firm == nil && all && (!more || serves(s.prove(p, placed, strays), placed)) {
		return nil
	}
	next := s.orders
	if firm != nil {
		// Units change, so what is known of their rooms does not carry over.
		next.firm, next.strays, next.rooms = firm, strays, nil
		return s.follow(p.newStage(next), r)
	}
	next.strays, next.rooms = strays, nil
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
	return s.follow(p.newStage(next), r)
}

// follow makes a stage the next after this one, of which it has the result.
func (s *stage) follow(next *stage, r *pack.Result) *stage {
	if next.origin = s.origin; next.origin == nil {
		next.origin = r
	}
	return next
}

// narrowed returns the orders for a try without the cells that nobody went to,
// if some pods are kept from all cells: kube-scheduler counts no domain that
// has no node. It returns nil if no pod is.
func (s *stage) narrowed(r *pack.Result) *orders {
	if !s.blocks() {
		return nil
	}
	placed, _ := s.placed(r)
	out := s.orders
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
func (s *stage) blocks() bool {
	return len(s.units) > 0 && slices.ContainsFunc(s.assigned.Blocked, func(n int) bool { return n > 0 })
}

// giveUp returns the classes whose preferences have to be given up, now that
// pods of them found no place; nil if there are no more than before.
func (s *stage) giveUp(p *Problem, r *pack.Result) map[int]bool {
	var out map[int]bool
	for l, n := range r.Left {
		for _, i := range s.lots[l].parts {
			c := s.parts[i].class
			w := &p.wishes[c]
			if n == 0 || s.firm[c] || w.options == nil && len(w.spans) == 0 && p.flexible == nil {
				continue
			}
			if out == nil {
				out = maps.Clone(s.firm)
			}
			if out == nil {
				out = map[int]bool{}
			}
			out[c] = true
		}
	}
	return out
}

// seal is the proof that pods can be bound one by one where the packer put
// them, and how many of each part.
type seal struct {
	left   []int // by part
	events []topology.Event
	proof  *topology.Result // nil if no domains were assigned
}

// seal serves the pods once more, now that it is known what each cell holds,
// and lets through those that the rules allow.
func (s *stage) seal(p *Problem, r *pack.Result) *seal {
	out := &seal{left: make([]int, len(s.parts))}
	for i := range s.parts {
		out.left[i] = s.parts[i].count
	}
	if len(s.units) == 0 {
		return out
	}
	placed, all := s.placed(r)
	out.proof = s.assigned
	strays, more := s.findStrays(p, r)
	if !all || more {
		out.proof = s.prove(p, placed, strays)
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

// prove serves the pods again with what each cell was found to hold.
func (s *stage) prove(p *Problem, placed [][]int, strays [][]bool) *topology.Result {
	again := *s
	again.strays, again.rooms = strays, placed
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
