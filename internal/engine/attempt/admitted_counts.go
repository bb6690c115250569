package attempt

import (
	"maps"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

// Placed returns, by unit and cell, how many of its pods the packer placed, and whether it placed
// all pods.
func (s *Attempt) Placed(r *pack.Result) (out [][]int, all bool) {
	all = true
	for u := range s.Units {
		out = append(out, make([]int, len(s.Units[u].Cells)))
	}
	for i := range s.Bundler.Pinned {
		if i := s.PinnedParts[i]; i >= 0 && s.Parts[i].Unit >= 0 {
			out[s.Parts[i].Unit][s.Parts[i].Cell] = s.Parts[i].Count
		}
	}
	left := slices.Clone(r.Left)
	for l := range s.Items {
		if s.Items[l].Units != nil {
			if part := &s.Parts[s.Items[l].Parts[0]]; part.Unit >= 0 {
				out[part.Unit][part.Cell] = 1 - left[l]
				all = all && left[l] == 0
			}
			continue
		}
		// The packer places pods in the order of the parts, so the last parts of an item are short.
		for _, i := range slices.Backward(s.Items[l].Parts) {
			part := &s.Parts[i]
			short := min(left[l], part.Count)
			left[l] -= short
			if part.Unit >= 0 {
				out[part.Unit][part.Cell] += part.Count - short
				all = all && short == 0
			}
		}
	}
	return out, all
}

// Next returns another attempt with better hints, if cells turned out to hold fewer pods than were
// assigned to them; nil if another attempt cannot gain anything.
func (s *Attempt) Next(p *compile.Problem, r *pack.Result) *Attempt {
	placed, all := s.Placed(r)
	relaxed := s.giveUp(p, r)
	if relaxed != nil && p.Skips(model.GivenUp) {
		relaxed = nil
	}
	if relaxed == nil && all {
		return nil
	}
	next := s.Hints
	if relaxed != nil {
		// The units change, so their known rooms cannot be reused.
		next.Relaxed, next.Rooms = relaxed, nil
		return New(p, next)
	}
	next.Rooms = nil
	for u := range s.Units {
		rooms := make([]int, len(placed[u]))
		for cell, n := range placed[u] {
			rooms[cell] = s.Problem.Classes[u].Cells[cell].Room
			if n < s.Assigned.Placed[u][cell] {
				rooms[cell] = n
			}
		}
		next.Rooms = append(next.Rooms, rooms)
	}
	return New(p, next)
}

// giveUp returns the classes whose preferences must be given up because pods of them found no
// place; nil if there are no more of them than before.
func (s *Attempt) giveUp(p *compile.Problem, r *pack.Result) map[int]bool {
	var out map[int]bool
	for l, n := range r.Left {
		for _, i := range s.Items[l].Parts {
			c := s.Parts[i].Class
			w := &p.Preferences[c]
			if n == 0 || s.Relaxed[c] || w.Options == nil && len(w.Spans) == 0 && p.Flexible == nil {
				continue
			}
			if out == nil {
				out = maps.Clone(s.Relaxed)
			}
			if out == nil {
				out = map[int]bool{}
			}
			out[c] = true
		}
	}
	return out
}

// AdmittedCounts says how many pods of each part can be bound where the packer put them, and in
// which order.
type AdmittedCounts struct {
	Left   []int            // by part: pods without a place
	Events []topology.Event // order of binding; nil if no domains were assigned
}

// AdmittedCounts assigns the pods to cells once more, with the room that each cell turned out to
// have, and returns the pods that the rules admit.
func (s *Attempt) AdmittedCounts(p *compile.Problem, r *pack.Result) *AdmittedCounts {
	out := &AdmittedCounts{Left: make([]int, len(s.Parts))}
	for i := range s.Parts {
		out.Left[i] = s.Parts[i].Count
	}
	if len(s.Units) == 0 {
		return out
	}
	placed, all := s.Placed(r)
	proof := s.Assigned
	if !all {
		proof = s.replay(p, placed)
	}
	out.Events = proof.Events
	for i := range s.Parts {
		part := &s.Parts[i]
		if part.Unit < 0 {
			continue
		}
		out.Left[i] = proof.Placed[part.Unit][part.Cell] * s.Units[part.Unit].share(part.Class)
	}
	return out
}

// replay assigns the pods again, limited to what each cell turned out to hold.
func (s *Attempt) replay(p *compile.Problem, placed [][]int) *topology.Result {
	again := *s
	again.Rooms = placed
	return topology.Assign(again.state(p))
}

// share returns how many pods of a class one pod of the unit stands for.
func (u *unit) share(class int) int {
	n := 0
	for _, m := range u.Members {
		if m.Class == class {
			n += m.Count
		}
	}
	return n
}
