package overlay

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Apply returns the catalogs of pools as NodeOverlays correct them, and
// what became of each overlay, sorted by name. The keys of types are names of
// NodePools; the result has the same keys and the types in the same order.
//
// For each pool and each of its instance types, in this order:
//
//  1. An overlay whose spec is not valid (see v1.NodeOverlay.Validate) changes
//     nothing. Status.Faults says why.
//  2. An overlay selects an offering if each of its requirements holds. A label
//     that the type or the offering names must have a value in common with the
//     requirement; of those values only the ones that the pool allows count,
//     unless it allows none, when the type could be that of older nodes only. A
//     label that only the pool names, by its template's labels or requirements,
//     its own name or its node class, must satisfy the requirement whatever
//     value it ends up with. A label that nobody names is absent, well-known or
//     not. The label karpenter.sh/nodepool is that of the pool.
//  3. The price of an offering is set by the heaviest overlay that selects it
//     and has a price. Adjustments count from the provider's price and never
//     add up. See AdjustPrice for the arithmetic, and for what becomes of zero.
//  4. Each resource of a type is set by the heaviest overlay that selects any
//     of its offerings and has the resource in its capacity; different
//     resources may come from different overlays. The amount replaces that of
//     the type, and of every offering that overrides its capacity.
//
// Two or more heaviest overlays of one weight are a conflict at that offering or
// resource, even if they agree on the value. The one whose name is first in byte
// order counts there; the others give way there, and only there. Each lists the
// place in Status.Conflicts. Overlays of a lower weight than the one that
// counts are outweighed, which is no conflict.
//
// What was changed says by whom: Offering.PriceOverlay and
// InstanceType.CapacityOverlays. All else about a type stays as it is.
//
// The types map and all it points at are left alone. Types that no overlay
// changes are in the result by the same pointer. A type that several catalogs
// share is cloned once for each way in which it is changed, so that catalogs
// which agree still share it. Without overlays the result is types itself. Apply
// overlays to what the provider returned, not to an earlier result: adjustments
// would count twice.
//
// The order of the arguments' slices has no influence on the result but for the
// order of types. A nil vocabulary is requirements.DefaultVocabulary. A catalog
// stays as it is if its pool is not among pools, is nil or listed twice, or has
// requirements that cannot be read; it is for whoever uses the pool to say so.
//
// The error joins every fault of the list of overlays: an entry that is nil, has
// no name, or is listed twice. There is no result then.
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
			faults = append(faults, fmt.Errorf("overlay %d: metadata.name is empty; overlays are told apart by name", i))
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

// compareOverlays orders by precedence. At equal weight the name that comes
// first wins, as the documentation of the weight field has it.
func compareOverlays(a, b overlay) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.name, b.name))
}

// readOverlay reads an overlay, or returns what is wrong with it.
func readOverlay(o *v1.NodeOverlay, v *requirements.Vocabulary) (overlay, field.ErrorList) {
	faults := o.Validate()
	if len(faults) > 0 {
		// What follows would only say the same in other words.
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
	return out, faults
}

// oneLine makes one line of joined errors.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// overlayPools returns what is known of every node of each pool that can be
// read, by name.
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
			// Which of them is meant would depend on the order.
			delete(out, p.Name)
		}
	}
	return out
}

// Annotations returns the annotations that a NodeClaim has whose launch
// overlays have influenced: karpenter.sh/price-overlay-applied if the price of
// any option, and karpenter.sh/capacity-overlay-applied if the capacity of any,
// was set by one, each with the value "true". It returns nil if there is none.
// The map is the caller's.
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
