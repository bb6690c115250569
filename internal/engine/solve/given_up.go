package solve

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/explain"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// setGivenUp lists the preferences that the nodes of the plan do not satisfy, with the causes.
// Without preferences it costs O(classes).
func (a *assembler) setGivenUp(plan *Solution) {
	p := a.p
	if p.Opts.Preferences == model.Ignore {
		return
	}
	taints := softTaints(p)
	of, some := make([][]preference, len(p.Classes)), false
	for c := range p.Classes {
		of[c] = preferencesOf(p, c, taints)
		some = some || len(of[c]) > 0
	}
	if !some {
		return
	}
	bins := a.st.UsedBins()
	g := &givenUp{a: a, of: of, groups: map[givenUpKey][]int32{}, preferenceJudge: preferenceJudge{
		p: p, bins: bins, counts: ledger.New(p, bins).Counts, least: map[preferenceID]int{},
	}}
	for _, s := range bins {
		g.visit(s)
	}
	plan.GivenUp = g.list()
}

// givenUp collects the preferences that a solution gives up.
type givenUp struct {
	preferenceJudge
	a      *assembler
	of     [][]preference         // by class
	groups map[givenUpKey][]int32 // pod IDs
}

// givenUpKey identifies an entry of the list.
type givenUpKey struct {
	preferenceID
	existing bool // the pods are on existing nodes
}

// visit records the unsatisfied preferences of the pods on a bin.
func (g *givenUp) visit(s *ledger.Bin) {
	for _, on := range s.Pods {
		for i := range g.of[on.Class] {
			id := preferenceID{on.Class, i}
			if g.satisfied(id, &g.of[on.Class][i], s) {
				continue
			}
			key := givenUpKey{id, s.Node >= 0}
			for _, podID := range s.PodIDs {
				if g.p.ClassOf[podID] == on.Class {
					g.groups[key] = append(g.groups[key], podID)
				}
			}
		}
	}
}

// list returns the entries, sorted by their first pod and then by the order of its preferences.
func (g *givenUp) list() []model.GivenUpPreference {
	keys := make([]givenUpKey, 0, len(g.groups))
	for key, podIDs := range g.groups {
		slices.Sort(podIDs)
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(x, y givenUpKey) int {
		return cmp.Or(cmp.Compare(g.groups[x][0], g.groups[y][0]), cmp.Compare(x.number, y.number))
	})
	if len(keys) == 0 {
		return nil
	}
	planned, out := g.a.st.Planned(), make([]model.GivenUpPreference, len(keys))
	for i, key := range keys {
		out[i] = g.entry(key, planned)
	}
	return out
}

// entry returns the entry of a preference, with its cause. planned is, by pool, what new nodes use
// of each limit.
func (g *givenUp) entry(key givenUpKey, planned [][]int64) model.GivenUpPreference {
	w := &g.of[key.class][key.number]
	out := model.GivenUpPreference{Pods: g.a.pods(g.groups[key]), Kind: w.kind, Key: w.key(), Preferred: w.text(g.p), Weight: w.weight}
	switch {
	case w.kind == model.CauseAffinity && !g.anywhere(key.class, w):
		out.Cause = model.GivenUpNoPods
	case key.existing:
		out.Cause = model.GivenUpExistingNodes
	case w.node != nil || w.taint != nil:
		g.becauseOfOptions(key.class, w, planned, &out)
	case w.rule < 0:
		out.Cause = model.GivenUpNewNode
	default:
		g.becauseOfDomains(key.class, &out)
	}
	return out
}

// becauseOfOptions sets the cause for which pods on new nodes lack the options that they prefer.
func (g *givenUp) becauseOfOptions(c int, w *preference, planned [][]int64, out *model.GivenUpPreference) {
	p := g.p
	preferred := g.preferred(c, w)
	extra, allowed := p.ExtraCost(c, preferred), p.Opts.PreferenceCost*float64(w.weight)/100
	chosen := &p.Preferences[c]
	switch {
	case !preferred.Overlaps(p.WithoutPreferences(c)):
		out.Cause = model.GivenUpUnavailable
		if w.node != nil {
			out.Reason = explain.IfRequired(p, c, w.node.Alternative, planned)
		}
	case extra > allowed:
		out.Cause, out.Extra, out.Allowed = model.GivenUpCost, extra, allowed
	case chosen.Bought && chosen.Options != nil && !preferred.Overlaps(chosen.Options):
		out.Cause = model.GivenUpOutweighed
	case g.a.s.GivesUp(c):
		out.Cause, out.Allowed = model.GivenUpPlanCost, p.Preferred.Share
	default:
		out.Cause = model.GivenUpConstraints
		if w.node != nil {
			g.becauseOfPools(c, w, planned, out)
		}
	}
}

// becauseOfPools sets the cause if limits, or reservations that are used up, prevent every pool
// from launching a preferred node.
func (g *givenUp) becauseOfPools(c int, w *preference, planned [][]int64, out *model.GivenUpPreference) {
	reason := explain.IfRequired(g.p, c, w.node.Alternative, planned)
	if !slices.ContainsFunc(reason.Pools, func(r model.PoolReason) bool { return r.Cause == model.CauseNodes }) {
		out.Cause, out.Reason = model.GivenUpUnavailable, reason
	}
}

// preferred returns the options that satisfy a preference about the node.
func (g *givenUp) preferred(c int, w *preference) bitset.Set {
	if w.node != nil {
		return g.p.Satisfying(c, w.node.Alternative)
	}
	out := bitset.New(g.p.Admission.Domains.Total)
	for i := range g.p.Pools {
		if pl := &g.p.Pools[i]; !hasTaint(poolTaints(g.p, i), w.taint) {
			out.AddRange(pl.First, pl.Last())
		}
	}
	return out
}

// becauseOfDomains sets the cause for which pods on new nodes are not in the domains that they
// prefer.
func (g *givenUp) becauseOfDomains(c int, out *model.GivenUpPreference) {
	choice := &g.p.Preferences[c].Choice
	switch {
	case choice.Nodes == 0:
		out.Cause = model.GivenUpConstraints // required constraints decide where its pods go
	case choice.Launchable < 2:
		out.Cause = model.GivenUpUnavailable
	case choice.Affordable < 2:
		out.Cause, out.Extra, out.Allowed = model.GivenUpCost, choice.Extra, choice.Allowed
	case choice.Nodes < choice.NodesWanted():
		out.Cause, out.Nodes, out.Wanted = model.GivenUpFewNodes, choice.Nodes, choice.NodesWanted()
	case g.a.s.GivesUp(c):
		out.Cause, out.Allowed = model.GivenUpPlanCost, g.p.Preferred.Share
	default:
		out.Cause = model.GivenUpConstraints
	}
}
