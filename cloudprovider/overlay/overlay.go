package overlay

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Apply returns the catalogs of pools with NodeOverlays applied, and the status of each overlay,
// sorted by name. The keys of types are names of NodePools; the result has the same keys and the
// types in the same order.
//
// For each pool and each of its instance types, in this order:
//
//  1. An overlay with an invalid spec changes nothing. Status.Faults says why. In addition to
//     v1.NodeOverlay.Validate, amounts of the capacity must be whole numbers and not negative.
//  2. An overlay selects an offering if each of its requirements holds. A label that the type or
//     the offering names must have a value in common with the requirement; only values that the
//     pool allows count, unless it allows none, in which case the type can be that of older nodes
//     only. A label that only the pool names, by its template's labels or requirements, its own
//     name or its node class, must satisfy the requirement with every value that it can have. A
//     label that neither names is absent, well-known or not. The label karpenter.sh/nodepool is
//     that of the pool.
//  3. The price of an offering is set by the heaviest overlay that selects it and has a price.
//     Adjustments apply to the provider's price and never add up. See AdjustPrice for the
//     arithmetic, and for prices of zero.
//  4. Each resource of a type is set by the heaviest overlay that selects any
//     of its offerings and has the resource in its capacity; different
//     resources may come from different overlays. The amount replaces that of
//     the type, and of every offering that overrides its capacity.
//
// Two or more heaviest overlays of one weight are a conflict at that offering or resource, even if
// they agree on the value. The one whose name is first in byte order is applied there; the others
// give way there, and only there. Each lists the place in Status.Conflicts. Overlays of a lower
// weight are outweighed, which is not a conflict.
//
// Offering.PriceOverlay and InstanceType.CapacityOverlays name the overlay of each change.
// Everything else about a type stays.
//
// The types map and its objects are not modified. Types that no overlay changes are in the result
// by the same pointer. A type that several catalogs share is cloned once for each way in which it
// is changed, so that catalogs which agree still share it. Without overlays the result is types
// itself. Apply overlays to the provider's catalogs, not to an earlier result: adjustments would be
// applied twice.
//
// Of the order of the arguments' slices only that of types affects the result. A nil vocabulary is
// requirements.DefaultVocabulary. A catalog stays as it is if its pool is not among pools, is nil
// or listed twice, or has requirements that cannot be read; the code that uses the pool reports
// that.
//
// The error joins every fault of the list of overlays: an entry that is nil, has no name, or is
// listed twice. The result is nil then.
func Apply(
	overlays []*v1.NodeOverlay, pools []*v1.NodePool, types map[string][]*cloudprovider.InstanceType, vocabulary *requirements.Vocabulary,
) (map[string][]*cloudprovider.InstanceType, []Status, error) {
	if len(overlays) == 0 {
		return types, nil, nil
	}
	sorted, err := sortedOverlays(overlays)
	if err != nil {
		return nil, nil, err
	}
	statuses := make([]Status, len(sorted))
	m := &overlayMerge{clones: map[overlayClone]*cloudprovider.InstanceType{}}
	for i, o := range sorted {
		statuses[i] = Status{Name: o.Name, Generation: o.Generation}
		if read, faults := readOverlay(o, vocabulary); len(faults) > 0 {
			statuses[i].Faults = faults
		} else {
			read.status = &statuses[i]
			m.overlays = append(m.overlays, read)
		}
	}
	slices.SortStableFunc(m.overlays, compareOverlays)
	templates := overlayPools(pools, vocabulary)
	out := make(map[string][]*cloudprovider.InstanceType, len(types))
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if template, known := templates[name]; known {
			out[name] = m.catalog(name, template, types[name])
		} else {
			out[name] = types[name]
		}
	}
	for i := range statuses {
		slices.SortFunc(statuses[i].Conflicts, Conflict.Compare)
	}
	return out, statuses, nil
}

// sortedOverlays returns the overlays by name.
func sortedOverlays(overlays []*v1.NodeOverlay) ([]*v1.NodeOverlay, error) {
	var faults []error
	sorted := make([]*v1.NodeOverlay, 0, len(overlays))
	for i, o := range overlays {
		switch {
		case o == nil:
			faults = append(faults, fmt.Errorf("overlay %d is nil; leave it out", i))
		case o.Name == "":
			faults = append(faults, fmt.Errorf("overlay %d: metadata.name is empty; overlays are identified by name", i))
		default:
			sorted = append(sorted, o)
		}
	}
	slices.SortStableFunc(sorted, func(a, b *v1.NodeOverlay) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Name == sorted[i-1].Name {
			faults = append(faults, fmt.Errorf("NodeOverlay %q is listed twice; list each overlay once", sorted[i].Name))
		}
	}
	return sorted, errors.Join(faults...)
}

