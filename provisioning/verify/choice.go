package verify

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/exclusive"
)

// checkSpotFlexibility looks for new nodes that may be launched as spot, name too
// few instance types for that, and could be launched as another capacity type: the
// spot options of such a node are to be left out.
func (r *referee) checkSpotFlexibility(need int) {
	if need < 2 {
		return
	}
	for _, f := range r.fresh {
		if f == nil {
			continue
		}
		types, _ := spotTypes(f.Options)
		if _, steady := f.capacityTypes(); steady && types > 0 && types < need {
			r.report(RuleSpotFlexibility, f.Name, "", "it may be launched as spot and names %d instance types for that, of the %d that SpotFlexibility demands", types, need)
		}
	}
}

// capacityTypes says whether a new node may be launched as spot, and whether it
// could do without: a node that names spot only may be all that its pods can have,
// and that of a pool with minValues may need its spot options to show as many
// values.
func (f *newNode) capacityTypes() (spot, steady bool) {
	types, steady := spotTypes(f.Options)
	spot = types > 0
	if f.MinValuesRelaxed || f.survey == nil {
		return spot, steady
	}
	for want := range f.pool.demands.All() {
		steady = steady && f.survey.steady[want.Key()] >= want.MinValues()
	}
	return spot, steady
}

// spotTypes counts the instance types that options name for spot capacity, and says whether some option is
// for another capacity type.
func spotTypes(options []cloudprovider.LaunchOption) (types int, steady bool) {
	seen := map[string]bool{}
	for _, o := range options {
		switch {
		case o.Offering == nil:
		case o.Offering.CapacityType != v1.CapacityTypeSpot:
			steady = true
		case o.InstanceType != nil:
			seen[o.InstanceType.Name] = true
		}
	}
	return len(seen), steady
}

// mixCount is how the pods of one group are divided.
type mixCount struct {
	first  *podInfo
	pods   int
	steady int // that do not come on spot, or where the plan had no say
	either *newNode
}

// checkCapacityMix counts, for pods that ask the same of their nodes and have the
// same constraints towards others, those that may come on spot. There may be too
// many only where no node of theirs has a choice: the spot options of one that has
// are to be left out.
//
// Groups are as large as they can be, which asks for least: volumes and devices
// tell no pods apart, as every replica of a workload may have its own.
func (r *referee) checkCapacityMix(mix *provisioning.CapacityMix) {
	if mix == nil {
		return
	}
	groups := map[string]*mixCount{}
	var keys []string
	for _, s := range r.sites {
		for _, p := range s.placed {
			if p.virtual {
				continue
			}
			key := r.mixKey(p)
			g := groups[key]
			if g == nil {
				g = &mixCount{first: p}
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

// mixKey is the same for pods that CapacityMix divides together. Labels and the
// namespace are not in it, but for the constraints that they decide about, nor are
// disks, which only keep pods off each other's nodes.
func (r *referee) mixKey(p *podInfo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %v %v", p.selection.Number, p.requests, p.follows)
	for _, t := range p.Spec.Tolerations {
		fmt.Fprintf(&b, " %q", []string{t.Key, string(t.Operator), t.Value, string(t.Effect)})
	}
	minds := spreadNeeds(r, p)
	for _, t := range p.avoids {
		minds = append(minds, fmt.Sprintf("%p", t))
	}
	for _, e := range exclusive.Of(p.Pod) {
		if e.Port {
			minds = append(minds, fmt.Sprintf("%s %s", e.Name, e.IP))
		}
	}
	slices.Sort(minds)
	fmt.Fprintf(&b, "%q", slices.Compact(minds))
	return b.String()
}

func (g *mixCount) count(s *site, p *podInfo) {
	if p.key.Compare(g.first.key) < 0 {
		g.first = p
	}
	g.pods++
	if s.fresh == nil {
		g.steady++
		return
	}
	switch spot, steady := s.fresh.capacityTypes(); {
	case !spot:
		g.steady++
	case steady && g.either == nil:
		g.either = s.fresh
	}
}
