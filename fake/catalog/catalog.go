package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Options choose a part of the catalog. The zero value, and nil, mean
// all of it.
type Options struct {
	// Region names the region. Default DefaultRegion. Prices do not depend on
	// it.
	Region string

	// Zones are the zones of the region. Default: four, named after the region
	// with the letters a to d. Which zones have an old or rare family goes by
	// their place in the list, starting over after four; a type that none of
	// them has is left out.
	Zones []Zone

	// Families and Types name the instance families (m5) and instance types
	// (m5.large) to keep. If both are empty all are kept.
	Families, Types []string

	// Where keeps the instance types, and of those the offerings, that can
	// have labels it admits. It may name any label of the catalog:
	//
	//	requirements.MustParse("kubernetes.io/arch = arm64, !karpenter.k8s.aws/instance-gpu-name")
	Where requirements.Set
}

// All returns all instance types with four zones of us-east-1: more than 900,
// sorted by name, each with its offerings in the order of
// cloudprovider.OfferingKey. All offerings are available.
//
// Labels, capacity and overhead are those that Karpenter's AWS provider gives a
// type under an EC2NodeClass for AL2023 that sets nothing else:
//
//   - memory is that of the machine, on Graviton less 64 MiB, less 7.5%;
//   - pods is what the network interfaces have addresses for;
//   - the kubelet keeps 6% of the first CPU, 1% of the second, 0.5% of the
//     third and fourth and 0.25% of the rest; 255 MiB of memory and 11 MiB for
//     each pod, plus 100 MiB before it evicts; 1 GiB of the root volume of
//     20 GiB, plus 10%.
//
// On-demand prices are those of us-east-1. Spot prices are made up: between 27%
// and 68% of the on-demand price, by type and zone.
//
// Every call builds the catalog anew, so the caller may do with it as it likes.
// That takes about ten milliseconds.
func All() []*cloudprovider.InstanceType {
	types, err := New(nil)
	if err != nil {
		// The tables of this package are at fault, which a test rules out.
		panic(err)
	}
	return types
}

// New returns the part of All that the options choose.
//
// The error joins every fault of the options: a zone without a name or listed
// twice, a family or type that does not exist or is in none of the zones, a
// label that no instance type has, a Where that leaves nothing.
func New(opts *Options) ([]*cloudprovider.InstanceType, error) {
	if opts == nil {
		opts = &Options{}
	}
	families, err := ec2.parse()
	if err != nil {
		return nil, fmt.Errorf("fake: tables: %w", err)
	}
	region := cmp.Or(opts.Region, DefaultRegion)
	zones := opts.Zones
	if len(zones) == 0 {
		zones = defaultZones(region)
	}
	c := choice{opts: opts, builder: newBuilder(region, withIDs(region, zones)), families: families}
	c.checkZones(zones)
	types := c.build()
	c.checkNames(types)
	types = c.where(types)
	if len(c.errs) > 0 {
		return nil, fmt.Errorf("fake: catalog options: %w", errors.Join(c.errs...))
	}
	return types, nil
}

// choice is one New under way.
type choice struct {
	opts     *Options
	builder  *builder
	families []*family
	errs     []error
}

func (c *choice) fault(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *choice) checkZones(zones []Zone) {
	seen := map[string]bool{}
	for i, z := range zones {
		if z.Name == "" {
			c.fault("Zones[%d]: the name is empty; name it as in %s1a", i, DefaultRegion[:len(DefaultRegion)-1])
		}
		if z.Name != "" && seen[z.Name] {
			c.fault("Zones[%d]: %s is listed twice; list each zone once", i, z.Name)
		}
		seen[z.Name] = true
	}
}

