package overlay

import (
	"encoding/binary"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// overlayMerge changes catalogs, one after the other.
type overlayMerge struct {
	overlays []overlay // by precedence
	clones   map[overlayClone]*cloudprovider.InstanceType

	// The decisions for the current type.
	offerings []contenders      // by offering: the overlays that would set its price
	resources []overlayResource // sorted by name once decided
	key       []byte
}

// contenders are the heaviest overlays for one price or resource, as indices. The first one is
// applied. There are several only in a conflict.
type contenders []int

// overlayResource is a resource of a type, and the overlays that would set it.
type overlayResource struct {
	name       corev1.ResourceName
	contenders contenders
}

// overlayClone identifies a changed type: the type, and the decisions for it.
type overlayClone struct {
	of       *cloudprovider.InstanceType
	decision string
}

// catalog returns the types of one pool, changed; types itself if none is.
func (m *overlayMerge) catalog(pool string, template requirements.Set, types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	out, copied := types, false
	for i, t := range types {
		if t == nil {
			continue
		}
		if changed := m.instanceType(pool, template, t); changed != t {
			if !copied {
				out, copied = slices.Clone(types), true
			}
			out[i] = changed
		}
	}
	return out
}

// instanceType returns t as the overlays change it in a pool.
func (m *overlayMerge) instanceType(pool string, template requirements.Set, t *cloudprovider.InstanceType) *cloudprovider.InstanceType {
	m.decide(template, t)
	m.report(pool, t)
	key := overlayClone{t, m.decision()}
	if key.decision == "" {
		return t
	}
	changed, known := m.clones[key]
	if !known {
		changed = m.change(t)
		m.clones[key] = changed
	}
	return changed
}

// decide finds the overlays for each price and resource of t.
func (m *overlayMerge) decide(template requirements.Set, t *cloudprovider.InstanceType) {
	m.resources = m.resources[:0]
	m.offerings = slices.Grow(m.offerings[:0], len(t.Offerings))[:len(t.Offerings)]
	for j := range m.offerings {
		m.offerings[j] = m.offerings[j][:0]
	}
	for i := range m.overlays {
		o := &m.overlays[i]
		if !o.mightSelect(template, t) {
			continue
		}
		selected := 0
		for j := range t.Offerings {
			if !o.selects(template, t, &t.Offerings[j]) {
				continue
			}
			selected++
			if o.price != nil {
				m.contend(&m.offerings[j], i)
			}
		}
		if selected == 0 {
			continue
		}
		o.status.Offerings += selected
		o.status.InstanceTypes++
		for name := range o.capacity.All() {
			m.contend(m.resource(name), i)
		}
	}
	slices.SortFunc(m.resources, func(a, b overlayResource) int { return strings.Compare(string(a.name), string(b.name)) })
}

// contend adds overlay i, unless a heavier one is there already.
func (m *overlayMerge) contend(c *contenders, i int) {
	if len(*c) == 0 || m.overlays[(*c)[0]].weight == m.overlays[i].weight {
		*c = append(*c, i)
	}
}

// resource returns the contenders for a resource.
func (m *overlayMerge) resource(name corev1.ResourceName) *contenders {
	for i := range m.resources {
		if m.resources[i].name == name {
			return &m.resources[i].contenders
		}
	}
	m.resources = append(m.resources, overlayResource{name: name})
	return &m.resources[len(m.resources)-1].contenders
}

// report adds the decisions to the statuses of the overlays.
func (m *overlayMerge) report(pool string, t *cloudprovider.InstanceType) {
	for j, c := range m.offerings {
		if len(c) > 0 {
			m.overlays[c[0]].status.Priced++
			m.conflicts(c, Conflict{NodePool: pool, Offering: t.Offerings[j].Key(t.Name)})
		}
	}
	var resized contenders
	for _, r := range m.resources {
		if winner := r.contenders[0]; !slices.Contains(resized, winner) {
			resized = append(resized, winner)
			m.overlays[winner].status.Resized++
		}
		m.conflicts(r.contenders, Conflict{NodePool: pool, Offering: cloudprovider.OfferingKey{InstanceType: t.Name}, Resource: r.name})
	}
}

// conflicts adds the conflict to the statuses of all contenders except the first.
func (m *overlayMerge) conflicts(c contenders, at Conflict) {
	for n := 1; n < len(c); n++ {
		at.With = make([]string, 0, len(c)-1)
		for k, other := range c {
			if k != n {
				at.With = append(at.With, m.overlays[other].name)
			}
		}
		status := m.overlays[c[n]].status
		status.Conflicts = append(status.Conflicts, at)
	}
}

// decision returns the decisions as a key; empty if nothing is set.
func (m *overlayMerge) decision() string {
	m.key = m.key[:0]
	changed := len(m.resources) > 0
	for _, c := range m.offerings {
		winner := -1
		if len(c) > 0 {
			winner, changed = c[0], true
		}
		m.key = binary.AppendVarint(m.key, int64(winner))
	}
	if !changed {
		return ""
	}
	for _, r := range m.resources {
		m.key = binary.AppendVarint(m.key, int64(r.contenders[0]))
		m.key = binary.AppendVarint(m.key, int64(len(r.name)))
		m.key = append(m.key, r.name...)
	}
	return string(m.key)
}

// change returns a copy of t with the decisions applied.
func (m *overlayMerge) change(t *cloudprovider.InstanceType) *cloudprovider.InstanceType {
	out := t.Clone()
	for j, c := range m.offerings {
		if len(c) > 0 {
			o := &out.Offerings[j]
			o.Price = m.overlays[c[0]].price.of(o.Price-o.NodeCost) + o.NodeCost
			o.PriceOverlay = m.overlays[c[0]].name
		}
	}
	if len(m.resources) == 0 {
		return out
	}
	amounts, by := m.amounts()
	out.Capacity = out.Capacity.Merge(amounts)
	out.CapacityOverlays = by
	for j := range out.Offerings {
		// An offering's override takes precedence over the capacity of the type, and would hide the
		// overlay.
		if o := &out.Offerings[j]; o.Capacity != nil {
			merged := o.Capacity.Merge(amounts)
			o.Capacity = &merged
		}
	}
	return out
}

// amounts returns the decided resources, and the overlay of each.
func (m *overlayMerge) amounts() (resources.List, map[corev1.ResourceName]string) {
	amounts := make(map[corev1.ResourceName]int64, len(m.resources))
	by := make(map[corev1.ResourceName]string, len(m.resources))
	for _, r := range m.resources {
		o := &m.overlays[r.contenders[0]]
		amounts[r.name] = o.capacity.Get(r.name)
		by[r.name] = o.name
	}
	return resources.New(amounts), by
}

// mightSelect reports false if no offering of t can be selected. It checks the type alone, which
// excludes most types for most overlays.
func (o *overlay) mightSelect(template requirements.Set, t *cloudprovider.InstanceType) bool {
	for r := range o.selector.All() {
		own, named := t.Requirements.Get(r.Key())
		if r.Key() == v1.NodePoolLabelKey {
			own, named = template.Get(r.Key())
		}
		if named && !own.Overlaps(r) {
			return false
		}
	}
	return len(t.Offerings) > 0
}

// selects reports whether every requirement of the overlay holds for an
// offering of t in a pool.
func (o *overlay) selects(template requirements.Set, t *cloudprovider.InstanceType, of *cloudprovider.Offering) bool {
	for r := range o.selector.All() {
		if !labelSelected(r, template, t, of) {
			return false
		}
	}
	return true
}

// labelSelected reports whether one requirement holds.
func labelSelected(r requirements.Requirement, template requirements.Set, t *cloudprovider.InstanceType, of *cloudprovider.Offering) bool {
	key := r.Key()
	switch {
	case key == corev1.LabelTopologyZone && of.Zone != "":
		return r.Has(of.Zone)
	case key == v1.CapacityTypeLabelKey && of.CapacityType != "":
		return r.Has(of.CapacityType)
	case key == v1.NodePoolLabelKey:
		return holds(template, r)
	}
	own, named := t.Requirements.Get(key)
	if narrower, found := of.Requirements.Get(key); found {
		own, named = own.Intersect(narrower), true
	}
	if !named {
		return holds(template, r)
	}
	if !own.Overlaps(r) {
		return false
	}
	allowed, limited := template.Get(key)
	return !limited || !own.Overlaps(allowed) || own.Intersect(allowed).Overlaps(r)
}

// holds reports whether every value that set allows satisfies r. A label that set does not name is
// absent.
func holds(set requirements.Set, r requirements.Requirement) bool {
	have, named := set.Get(r.Key())
	if !named {
		return r.AllowsAbsent()
	}
	have = have.WithMinValues(0)
	return !have.Impossible() && have.Intersect(r).Equal(have)
}
