package compile

import (
	"encoding/binary"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// lowering is how the packer sees pods of some classes, apart from memberships in rules. Its
// variants are the ways to place them on new nodes: one for all alternatives that leave no label
// open, and one for each other alternative.
type lowering struct {
	Number   int32 // equal for lowerings that are equal in the other fields
	Request  []int64
	Variants []pack.Variant
	Sources  []requirements.Set // by variant: the requirements of its pods, whichever of its alternatives applies
	Kind     int32              // number of the set of options that they may use, room aside
}

// loweringKey identifies a lowering. Sets are given as texts.
type loweringKey struct {
	ask            int32
	pin, preferred string
}

// numberAsks numbers the requirements of classes on an empty node. There are far fewer numbers than
// classes in a cluster whose pods differ only in the labels by which they are spread.
func (a *Admission) numberAsks() []int32 {
	out := make([]int32, len(a.p.Classes))
	index := map[string]int32{}
	var buf []byte
	for i := range out {
		c := &a.p.Classes[i]
		buf = binary.AppendVarint(buf[:0], int64(c.Spec))
		if c.Refusal != nil {
			buf = append(buf, '!')
		}
		for _, label := range c.Labels {
			buf = append(binary.AppendVarint(buf, int64(len(label))), label...)
		}
		buf = append(buf, '|')
		for d := range a.p.Daemons {
			if a.p.Daemons[d].KeepsAway(c) {
				buf = binary.AppendVarint(buf, int64(d))
			}
		}
		buf = append(buf, '|')
		for _, selection := range a.p.followed[i] {
			buf = binary.AppendVarint(buf, int64(selection))
		}
		buf = append(buf, '|')
		for _, slot := range a.p.OfSlots(a.p.Requests[i]) {
			buf = binary.AppendVarint(buf, slot)
		}
		out[i], _ = model.Intern(index, buf, int32(len(index)))
	}
	return out
}

// Lowering returns a lowering, computed once for each key. It must not be changed.
func (a *Admission) Lowering(index int, pin requirements.Set, preferred bitset.Set) *lowering {
	id := loweringKey{ask: a.asks[index]}
	if pin.Len() > 0 {
		id.pin = pin.String()
	}
	if preferred != nil {
		id.preferred = preferred.Key()
	}
	return a.cache.lowerings.of(id, func() *lowering { return a.newLowering(index, pin, preferred) })
}

func (a *Admission) newLowering(index int, pin requirements.Set, preferred bitset.Set) *lowering {
	c := &a.p.Classes[index]
	out := &lowering{Request: a.p.Requests[index]}
	fitting, pinned := a.Fits(out.Request), a.pinned(pin)
	if pinned != nil || preferred != nil {
		fitting = fitting.Clone()
	}
	if pinned != nil {
		fitting.And(pinned)
	}
	if preferred != nil && a.overlaps(index, fitting, preferred) {
		fitting.And(preferred)
	}
	kind := bitset.New(a.Domains.Total)
	var plain bitset.Set
	var source requirements.Set
	count := 0
	for i, alt := range c.Alternatives {
		asked := alt.Set.Intersect(pin)
		options := a.Suited[index][i].Clone()
		kind.Or(options)
		options.And(fitting)
		trait := a.p.Traits.Of(asked)
		a.KeepMinValues(options, trait)
		if options.Empty() {
			continue
		}
		if a.touchesOpen(asked, options) {
			out.Variants = append(out.Variants, pack.Variant{Options: options, Trait: trait})
			out.Sources = append(out.Sources, asked)
			continue
		}
		if plain == nil {
			plain = options
		}
		plain.Or(options)
		source = asked
		count++
	}
	if plain != nil {
		if count > 1 {
			source = pin // none of several alternatives is certain
		}
		out.Variants = append(out.Variants, pack.Variant{Options: plain})
		out.Sources = append(out.Sources, source)
	}
	if pinned != nil {
		kind.And(pinned)
	}
	kind.And(a.Fits(AtMostOne(out.Request)))
	a.number(out, kind)
	return out
}

// number numbers a lowering and its kind. For the kind, a resource that an option lacks counts as a
// label: pods that request a GPU are of another kind than others.
func (a *Admission) number(low *lowering, kind bitset.Set) {
	low.Number = a.cache.numbers.number(func(kindOf func(bitset.Set) int32) []byte {
		low.Kind = kindOf(kind)
		buf := binary.AppendVarint(nil, int64(low.Kind))
		for _, n := range low.Request {
			buf = binary.AppendVarint(buf, n)
		}
		for i, v := range low.Variants {
			buf = binary.AppendVarint(buf, int64(v.Trait))
			buf = binary.AppendVarint(buf, int64(kindOf(v.Options)))
			buf = append(buf, low.Sources[i].String()...)
			buf = append(buf, 0)
		}
		return buf
	})
}

// overlaps says whether any fitting option that suits a class is among the preferred ones.
func (a *Admission) overlaps(index int, fitting, preferred bitset.Set) bool {
	return slices.ContainsFunc(a.Suited[index], fitting.Both(preferred).Overlaps)
}

// AtMostOne returns a request reduced to at most one of each resource.
func AtMostOne(request []int64) []int64 {
	out := make([]int64, len(request))
	for r, want := range request {
		out[r] = min(want, 1)
	}
	return out
}

// Lowered returns the options that hold a pod of a class by any of its alternatives. The result
// must not be changed.
func (a *Admission) Lowered(c int) bitset.Set {
	return a.cache.low.of(a.asks[c], func() bitset.Set {
		variants := a.Lowering(c, requirements.Set{}, nil).Variants
		if len(variants) == 1 {
			return variants[0].Options
		}
		out := bitset.New(a.Domains.Total)
		for _, v := range variants {
			out.Or(v.Options)
		}
		return out
	})
}
