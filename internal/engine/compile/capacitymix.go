package compile

import (
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// mixCapacity sets part of the pods of each workload apart, to be kept off spot
// capacity as Options.CapacityMix says, if they may use both. It is a wish like
// others: where only spot has room, spot it is. Classes that differ in nothing but
// volumes and devices are of one workload, or the replicas of a StatefulSet would
// come on demand one by one as soon as their volumes are in different zones.
func (p *Problem) mixCapacity(d *catalog.Domains) {
	mix := p.Opts.CapacityMix
	if mix == nil {
		return
	}
	before := map[string]int{} // pods of the same workload
	var k workload.PodKey
	spot := requirements.NewSet(requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot))
	steady := requirements.NewSet(requirements.NotIn(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot))
	for c := range p.Classes {
		class := &p.Classes[c]
		if class.Refusal != nil || class.Headroom || !p.reaches(d, class, spot) || !p.reaches(d, class, steady) {
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

// workload is the same for classes that differ in nothing but volumes and devices.
func (p *Problem) workload(k *workload.PodKey, c int) string {
	pod := p.Pod(c)
	out := string(k.Scheduling(pod))
	out += string(k.Between(pod, p.Opts.DefaultSpread != nil))
	return out + p.Classes[c].Selected.Key()
}

// OnDemand is how many of n pods come on on-demand capacity.
func OnDemand(m *model.CapacityMix, n int) int {
	base := min(m.OnDemandBase, n)
	return base + ((n-base)*m.OnDemandPercent+99)/100
}

// SteadyOptions returns those of some options that are not spot.
func (p *Problem) SteadyOptions(options bitset.Set) bitset.Set {
	out := options.Clone()
	for o := range options.All() {
		if p.Option(o).Offering.CapacityType == v1.CapacityTypeSpot {
			out.Remove(o)
		}
	}
	return out
}

// reaches says whether some option with further labels suits a class.
func (p *Problem) reaches(d *catalog.Domains, c *workload.Class, further requirements.Set) bool {
	for i := range p.Pools {
		pl := &p.Pools[i]
		if len(pl.Options) == 0 || len(model.Untolerated(pl.Taints, c.Tolerations)) > 0 {
			continue
		}
		for _, alt := range c.Alternatives {
			if workload.AdmitsNewNode(alt) && !d.AdmittingAll(i, alt.Set.Intersect(further)).Empty() {
				return true
			}
		}
	}
	return false
}
