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

// Options choose a part of the catalog. The zero value, and nil, mean all of it.
type Options struct {
	// Region names the region. Default DefaultRegion. Prices do not depend on it.
	Region string

	// Zones are the zones of the region. Default: four, named after the region with the letters
	// a to d. The place of a zone in the list decides which old and rare families it has; after
	// four it starts over. A type that none of the zones has is left out.
	Zones []Zone

	// Families and Types name the instance families (m5) and instance types (m5.large) to keep.
	// If both are empty all are kept.
	Families, Types []string

	// Where keeps the instance types, and of those the offerings, that can have labels it
	// admits. It may name any label of the catalog:
	//
	//	requirements.MustParse("kubernetes.io/arch = arm64, !karpenter.k8s.aws/instance-gpu-name")
	Where requirements.Set
}

// All returns all instance types with four zones of us-east-1: more than 900, sorted by name,
// each with its offerings in the order of cloudprovider.OfferingKey. All offerings are
// available.
//
// Labels, capacity and overhead are those that Karpenter's AWS provider gives a type under an
// EC2NodeClass for AL2023 that sets nothing else:
//
//   - memory is that of the machine, on Graviton less 64 MiB, less 7.5%;
//   - pods is what the network interfaces have addresses for;
//   - the kubelet keeps 6% of the first CPU, 1% of the second, 0.5% of the third and fourth and
//     0.25% of the rest; 255 MiB of memory and 11 MiB for each pod, plus 100 MiB before it
//     evicts; 1 GiB of the root volume of 20 GiB, plus 10%.
//
// On-demand prices are those of us-east-1. Spot prices are made up: between 27% and 68% of the
// on-demand price, by type and zone.
//
// Every call builds the catalog anew, which takes about ten milliseconds. It is the caller's.
func All() []*cloudprovider.InstanceType {
	types, err := New(nil)
	if err != nil {
		panic(err) // no option, no fault
	}
	return types
}

