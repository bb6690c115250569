package pricing

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// OverlayLayer returns a Layer of the prices that NodeOverlays give to whole
// instance types: of each valid overlay whose only requirement is that the
// instance type is In a list, and whose price is above zero. Put it last, and a
// type that is in no price list, such as one in preview, has a price at all.
// Types that have one are not changed by it; that is for
// cloudprovider.ApplyOverlays, afterwards.
//
// If several overlays price one type, the heaviest counts, and of those of one
// weight the one whose name is first in byte order, as in ApplyOverlays.
// Overlays that are nil are left out, and so are those that do not fit the
// description. Entries are sorted by instance type and have no time.
func OverlayLayer(name string, overlays []*v1.NodeOverlay) Layer {
	sorted := slices.DeleteFunc(slices.Clone(overlays), func(o *v1.NodeOverlay) bool { return o == nil })
	slices.SortStableFunc(sorted, func(a, b *v1.NodeOverlay) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(a.Name, b.Name))
	})
	prices := map[string]float64{}
	for _, o := range sorted {
		types, price, ok := wholeTypes(o)
		if !ok {
			continue
		}
		for _, t := range types {
			if _, heavier := prices[t]; !heavier {
				prices[t] = price
			}
		}
	}
	l := Layer{Name: name}
	for _, t := range slices.Sorted(maps.Keys(prices)) {
		l.Entries = append(l.Entries, Entry{Scope: cloudprovider.Scope{InstanceType: t}, Price: prices[t]})
	}
	return l
}

func weight(o *v1.NodeOverlay) int32 {
	if o.Spec.Weight == nil {
		return 0
	}
	return *o.Spec.Weight
}

// wholeTypes returns the instance types that an overlay prices as a whole.
func wholeTypes(o *v1.NodeOverlay) (types []string, price float64, ok bool) {
	if len(o.Spec.Requirements) != 1 || o.Spec.Price == nil || len(o.Validate()) > 0 {
		return nil, 0, false
	}
	r := o.Spec.Requirements[0]
	key := requirements.DefaultVocabulary().NormalizeKey(r.Key)
	price, err := strconv.ParseFloat(*o.Spec.Price, 64)
	if key != corev1.LabelInstanceTypeStable || r.Operator != corev1.NodeSelectorOpIn || err != nil || priceFault(price) != "" {
		return nil, 0, false
	}
	return r.Values, price, true
}