// overlay is a valid NodeOverlay, read.
type overlay struct {
	name     string
	weight   int32
	selector requirements.Set
	price    *priceChange // nil if it leaves prices alone
	capacity resources.List
	status   *Status
}

// compareOverlays orders by precedence. At equal weight the name that comes first takes precedence,
// as the documentation of the weight field says.
func compareOverlays(a, b overlay) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.name, b.name))
}

// readOverlay reads an overlay, or returns what is wrong with it.
func readOverlay(o *v1.NodeOverlay, v *requirements.Vocabulary) (overlay, field.ErrorList) {
	faults := o.Validate()
	if len(faults) > 0 {
		// Later checks would report the same faults again.
		return overlay{}, faults
	}
	out := overlay{name: o.Name}
	if o.Spec.Weight != nil {
		out.weight = *o.Spec.Weight
	}
	spec := field.NewPath("spec")
	asked := make([]v1.NodeSelectorRequirementWithMinValues, len(o.Spec.Requirements))
	for i, r := range o.Spec.Requirements {
		asked[i] = v1.NodeSelectorRequirementWithMinValues{Key: r.Key, Operator: r.Operator, Values: r.Values}
	}
	var err error
	if out.selector, err = requirements.FromRequirements(asked, v); err != nil {
		faults = append(faults, field.Invalid(spec.Child("requirements"), len(asked), oneLine(err)))
	}
	var fault *field.Error
	if out.price, fault = readPrice(&o.Spec); fault != nil {
		faults = append(faults, fault)
	}
	if out.capacity, err = resources.FromResourceList(o.Spec.Capacity); err != nil {
		faults = append(faults, field.Invalid(spec.Child("capacity"), len(o.Spec.Capacity), oneLine(err)))
	}
	for _, name := range out.capacity.Negative() {
		faults = append(faults, field.Invalid(spec.Child("capacity").Key(string(name)),
			resources.Format(name, out.capacity.Get(name)), "use zero or more"))
	}
	for name, amount := range out.capacity.All() {
		if q := o.Spec.Capacity[name]; isFraction(q, amount) {
			faults = append(faults, field.Invalid(spec.Child("capacity").Key(string(name)), q.AsApproximateFloat64(),
				"use a whole number: the API server takes no other of a node for this resource"))
		}
	}
	return out, faults
}

// isFraction reports whether q is not a whole number. rounded is q, rounded away from zero.
func isFraction(q resource.Quantity, rounded int64) bool {
	if math.Abs(q.AsApproximateFloat64()) < 0.5 { // Cmp takes long for a quantity close to zero
		return rounded != 0
	}
	return q.Cmp(*resource.NewQuantity(rounded, resource.DecimalSI)) != 0
}

// oneLine makes one line of joined errors.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// overlayPools returns the labels that every node of a pool has, by the name of the pool. Pools
// that cannot be read are left out.
func overlayPools(pools []*v1.NodePool, v *requirements.Vocabulary) map[string]requirements.Set {
	out := make(map[string]requirements.Set, len(pools))
	listed := make(map[string]int, len(pools))
	for _, p := range pools {
		if p == nil {
			continue
		}
		listed[p.Name]++
		if set, err := requirements.FromNodePool(p, v); err == nil {
			out[p.Name] = set
		}
		if listed[p.Name] > 1 {
			// With two pools of one name the result would depend on their order.
			delete(out, p.Name)
		}
	}
	return out
}

// Annotations returns the annotations of a NodeClaim with these options:
// karpenter.sh/price-overlay-applied if an overlay set the price of an option, and
// karpenter.sh/capacity-overlay-applied if an overlay set its capacity, each with the value "true".
// It returns nil if neither applies. The caller owns the map.
func Annotations(options []cloudprovider.LaunchOption) map[string]string {
	var out map[string]string
	set := func(key string) {
		if out == nil {
			out = map[string]string{}
		}
		out[key] = "true"
	}
	for _, o := range options {
		if o.Offering != nil && o.Offering.PriceOverlay != "" {
			set(v1.PriceOverlayAppliedAnnotationKey)
		}
		if o.InstanceType != nil && len(o.InstanceType.CapacityOverlays) > 0 {
			set(v1.CapacityOverlayAppliedAnnotationKey)
		}
	}
	return out
}