// build makes the instance types that Families and Types choose, sorted by
// name.
func (c *choice) build() []*cloudprovider.InstanceType {
	all := len(c.opts.Families) == 0 && len(c.opts.Types) == 0
	var out []*cloudprovider.InstanceType
	for _, f := range c.families {
		whole := all || slices.Contains(c.opts.Families, f.name)
		places := c.builder.zonesOf(f)
		if len(places) == 0 || !whole && !slices.ContainsFunc(c.opts.Types, f.has) {
			continue
		}
		shared := c.builder.familyRequirements(f, places)
		for i := range f.sizes {
			s := &f.sizes[i]
			if whole || slices.Contains(c.opts.Types, f.name+"."+s.name) {
				out = append(out, c.builder.instanceType(f, s, places, shared))
			}
		}
	}
	slices.SortFunc(out, func(a, b *cloudprovider.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// has reports whether a type is of the family.
func (f *family) has(instanceType string) bool {
	name, sizeName, _ := strings.Cut(instanceType, ".")
	return name == f.name && slices.ContainsFunc(f.sizes, func(s size) bool { return s.name == sizeName })
}

// checkNames faults the families and types that were asked for and are not
// there.
func (c *choice) checkNames(built []*cloudprovider.InstanceType) {
	families, types := map[string]bool{}, map[string]bool{}
	for _, t := range built {
		family, _, _ := strings.Cut(t.Name, ".")
		families[family], types[t.Name] = true, true
	}
	for i, name := range c.opts.Families {
		if !families[name] {
			c.fault("Families[%d]: %s", i, c.whyNot(name, ""))
		}
	}
	for i, name := range c.opts.Types {
		if !types[name] {
			family, sizeName, _ := strings.Cut(name, ".")
			c.fault("Types[%d]: %s", i, c.whyNot(family, sizeName))
		}
	}
}

// whyNot says why a family, or a size of it, is not in the catalog.
func (c *choice) whyNot(name, sizeName string) string {
	var alike []string
	for _, f := range c.families {
		if f.name != name {
			if strings.TrimLeft(name, lowercase) != name && strings.HasPrefix(name, f.category()) {
				alike = append(alike, f.name)
			}
			continue
		}
		if len(c.builder.zonesOf(f)) == 0 {
			return fmt.Sprintf("none of the zones has the family %s; list %d zones, of which place %s has it",
				name, len(zoneLetters), placesOf(f.zones))
		}
		sizes := make([]string, len(f.sizes))
		for i, s := range f.sizes {
			sizes[i] = s.name
		}
		return fmt.Sprintf("the family %s has no size %q; it comes as %s", name, sizeName, strings.Join(sizes, ", "))
	}
	text := fmt.Sprintf("there is no family %q; name one as in m5, and a type as in m5.large", name)
	if len(alike) > 0 {
		text += "; those alike are " + strings.Join(alike, ", ")
	}
	return text
}

// placesOf writes the letters of zones as places from 1.
func placesOf(letters string) string {
	var out []string
	for _, letter := range letters {
		out = append(out, fmt.Sprint(strings.IndexRune(zoneLetters, letter)+1))
	}
	return strings.Join(out, " or ")
}

// where narrows instance types, which it may change, to those that
// Options.Where admits.
func (c *choice) where(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	where := c.opts.Where
	if where.Len() == 0 || len(types) == 0 {
		return types
	}
	unknown := false
	for r := range where.All() {
		// All types have a requirement on the same labels.
		if _, known := types[0].Requirements.Get(r.Key()); !known {
			unknown = true
			c.fault("Where: no instance type has the label %s; see WellKnownLabels for those there are", r.Key())
		}
	}
	if unknown {
		return nil
	}
	var out []*cloudprovider.InstanceType
	for _, t := range types {
		if overlaps(t.Requirements, where) && narrow(t, where) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		c.fault("Where: no instance type satisfies %s; ask for less", where)
	}
	return out
}

// overlaps reports whether have admits a state that want admits, for each label
// that both name.
func overlaps(have, want requirements.Set) bool {
	for w := range want.All() {
		if h, named := have.Get(w.Key()); named && !h.Overlaps(w) {
			return false
		}
	}
	return true
}

// narrow drops the offerings that where does not admit, and from the labels of
// the type what only those had. It reports whether offerings are left.
func narrow(t *cloudprovider.InstanceType, where requirements.Set) bool {
	kept := t.Offerings[:0:0]
	for i := range t.Offerings {
		if overlaps(t.Offerings[i].Labels(), where) {
			kept = append(kept, t.Offerings[i])
		}
	}
	if len(kept) < len(t.Offerings) && len(kept) > 0 {
		t.Requirements = t.Requirements.With(offered(kept)...)
	}
	t.Offerings = kept
	return len(kept) > 0
}

// offered returns, for the labels that tell offerings apart, the values that
// there are.
func offered(offerings []cloudprovider.Offering) []requirements.Requirement {
	var zones, ids, capacityTypes []string
	for i := range offerings {
		o := &offerings[i]
		zones, capacityTypes = append(zones, o.Zone), append(capacityTypes, o.CapacityType)
		if id, named := o.Requirements.Get(awsv1.LabelTopologyZoneID); named {
			values, _ := id.Values()
			ids = append(ids, values...)
		}
	}
	return []requirements.Requirement{
		requirements.In(corev1.LabelTopologyZone, zones...),
		requirements.In(awsv1.LabelTopologyZoneID, ids...),
		requirements.In(v1.CapacityTypeLabelKey, capacityTypes...),
	}
}
