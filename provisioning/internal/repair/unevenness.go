package repair

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// unevenness is how unevenly a plan spreads pods over domains by hard constraints:
// for each, the sum of the squares of what is in each domain. It is worked out only
// where there are limits, which decide how even pods can be.
func (st *State) unevenness() int {
	p := st.p
	if !p.Limited() || !slices.ContainsFunc(p.Rules.Domain, func(r compile.DomainRule) bool { return r.Owned && r.Kind == topology.Spread }) {
		return 0
	}
	counts := make([][]int, len(p.Rules.Domain))
	for i := range p.Rules.Domain {
		counts[i] = slices.Clone(p.Rules.Domain[i].Members)
	}
	add := func(podID int32, at []ledger.Location) {
		for _, r := range p.Rules.Duties[st.p.ClassOf[podID]].Joins {
			rule := &p.Rules.Domain[r]
			if !rule.Owned || rule.Kind != topology.Spread || rule.Rule.Key < 0 {
				continue
			}
			if domains := at[rule.Rule.Key].Domains; len(domains) == 1 {
				counts[r][domains[0]]++
			}
		}
	}
	for i, podIDs := range st.Bound {
		at := st.locations(i)
		for _, podID := range podIDs {
			add(podID, at)
		}
	}
	for _, s := range st.New {
		for _, podID := range s.PodIDs {
			add(podID, ledger.BinTypeLocations(p, s.BinType))
		}
	}
	sum := 0
	for i := range counts {
		if rule := &p.Rules.Domain[i]; rule.Owned && rule.Kind == topology.Spread {
			for _, n := range counts[i] {
				sum += n * n
			}
		}
	}
	return sum
}
