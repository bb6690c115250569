package repair

import (
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// NewBinType works out what a node is like that is launched with one of some
// options of a pool and is asked for something.
func (st *State) NewBinType(pool int, options bitset.Set, trait int32, asked requirements.Set, relaxed bool) *ledger.BinType {
	list := st.options(options)
	st.binTypes++
	out := &ledger.BinType{Id: st.binTypes, Pool: pool, Options: options, Trait: trait, Asked: asked, Relaxed: relaxed, List: list.Options, Daemons: list.Daemons}
	named := func(key string) bool { return st.p.Admission.Domains.Named(pool, key, options) }
	out.Settled = st.settled(asked, named).With(list.Where...)
	out.Labels = catalog.NodeLabels(&st.p.Pools[pool], out.Settled, named, st.p.Vocabulary)
	return out
}

// again is a bin type like another, with what was worked out for that.
func (st *State) again(like *ledger.BinType) *ledger.BinType {
	st.binTypes++
	out := *like
	out.Id = st.binTypes
	return &out
}

// options lists the options in a set, and what daemons take at least; equal
// sets share a list.
func (st *State) options(set bitset.Set) ledger.OptionList {
	key := set.Key()
	if known, ok := st.lists[key]; ok {
		return known
	}
	out := ledger.OptionList{Options: make([]cloudprovider.LaunchOption, 0, set.Len())}
	seen := map[*resources.List]bool{}
	var last *resources.List
	p := ledger.PoolOf(st.p, set)
	for o := range set.All() {
		option := &p.Options[o-p.First]
		out.Options = append(out.Options, option.LaunchOption)
		if option.Daemons != last && !seen[option.Daemons] {
			out.Daemons = ledger.Least(out.Daemons, *option.Daemons, len(seen) == 0)
			seen[option.Daemons] = true
		}
		last = option.Daemons
	}
	out.Where = catalog.Whereabouts(out.Options)
	st.lists[key] = out
	return out
}

// settled takes back labels that a node need not have and that pods are spread
// over: with a value that nobody asked for it would be a domain to be filled.
func (st *State) settled(set requirements.Set, named func(key string) bool) requirements.Set {
	for _, key := range st.p.Table.Keys {
		key = st.p.Vocabulary.NormalizeKey(key)
		r, ok := set.Get(key)
		if ok && r.AllowsAbsent() && r.AllowsPresent() && !st.p.Vocabulary.WellKnown(key) && !named(key) {
			set = set.Intersect(requirements.NewSet(requirements.DoesNotExist(key)))
		}
	}
	return set
}
