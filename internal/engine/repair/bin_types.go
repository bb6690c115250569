package repair

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// NewBinType returns the bin type of a node that is launched with one of some options of a pool and
// must satisfy the requirements asked.
func (st *State) NewBinType(pool int, options bitset.Set, trait int32, asked requirements.Set, relaxed bool) *ledger.BinType {
	return st.cloneBinType(st.binType(pool, options, trait, asked, relaxed))
}

// binType is NewBinType for a caller that only reads the bin type. Calls with equal arguments return
// the same one, which is cheaper than a copy of it.
func (st *State) binType(pool int, options bitset.Set, trait int32, asked requirements.Set, relaxed bool) *ledger.BinType {
	of := st.options(pool, options)
	for _, known := range of.binTypes {
		if known.Trait == trait && known.Relaxed == relaxed && known.Asked.Equal(asked) {
			return known
		}
	}
	st.binTypes++
	out := ledger.NewBinType(ledger.BinType{
		Id: st.binTypes, Pool: pool, Options: of.set, Trait: trait, Asked: asked, Relaxed: relaxed, List: of.list, Daemons: of.daemons,
	})
	named := func(key string) bool { return st.p.Admission.Domains.Named(pool, key, of.set) }
	out.Settled = st.dropUnrequestedSpreadLabels(asked, named).With(of.where...)
	out.Labels = catalog.NodeLabels(&st.p.Pools[pool], out.Settled, named, st.p.Vocabulary)
	of.binTypes = append(of.binTypes, out)
	return out
}

// cloneBinType returns a copy of a bin type under a new Id. The copy shares what is computed from the
// original.
func (st *State) cloneBinType(like *ledger.BinType) *ledger.BinType {
	st.binTypes++
	return like.Again(st.binTypes)
}

// optionSet is a set of options of a pool, with the bin types that have exactly these options.
type optionSet struct {
	set      bitset.Set
	list     []cloudprovider.LaunchOption
	daemons  resources.List             // by resource: the least that daemons use on any option
	where    []requirements.Requirement // zones and capacity types
	binTypes []*ledger.BinType          // with different requirements of their pods
}

// options returns the optionSet of a set of options of a pool; equal sets share one. The set given may change
// afterwards.
func (st *State) options(pool int, set bitset.Set) *optionSet {
	st.key = set.AppendKey(st.key[:0])
	if known, ok := st.sets[string(st.key)]; ok {
		return known
	}
	out := &optionSet{set: set.Clone(), list: make([]cloudprovider.LaunchOption, 0, set.Len())}
	seen := map[*resources.List]bool{}
	var last *resources.List
	p, places := &st.p.Pools[pool], st.p.Admission.Domains.Places(pool)
	var met []int32                           // places
	var examples []cloudprovider.LaunchOption // one option of each
	for o := range set.All() {
		option, place := &p.Options[o-p.First], places[o-p.First]
		out.list = append(out.list, option.LaunchOption)
		if !slices.Contains(met, place) {
			met, examples = append(met, place), append(examples, option.LaunchOption)
		}
		if option.Daemons != last && !seen[option.Daemons] {
			out.daemons = ledger.Least(out.daemons, *option.Daemons, len(seen) == 0)
			seen[option.Daemons] = true
		}
		last = option.Daemons
	}
	out.where = catalog.Whereabouts(examples)
	st.sets[string(st.key)] = out
	return out
}

// dropUnrequestedSpreadLabels drops labels that a node need not have and over which pods are spread: with a value that
// no pod requires, the node would be a new domain that spreads have to fill.
func (st *State) dropUnrequestedSpreadLabels(set requirements.Set, named func(key string) bool) requirements.Set {
	for _, key := range st.p.Table.Keys {
		key = st.p.Vocabulary.NormalizeKey(key)
		r, ok := set.Get(key)
		if ok && r.AllowsAbsent() && r.AllowsPresent() && !st.p.Vocabulary.WellKnown(key) && !named(key) {
			set = set.Intersect(requirements.NewSet(requirements.DoesNotExist(key)))
		}
	}
	return set
}
