package provisioning

import (
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// mixCapacity sets part of the pods of each workload apart, to be kept off spot
// capacity as Options.CapacityMix says, if they may use both. It is a wish like
// others: where only spot has room, spot it is. Classes that differ in nothing but
// volumes and devices are of one workload, or the replicas of a StatefulSet would
// come on demand one by one as soon as their volumes are in different zones.
func (p *Problem) mixCapacity(d *domains) {
	mix := p.opts.CapacityMix
	if mix == nil {
		return
	}
	before := map[string]int{} // pods of the same workload
	var k podKey
	spot := requirements.NewSet(requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot))
	steady := requirements.NewSet(requirements.NotIn(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot))
	for c := range p.classes {
		class := &p.classes[c]
		if class.refusal != nil || class.headroom || !p.reaches(d, class, spot) || !p.reaches(d, class, steady) {
			continue
		}
		workload := p.workload(&k, c)
		had := before[workload]
		before[workload] += len(class.pods)
		n := mix.onDemand(before[workload]) - mix.onDemand(had)
		if n == 0 {
			continue
		}
		rest := class.pods[n:]
		kept := *class
		class.pods, class.noSpot = class.pods[:n], true
		if len(rest) > 0 {
			kept.pods = rest
			p.classes = append(p.classes, kept)
		}
	}
}

// workload is the same for classes that differ in nothing but volumes and devices.
func (p *Problem) workload(k *podKey, c int) string {
	pod := p.pod(c)
	out := string(k.scheduling(pod))
	out += string(k.between(pod, p.opts.DefaultSpread != nil))
	return out + p.classes[c].selected.Key()
}

// onDemand is how many of n pods come on on-demand capacity.
func (m *CapacityMix) onDemand(n int) int {
	base := min(m.OnDemandBase, n)
	return base + ((n-base)*m.OnDemandPercent+99)/100
}

// steadyOptions returns those of some options that are not spot.
func (p *Problem) steadyOptions(options bitset.Set) bitset.Set {
	out := options.Clone()
	for o := range options.All() {
		if p.option(o).Offering.CapacityType == v1.CapacityTypeSpot {
			out.Remove(o)
		}
	}
	return out
}

// reaches says whether some option with further labels suits a class.
func (p *Problem) reaches(d *domains, c *class, further requirements.Set) bool {
	for i := range p.pools {
		pl := &p.pools[i]
		if len(pl.options) == 0 || len(untolerated(pl.taints, c.tolerations)) > 0 {
			continue
		}
		for _, alt := range c.alternatives {
			if admitsNewNode(alt) && !d.admittingAll(i, alt.Set.Intersect(further)).Empty() {
				return true
			}
		}
	}
	return false
}
