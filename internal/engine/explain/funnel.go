package explain

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// funnel counts the options of a pool that each constraint of a class removes, one constraint after
// the other.
type funnel struct {
	left  bitset.Set
	steps []model.Step
}

func (f *funnel) narrow(constraint string, to bitset.Set) {
	before := f.left.Len()
	f.left.And(to)
	if after := f.left.Len(); after < before {
		f.steps = append(f.steps, model.Step{Constraint: constraint, Removed: before - after, Left: after})
	}
}

// steps lists the constraints that exclude a node of a pool for an alternative of the class, with
// the number of options that each removes: labels in the order of their keys, ports, other pods of
// the node, and room for each resource.
func (e *explainer) steps(i int, alt requirements.Alternative) []model.Step {
	p := &e.p.Pools[i]
	f := funnel{left: bitset.New(e.d.Total)}
	f.left.AddRange(p.First, p.Last())
	for r := range alt.Set.All() {
		admitted := bitset.New(e.d.Total)
		p.Window(admitted).Or(e.d.Admitting(i, r))
		f.narrow(r.String(), admitted)
	}
	unheld := f.left.Clone()
	e.p.Admission.KeepUnheld(unheld, e.class)
	f.narrow("host ports that DaemonSets bind", unheld)
	apart := f.left.Clone()
	e.p.Admission.KeepFromDaemons(apart, e.class)
	f.narrow("anti-affinity with DaemonSets", apart)
	beside := f.left.Clone()
	e.p.Admission.KeepBesideDaemons(beside, e.class)
	f.narrow("affinity to pods of DaemonSets", beside)
	for r, want := range e.request {
		if want <= 0 {
			continue
		}
		enough := bitset.New(e.d.Total)
		for o := range f.left.All() {
			if p.Options[o-p.First].Capacity[r] >= want {
				enough.Add(o)
			}
		}
		f.narrow("room for "+model.Amount(e.p.Resources[r], want), enough)
	}
	if last := len(f.steps) - 1; last < 0 || f.steps[last].Left > 0 {
		f.steps = append(f.steps, model.Step{Constraint: e.beyond(i, alt, f.left), Removed: f.left.Len()})
	}
	return f.steps
}

// beyond names the constraint that excludes the pod where suitable options are left.
func (e *explainer) beyond(i int, alt requirements.Alternative, left bitset.Set) string {
	reason, _ := e.noRoom(i, alt, left)
	switch {
	case reason.Cause == model.CauseLimits:
		return "limits of the pool: " + reason.Detail
	case reason.Detail == "":
		return "constraints between pods"
	}
	return reason.Detail
}

// Nearest describes the instance type that comes closest to having enough of a resource for the
// class.
func Nearest(s *model.Shortfall) string {
	if s.Largest <= 0 {
		return fmt.Sprintf("needs %s, no instance type allowed has any", model.Amount(s.Resource, s.Requested))
	}
	text := model.Quantities(s.Resource, s.Requested, s.Largest)
	return fmt.Sprintf("needs %s, largest allowed %s (%s)", model.Asked(s.Resource, s.Requested, text[0]), text[1], s.InstanceType)
}
