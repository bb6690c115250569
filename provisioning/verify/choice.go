package verify

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/exclusive"
)

// checkSpotFlexibility reports new nodes that may be launched as spot, have too few instance types
// for spot, and could be launched as another capacity type: such a node must not have spot options.
func (r *referee) checkSpotFlexibility(need int) {
	for _, f := range r.fresh {
		if f == nil || need < 2 {
			continue
		}
		if types, steady := f.capacityTypes(); steady && types > 0 && types < need {
			r.report(RuleSpotFlexibility, f.Name, "", "it may be launched as spot and names %d instance types for that, of the %d that SpotFlexibility demands", types, need)
		}
	}
}

// capacityTypes counts the spot instance types of a new node. steady says whether the node does
// not need its spot options. It needs them if it has no others, or if its pool has minValues that the
// others do not satisfy.
func (f *newNode) capacityTypes() (spot int, steady bool) {
	seen := map[string]bool{}
	for _, o := range f.Options {
		switch {
		case o.Offering == nil:
		case o.Offering.CapacityType != v1.CapacityTypeSpot:
			steady = true
		case o.InstanceType != nil:
			seen[o.InstanceType.Name] = true
		}
	}
	return len(seen), steady && (f.MinValuesRelaxed || f.survey == nil || len(f.pool.missedValues(f.survey.steady)) == 0)
}

// mixCount says how the pods of one group are divided.
type mixCount struct {
	first  *podInfo
	pods   int
	steady int      // on existing nodes, or new ones that are not launched as spot
	either *newNode // the first new node that has spot options and does not need them
}

// checkCapacityMix divides the pods into groups with equal node requirements and equal constraints
// on other pods, and counts the pods of each group that may be launched on spot. It reports a group
// with too many if a node of the group does not need its spot options.
//
// Groups are as large as possible, which is the weakest check: volumes and devices do not
// distinguish pods, because every replica of a workload may have its own.
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
			key := mixKey(p)
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

// mixKey is equal for pods that CapacityMix divides as one group. It includes the constraints that
// depend on labels and namespace, but not labels and namespace themselves. It includes host ports,
// but no disks, which only exclude pods from each other's nodes.
func mixKey(p *podInfo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %v %v", p.selection.Number, p.requests, p.follows)
	for _, t := range p.Spec.Tolerations {
		fmt.Fprintf(&b, " %q", []string{t.Key, string(t.Operator), t.Value, string(t.Effect)})
	}
	needs := p.spreadTexts()
	for _, t := range p.avoids {
		needs = append(needs, fmt.Sprintf("%p", t))
	}
	for _, e := range exclusive.Of(p.Pod) {
		if e.Port {
			needs = append(needs, fmt.Sprintf("%s %s", e.Name, e.IP))
		}
	}
	slices.Sort(needs)
	fmt.Fprintf(&b, "%q", slices.Compact(needs))
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
	case spot == 0:
		g.steady++
	case steady && g.either == nil:
		g.either = s.fresh
	}
}
