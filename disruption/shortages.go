package disruption

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// withoutShortages are the catalogs less the offerings that ran dry lately.
func (f *Fleet) withoutShortages() map[string][]*cloudprovider.InstanceType {
	dry := map[cloudprovider.OfferingKey]bool{}
	for _, s := range f.in.Shortages {
		if s.At.Add(f.opts.ShortageHold).After(f.now) {
			dry[s.Offering] = true
		}
	}
	if len(dry) == 0 {
		return f.in.InstanceTypes
	}
	out := map[string][]*cloudprovider.InstanceType{}
	for pool, types := range f.in.InstanceTypes { // by key: the order does not matter
		for _, t := range types {
			out[pool] = append(out[pool], withoutOfferings(t, dry))
		}
	}
	return out
}

func withoutOfferings(t *cloudprovider.InstanceType, dry map[cloudprovider.OfferingKey]bool) *cloudprovider.InstanceType {
	if t == nil || !slices.ContainsFunc(t.Offerings, func(o cloudprovider.Offering) bool { return dry[o.Key(t.Name)] }) {
		return t
	}
	changed := *t
	changed.Offerings = slices.Clone(t.Offerings)
	for i := range changed.Offerings {
		if o := &changed.Offerings[i]; dry[o.Key(t.Name)] {
			o.Available = false
		}
	}
	return &changed
}
