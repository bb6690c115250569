package provisioning

import (
	"encoding/binary"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// lowering is what pods of some classes are to the packer, but for what they count
// for in rules. The variants are the ways to place them on new nodes: one for all
// alternatives that leave no label open, and one for each of the others.
type lowering struct {
	number   int32 // equal for those that are alike in all that follows
	request  []int64
	variants []pack.Variant
	sources  []requirements.Set // by variant: what it asks for, as far as that is certain
	kind     int32              // number of the set of options that they may use if those have room
}

// loweringKey is what a lowering follows from. Sets are given by their texts.
type loweringKey struct {
	ask            int32
	pin, preferred string
}

// numberAsks numbers what classes ask of a node: all that decides about nodes which
// are empty. There are far fewer such numbers than classes in a cluster where pods
// differ in nothing but the labels by which they are spread.
func (a *admission) numberAsks() []int32 {
	out := make([]int32, len(a.p.classes))
	index := map[string]int32{}
	var buf []byte
	for i := range out {
		c := &a.p.classes[i]
		buf = binary.AppendVarint(buf[:0], int64(c.spec))
		if c.refusal != nil {
			buf = append(buf, '!')
		}
		for _, label := range c.labels {
			buf = append(binary.AppendVarint(buf, int64(len(label))), label...)
		}
		buf = append(buf, '|')
		for d := range a.p.daemons {
			if a.p.daemons[d].keepsAway(c) {
				buf = binary.AppendVarint(buf, int64(d))
			}
		}
		buf = append(buf, '|')
		for _, slot := range a.p.requests[i][len(a.p.resources):] {
			buf = binary.AppendVarint(buf, slot)
		}
		out[i], _ = intern(index, buf, int32(len(index)))
	}
	return out
}

// lower returns pods of a class with the given pin as the packer sees them. The item
// has, beside each variant, what it asks for.
func (a *admission) lower(index int, pin requirements.Set) (lowered pack.Class, l item) {
	return a.lowerWith(index, pin, nil, map[int32]int32{})
}

// lowerWith is lower with the options that the pods prefer, if any of those
// will do; nil stands for no preference. kinds numbers the kinds of classes.
func (a *admission) lowerWith(index int, pin requirements.Set, preferred bitset.Set, kinds map[int32]int32) (lowered pack.Class, l item) {
	low := a.lowering(index, pin, preferred)
	kind, ok := kinds[low.kind]
	if !ok {
		kind = int32(len(kinds))
		kinds[low.kind] = kind
	}
	return pack.Class{Request: low.request, Variants: low.variants, Kind: int(kind)}, item{sources: low.sources, content: low.number}
}

// lowering works out a lowering, once for each key. It must not be changed.
func (a *admission) lowering(index int, pin requirements.Set, preferred bitset.Set) *lowering {
	id := loweringKey{ask: a.asks[index]}
	if pin.Len() > 0 {
		id.pin = pin.String()
	}
	if preferred != nil {
		id.preferred = preferred.Key()
	}
	a.mu.Lock()
	known := a.lowerings[id]
	a.mu.Unlock()
	if known != nil {
		return known
	}
	out := a.newLowering(index, pin, preferred)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lowerings[id] = out
	return out
}

func (a *admission) newLowering(index int, pin requirements.Set, preferred bitset.Set) *lowering {
	c := &a.p.classes[index]
	out := &lowering{request: a.p.requests[index]}
	fitting := a.fits(out.request).Clone()
	pinned := a.pinned(pin)
	if pinned != nil {
		fitting.And(pinned)
	}
	if preferred != nil && a.overlaps(index, fitting, preferred) {
		fitting.And(preferred)
	}
	kind := bitset.New(a.domains.total)
	var plain bitset.Set
	var source requirements.Set
	count := 0
	for i, alt := range c.alternatives {
		asked := alt.Set.Intersect(pin)
		options := a.suited[index][i].Clone()
		kind.Or(options)
		options.And(fitting)
		trait := a.traits.of(asked)
		a.keepMinValues(options, trait)
		if options.Empty() {
			continue
		}
		if a.touchesOpen(asked, options) {
			out.variants = append(out.variants, pack.Variant{Options: options, Trait: trait})
			out.sources = append(out.sources, asked)
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
			source = pin // of several alternatives none is certain
		}
		out.variants = append(out.variants, pack.Variant{Options: plain})
		out.sources = append(out.sources, source)
	}
	if pinned != nil {
		kind.And(pinned)
	}
	kind.And(a.fits(atMostOne(out.request)))
	a.number(out, kind)
	return out
}

// number numbers a lowering and its kind. A resource that an option has none of
// counts as a label for the kind: pods that want a GPU are of another kind than those
// that do not.
func (a *admission) number(low *lowering, kind bitset.Set) {
	a.mu.Lock()
	defer a.mu.Unlock()
	low.kind = kindOf(kind, a.kinds)
	buf := binary.AppendVarint(nil, int64(low.kind))
	for _, n := range low.request {
		buf = binary.AppendVarint(buf, n)
	}
	for i, v := range low.variants {
		buf = binary.AppendVarint(buf, int64(v.Trait))
		buf = binary.AppendVarint(buf, int64(kindOf(v.Options, a.kinds)))
		buf = append(buf, low.sources[i].String()...)
		buf = append(buf, 0)
	}
	low.number, _ = intern(a.contents, buf, int32(len(a.contents)))
}

// kindOf numbers sets of options.
func kindOf(options bitset.Set, kinds map[string]int32) int32 {
	id, _ := intern(kinds, []byte(options.Key()), int32(len(kinds)))
	return id
}

// overlaps says whether some options that suit a class are among others.
func (a *admission) overlaps(index int, fitting, preferred bitset.Set) bool {
	both := fitting.Clone()
	both.And(preferred)
	return slices.ContainsFunc(a.suited[index], both.Overlaps)
}

func atMostOne(request []int64) []int64 {
	out := make([]int64, len(request))
	for r, want := range request {
		out[r] = min(want, 1)
	}
	return out
}

// lowered returns the options that hold a pod of a class, whichever way. The result
// must not be changed.
func (a *admission) lowered(c int) bitset.Set {
	a.mu.Lock()
	out := a.low[a.asks[c]]
	a.mu.Unlock()
	if out != nil {
		return out
	}
	variants := a.lowering(c, requirements.Set{}, nil).variants
	if len(variants) == 1 {
		out = variants[0].Options
	} else {
		out = bitset.New(a.domains.total)
		for _, v := range variants {
			out.Or(v.Options)
		}
	}
	a.mu.Lock()
	a.low[a.asks[c]] = out
	a.mu.Unlock()
	return out
}
