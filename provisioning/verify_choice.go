package provisioning

import (
	"fmt"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// checkSpotFlexibility looks for new nodes that may be launched as spot, name too
// few instance types for that, and could be launched as another capacity type: the
// spot options of such a node are to be left out. A node that names spot only may
// be all that its pods can have, and a pool with minValues may need them all.
func (r *referee) checkSpotFlexibility(need int) {
	if need < 2 {
		return
	}
	for _, f := range r.fresh {
		if f == nil || f.pool.countsValues() {
			continue
		}
		types, steady := map[string]bool{}, false
		for i := range f.Options {
			o := &f.Options[i]
			switch {
			case o.InstanceType == nil || o.Offering == nil:
			case o.Offering.CapacityType == v1.CapacityTypeSpot:
				types[o.InstanceType.Name] = true
			default:
				steady = true
			}
		}
		if steady && len(types) > 0 && len(types) < need {
			r.report(RuleSpotFlexibility, f.Name, "", "it may be launched as spot and names %d instance types for that, of the %d that SpotFlexibility demands",
				len(types), need)
		}
	}
}

// refereeMix is how the pods of one group are divided.
type refereeMix struct {
	first  *refereePod
	pods   int
	steady int // that do not come on spot, or where the plan had no say
	either *refereeFresh
}

// checkCapacityMix counts, for pods that ask the same of their nodes and mind no
// others, those that may come on spot. There may be too many only where no node
// of theirs has a choice: the spot options of one that has are to be left out, if
// its pool demands no minValues.
// Groups are as large as they can be, which asks for least.
func (r *referee) checkCapacityMix(mix *CapacityMix) {
	if mix == nil {
		return
	}
	groups := map[string]*refereeMix{}
	var keys []string
	for _, s := range r.sites {
		for _, p := range s.placed {
			if p.virtual || r.minds(p) || len(p.Spec.ResourceClaims) > 0 {
				continue
			}
			key := fmt.Sprintf("%d %v", p.selection.number, p.requests)
			for _, t := range p.Spec.Tolerations {
				key += fmt.Sprintf(" %q", []string{t.Key, string(t.Operator), t.Value, string(t.Effect)})
			}
			g := groups[key]
			if g == nil {
				g = &refereeMix{first: p}
				groups[key] = g
				keys = append(keys, key)
			}
			g.count(s, p)
		}
	}
	for _, key := range keys {
		g := groups[key]
		base := min(mix.OnDemandBase, g.pods)
		want := base + ((g.pods-base)*mix.OnDemandPercent+99)/100
		if g.either != nil && g.steady < want {
			r.report(RuleCapacityMix, g.either.Name, g.first.key.String(), "of the %d pods like it %d are kept off spot capacity, CapacityMix demands %d",
				g.pods, g.steady, want)
		}
	}
}

func (g *refereeMix) count(s *refereeSite, p *refereePod) {
	if p.key.compare(g.first.key) < 0 {
		g.first = p
	}
	g.pods++
	if s.fresh == nil {
		g.steady++
		return
	}
	spot, steady := false, false
	for i := range s.fresh.Options {
		o := &s.fresh.Options[i]
		if o.Offering == nil {
			continue
		}
		if o.Offering.CapacityType == v1.CapacityTypeSpot {
			spot = true
		} else {
			steady = true
		}
	}
	switch {
	case !spot:
		g.steady++
	case steady && g.either == nil && !s.fresh.pool.countsValues():
		g.either = s.fresh
	}
}

// countsValues says whether a pool demands distinct values of any label.
func (p *refereePool) countsValues() bool {
	for want := range p.demands.All() {
		if want.MinValues() > 0 {
			return true
		}
	}
	return false
}
