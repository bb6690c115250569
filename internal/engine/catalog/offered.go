package catalog

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Offered lists the distinct values of a label on those options of a pool that satisfy the
// requirements asked. An option that allows infinitely many values adds none.
func (d *Domains) Offered(pool int, asked requirements.Set, key string) []string {
	p := &d.Pools[pool]
	if len(p.Options) == 0 {
		return nil
	}
	here := d.AdmittingAll(pool, asked)
	wanted, named := asked.Get(key)
	dom := d.Of(pool, key)
	var out []string
	first := p.First - bitset.Base(p.First)
	seen := make([]bool, len(dom.Distinct))
	for i, which := range dom.of {
		if seen[which] || !here.Has(first+i) {
			continue
		}
		seen[which] = true
		have := dom.Distinct[which]
		if named {
			have = have.Intersect(wanted)
		}
		out = add(out, have)
	}
	return out
}

// SoldOut lists the distinct values of a label on the offerings of a pool that satisfy the
// requirements asked but are unavailable now. An offering adds none if it allows infinitely many
// values or does not name the label.
func (d *Domains) SoldOut(pool int, asked requirements.Set, key string) []string {
	p := &d.Pools[pool]
	wanted, narrowed := asked.Get(key)
	var out []string
	for _, o := range p.soldOut {
		if slices.Contains(out, offeringLabel(o.Offering, key)) {
			continue
		}
		have := d.ofType(p, o.InstanceType, key).with(o.Offering, key)
		if !have.named || !d.admits(p, o, asked) {
			continue
		}
		if narrowed {
			have.requirement = have.requirement.Intersect(wanted)
		}
		out = add(out, have.requirement)
	}
	return out
}

// admits says whether a node of the pool launched from an offering can satisfy all requirements
// asked.
func (d *Domains) admits(p *Pool, o cloudprovider.LaunchOption, asked requirements.Set) bool {
	for r := range asked.All() {
		if !d.ofType(p, o.InstanceType, r.Key()).with(o.Offering, r.Key()).requirement.Overlaps(r) {
			return false
		}
	}
	return true
}

// add appends the values of a requirement to a list, without duplicates. An infinite requirement
// adds none.
func add(out []string, r requirements.Requirement) []string {
	values, finite := r.Values()
	if !finite {
		return out
	}
	for _, value := range values {
		if !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
}