// New returns the part of All that the options choose.
//
// The error joins every fault of the options: a zone without a name or listed twice, a family or
// type that does not exist or is in none of the zones, a label that no instance type has, a
// Where that leaves nothing.
func New(opts *Options) ([]*cloudprovider.InstanceType, error) {
	if opts == nil {
		opts = &Options{}
	}
	region := cmp.Or(opts.Region, DefaultRegion)
	zones := opts.Zones
	if len(zones) == 0 {
		zones = defaultZones(region)
	}
	c := choice{opts: opts, builder: newBuilder(region, withIDs(region, zones)), families: families()}
	c.checkZones(zones)
	types := c.build()
	for i, name := range opts.Families {
		c.check(fmt.Sprintf("Families[%d]", i), name, "", false)
	}
	for i, name := range opts.Types {
		family, size, _ := strings.Cut(name, ".")
		c.check(fmt.Sprintf("Types[%d]", i), family, size, true)
	}
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

// build makes the instance types that Families and Types choose, sorted by name.
func (c *choice) build() []*cloudprovider.InstanceType {
	all := len(c.opts.Families) == 0 && len(c.opts.Types) == 0
	var out []*cloudprovider.InstanceType
	for _, f := range c.families {
		whole := all || slices.Contains(c.opts.Families, f.name)
		chosen := func(s *size) bool { return whole || slices.Contains(c.opts.Types, f.name+"."+s.name) }
		zones := c.builder.zonesOf(f)
		if len(zones) == 0 || !slices.ContainsFunc(f.sizes, func(s size) bool { return chosen(&s) }) {
			continue
		}
		shared := c.builder.familyRequirements(f, zones)
		for i := range f.sizes {
			if s := &f.sizes[i]; chosen(s) {
				out = append(out, instanceType(f, s, zones, shared))
			}
		}
	}
	slices.SortFunc(out, func(a, b *cloudprovider.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// check faults an option that names a family, or a type of it, which the catalog does not have.
func (c *choice) check(option, family, size string, isType bool) {
	var alike, sizes []string
	for _, f := range c.families {
		if f.name == family {
			for _, s := range f.sizes {
				sizes = append(sizes, s.name)
			}
			switch {
			case len(c.builder.zonesOf(f)) == 0:
				c.fault("%s: none of the zones has the family %s; list %d zones, which have all families", option, family, len(zoneLetters))
			case isType && !slices.Contains(sizes, size):
				c.fault("%s: the family %s has no size %q; it comes as %s", option, family, size, strings.Join(sizes, ", "))
			}
			return
		}
		if family != "" && f.category() == family[:len(family)-len(strings.TrimLeft(family, lowercase))] {
			alike = append(alike, f.name)
		}
	}
	remedy := "name one as in m5, and a type as in m5.large"
	if len(alike) > 0 {
		remedy += "; those alike are " + strings.Join(alike, ", ")
	}
	c.fault("%s: there is no family %q; %s", option, family, remedy)
}

// where narrows instance types, which it may change, to what Options.Where admits.
func (c *choice) where(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	where := c.opts.Where
	if where.Len() == 0 || len(types) == 0 {
		return types
	}
	before := len(c.errs)
	for r := range where.All() {
		// All types have a requirement on the same labels.
		if _, known := types[0].Requirements.Get(r.Key()); !known {
			c.fault("Where: no instance type has the label %s; WellKnownLabels lists the labels", r.Key())
		}
	}
	if len(c.errs) > before {
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

// overlaps reports whether have admits a state that want admits, for each label that both name.
func overlaps(have, want requirements.Set) bool {
	for w := range want.All() {
		if h, named := have.Get(w.Key()); named && !h.Overlaps(w) {
			return false
		}
	}
	return true
}

// narrow drops the offerings that where does not admit, and the values that only they had from
// the labels of the type. It reports whether offerings are left.
func narrow(t *cloudprovider.InstanceType, where requirements.Set) bool {
	all := len(t.Offerings)
	t.Offerings = slices.DeleteFunc(t.Offerings, func(o cloudprovider.Offering) bool { return !overlaps(o.Labels(), where) })
	if len(t.Offerings) < all {
		for _, key := range []string{corev1.LabelTopologyZone, awsv1.LabelTopologyZoneID, v1.CapacityTypeLabelKey} {
			if offered, known := ofOfferings(t, key); known {
				t.Requirements = t.Requirements.With(offered)
			}
		}
	}
	return len(t.Offerings) > 0
}

// Sorted returns a copy of instance types in the order that cloudprovider.CloudProvider asks
// for: by name, with offerings by key. The error joins every fault: types that are nil, have the
// name of another, or do not pass cloudprovider.InstanceType.Validate.
func Sorted(types []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, error) {
	out := make([]*cloudprovider.InstanceType, 0, len(types))
	var errs []error
	seen := map[string]bool{}
	for i, t := range types {
		if t == nil {
			errs = append(errs, fmt.Errorf("instance type %d of the list: nil; leave it out", i+1))
			continue
		}
		if err := t.Validate(); err != nil {
			errs = append(errs, unjoin(err)...)
		}
		if t.Name != "" && seen[t.Name] {
			errs = append(errs, fmt.Errorf("instance type %s: there is another one of that name; keep one", t.Name))
		}
		seen[t.Name] = true
		t = t.Clone()
		slices.SortFunc(t.Offerings, func(a, b cloudprovider.Offering) int { return a.Key(t.Name).Compare(b.Key(t.Name)) })
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *cloudprovider.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	return out, errors.Join(errs...)
}

// DefaultRegion is the region of a catalog unless Options say otherwise. Prices are those of
// this region whatever the region is called.
const DefaultRegion = "us-east-1"

// Zone is an availability zone.
type Zone struct {
	// Name is the value of topology.kubernetes.io/zone: us-east-1a. Required.
	Name string
	// ID is the value of topology.k8s.aws/zone-id: use1-az1. Empty means the abbreviated region,
	// "-az" and the place of the zone in the list, from 1, or the next free number beyond the
	// list if another zone of the list has that ID.
	ID string
}

// defaultZones returns four zones, named as AWS does.
func defaultZones(region string) (out []Zone) {
	for _, letter := range zoneLetters {
		out = append(out, Zone{Name: region + string(letter)})
	}
	return out
}

// zoneLetters are the letters by which ec2.txt names zones.
const zoneLetters = "abcd"

// withIDs returns a copy in which every zone has an ID.
func withIDs(region string, zones []Zone) []Zone {
	out, next := slices.Clone(zones), len(zones)
	taken := func(id string) bool { return slices.ContainsFunc(out, func(z Zone) bool { return z.ID == id }) }
	for i := range out {
		for n := i + 1; out[i].ID == ""; n = next {
			if id := fmt.Sprintf("%s-az%d", abbreviate(region), n); !taken(id) {
				out[i].ID = id
			} else {
				next++
			}
		}
	}
	return out
}

// abbreviate shortens a region as AWS does in the ids of zones: us-east-1 is use1,
// ap-southeast-2 is apse2, us-gov-west-1 is usgw1.
func abbreviate(region string) string {
	var b strings.Builder
	for i, word := range strings.Split(region, "-") {
		switch {
		case i == 0 || isNumber(word):
			b.WriteString(word)
		case len(word) > len("south") && (strings.HasPrefix(word, "north") || strings.HasPrefix(word, "south")):
			b.WriteString(word[:1] + word[5:6])
		case word != "":
			b.WriteString(word[:1])
		}
	}
	return b.String()
}

// LabelInstanceNitroEnclavesSupported is "true" if the instance can host Nitro enclaves, and
// "false" otherwise. Every instance type of All has it. Other labels of instance types are those
// of Kubernetes, of karpenter.sh and of package aws/api/v1, so that a NodePool written for EC2
// means the same here; All has a requirement on every one of them, which is DoesNotExist where a
// label does not apply.
const LabelInstanceNitroEnclavesSupported = awsv1.Group + "/instance-nitro-enclaves-supported"

// WellKnownLabels returns the keys of awsv1.WellKnownLabels and the label above, sorted. The
// slice is the caller's.
func WellKnownLabels() []string {
	keys := append(awsv1.WellKnownLabels(), LabelInstanceNitroEnclavesSupported)
	slices.Sort(keys)
	return keys
}

// Vocabulary returns awsv1.Vocabulary with the label above as a well-known one.
func Vocabulary() *requirements.Vocabulary {
	return awsv1.Vocabulary().Extend(requirements.Extension{WellKnown: []string{LabelInstanceNitroEnclavesSupported}})
}

// NodePoolRules returns awsv1.NodePoolRules with the labels above as well-known ones: what
// NodePool.ValidateWith has to know of a cloud that sells these types. They are the caller's.
func NodePoolRules() *v1.Rules {
	rules := awsv1.NodePoolRules()
	rules.WellKnownLabels = WellKnownLabels()
	return rules
}
