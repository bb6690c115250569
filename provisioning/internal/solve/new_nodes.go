package solve

import (
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// newBinType works out what a node is like that is launched with one of some
// options of a pool and is asked for something.
func (a *assembler) newBinType(pool int, options bitset.Set, trait int32, asked requirements.Set, relaxed bool) *ledger.BinType {
	list := a.options(options)
	a.binTypes++
	out := &ledger.BinType{Id: a.binTypes, Pool: pool, Options: options, Trait: trait, Asked: asked, Relaxed: relaxed, List: list.Options, Daemons: list.Daemons}
	out.Settled = a.settled(asked, list.Options).With(list.Where...)
	out.Labels = catalog.NodeLabels(&a.p.Pools[pool], out.Settled, list.Options, a.p.Vocabulary)
	return out
}

// options lists the options in a set, and what daemons take at least; equal
// sets share a list.
func (a *assembler) options(set bitset.Set) ledger.OptionList {
	key := set.Key()
	if known, ok := a.lists[key]; ok {
		return known
	}
	out := ledger.OptionList{Options: make([]cloudprovider.LaunchOption, 0, set.Len())}
	seen := map[*resources.List]bool{}
	var last *resources.List
	p := ledger.PoolOf(a.p, set)
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
	a.lists[key] = out
	return out
}

// settled takes back labels that a node need not have and that pods are spread
// over: with a value that nobody asked for it would be a domain to be filled.
func (a *assembler) settled(set requirements.Set, options []cloudprovider.LaunchOption) requirements.Set {
	for _, key := range a.p.Table.Keys {
		key = a.p.Vocabulary.NormalizeKey(key)
		r, ok := set.Get(key)
		if ok && r.AllowsAbsent() && r.AllowsPresent() && !a.p.Vocabulary.WellKnown(key) && !catalog.FromTypes(key, options) {
			set = set.Intersect(requirements.NewSet(requirements.DoesNotExist(key)))
		}
	}
	return set
}
