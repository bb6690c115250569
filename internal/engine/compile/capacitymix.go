package compile

import (
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// mixCapacity marks part of the pods of each workload as NoSpot, as Options.CapacityMix says, if
// they may use both capacity types. It is a preference: where only spot has room, they get spot.
// Classes that differ only in volumes and devices count as one workload. Otherwise the replicas of
// a StatefulSet would each count as the first pod, and be on demand, once their volumes are in
// different zones.
func (p *Problem) mixCapacity() {
	mix := p.Opts.CapacityMix
	if mix == nil {
		return
	}
	before := map[string]int{} // by workload: pods seen so far
	var k workload.PodKey
	spot := requirements.NewSet(requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot))
	steady := requirements.NewSet(requirements.NotIn(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot))
	for c := range p.Classes {
		class := &p.Classes[c]
		if class.Refusal != nil || class.Headroom || !p.reaches(class, spot) || !p.reaches(class, steady) {
			continue
		}
		workload := p.workload(&k, c)
		had := before[workload]
		before[workload] += len(class.Pods)
		n := OnDemand(mix, before[workload]) - OnDemand(mix, had)
		if n == 0 {
			continue
		}
		rest := class.Pods[n:]
		kept := *class
		class.Pods, class.NoSpot = class.Pods[:n], true
		if len(rest) > 0 {
			kept.Pods = rest
			p.Classes = append(p.Classes, kept)
		}
	}
}

// workload returns a key that is equal for classes that differ only in volumes and devices.
func (p *Problem) workload(k *workload.PodKey, c int) string {
	pod := p.Pod(c)
	out := string(k.Scheduling(pod))
	out += string(k.Between(pod, p.Opts.DefaultSpread != nil))
	return out + p.Classes[c].Selected.Key()
}

// OnDemand returns how many of n pods get on-demand capacity.
func OnDemand(m *model.CapacityMix, n int) int {
	base := min(m.OnDemandBase, n)
	return base + ((n-base)*m.OnDemandPercent+99)/100
}

// SteadyOptions returns the options without those that are spot.
func (p *Problem) SteadyOptions(options bitset.Set) bitset.Set {
	out := options.Clone()
	for o := range options.All() {
		if p.Option(o).Offering.CapacityType == v1.CapacityTypeSpot {
			out.Remove(o)
		}
	}
	return out
}

// reaches says whether any option that satisfies further requirements suits a class.
func (p *Problem) reaches(c *workload.Class, further requirements.Set) bool {
	return slices.ContainsFunc(c.Alternatives, func(alt requirements.Alternative) bool {
		alt.Set = alt.Set.Intersect(further)
		return !p.suiting(&Ask{Alternative: alt, Tolerations: c.Tolerations}, Labels).Empty()
	})
}
