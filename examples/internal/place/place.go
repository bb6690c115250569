// Package place finds out where a cluster is: its region and its zones, as far as its manifests
// say, and the instance types that the fake cloud sells there.
package place

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Place is the location of a cluster.
type Place struct {
	Region string
	// Zones are sorted by name. ID is empty if unknown.
	Zones []catalog.Zone
}

// Find returns the place of a cluster. The region is the first of these that is known:
//
//   - the region asked for;
//   - that of the zones asked for;
//   - that of most nodes, by their region label or else by their zone;
//   - that of most subnets in the status of EC2NodeClasses;
//   - that of most zones that NodePools and volumes require;
//   - catalog.DefaultRegion.
//
// The zones are those asked for, or else those of the region that have nodes or subnets. If no
// subnet is known, those that NodePools require are added. If there are none, they are the region's
// zones a to d. Zone IDs are read from nodes, or else from subnets, because each account has its
// own.
func Find(c *manifest.Cluster, asked Asked) Place {
	f := finder{zones: map[string]zone{}}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if n.NodeClaim != nil {
			f.seen(n.NodeClaim.Labels)
		}
		if n.Node != nil {
			f.seen(n.Node.Labels)
		}
	}
	var subnets, wanted []string
	for _, class := range c.Classes {
		for _, s := range class.Status.Subnets {
			f.add(s.Zone, "", s.ZoneID)
			subnets = append(subnets, s.Zone)
		}
	}
	if len(subnets) == 0 {
		wanted = poolZones(c)
	}
	region := cmp.Or(asked.Region, most(regionsOf(asked.Zones)), most(f.regions), most(regionsOf(subnets)),
		most(regionsOf(slices.Concat(poolZones(c), volumeZones(c)))), catalog.DefaultRegion)
	for _, name := range wanted {
		f.add(name, "", "")
	}
	p := Place{Region: region}
	names := asked.Zones
	for _, list := range [][]string{f.within(region), lettered(region)} {
		if len(names) == 0 {
			names = list
		}
	}
	for _, name := range names {
		p.Zones = append(p.Zones, catalog.Zone{Name: name, ID: f.zones[name].id})
	}
	slices.SortFunc(p.Zones, func(a, b catalog.Zone) int { return strings.Compare(a.Name, b.Name) })
	return p
}

// lettered returns the zones a to d of a region.
func lettered(region string) (out []string) {
	for _, letter := range "abcd" {
		out = append(out, region+string(letter))
	}
	return out
}

// zone is the region and the ID of a zone, each empty if unknown.
type zone struct{ region, id string }

type finder struct {
	zones   map[string]zone
	regions []string // one entry for each node
}

// seen reads the labels of a node or of its NodeClaim.
func (f *finder) seen(labels map[string]string) {
	name := cmp.Or(labels[corev1.LabelTopologyZone], labels[corev1.LabelFailureDomainBetaZone])
	region := cmp.Or(labels[corev1.LabelTopologyRegion], labels[corev1.LabelFailureDomainBetaRegion], regionOf(name))
	if region != "" {
		f.regions = append(f.regions, region)
	}
	f.add(name, region, labels[awsv1.LabelTopologyZoneID])
}

// add records a zone. If the zone is known already, the earlier values stay.
func (f *finder) add(name, region, id string) {
	if name != "" {
		z := f.zones[name]
		f.zones[name] = zone{cmp.Or(z.region, region, regionOf(name)), cmp.Or(z.id, id)}
	}
}

// within returns the zones that are, or may be, in a region.
func (f *finder) within(region string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(f.zones)) {
		if r := f.zones[name].region; r == "" || r == region {
			out = append(out, name)
		}
	}
	return out
}

// poolZones returns the zones that NodePools require.
func poolZones(c *manifest.Cluster) (out []string) {
	for _, pool := range c.NodePools {
		for _, r := range pool.Spec.Template.Spec.Requirements {
			if r.Operator == corev1.NodeSelectorOpIn && fake.Vocabulary().NormalizeKey(r.Key) == corev1.LabelTopologyZone {
				out = append(out, r.Values...)
			}
		}
	}
	return out
}

// volumeZones returns the zones of volumes.
func volumeZones(c *manifest.Cluster) (out []string) {
	for _, v := range c.Volumes.Volumes {
		if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
			continue
		}
		for _, term := range v.Spec.NodeAffinity.Required.NodeSelectorTerms {
			for _, e := range term.MatchExpressions {
				if e.Operator == corev1.NodeSelectorOpIn && fake.Vocabulary().NormalizeKey(e.Key) == corev1.LabelTopologyZone {
					out = append(out, e.Values...)
				}
			}
		}
	}
	return out
}

// zoneName matches the name of an AWS zone.
var zoneName = regexp.MustCompile(`^([a-z]{2}(?:-[a-z]+)+-[0-9]+)[a-z]$`)

// regionOf returns the region in the name of a zone, "" if the name has another form.
func regionOf(zone string) string {
	if m := zoneName.FindStringSubmatch(zone); m != nil {
		return m[1]
	}
	return ""
}

func regionsOf(zones []string) (out []string) {
	for _, name := range zones {
		if region := regionOf(name); region != "" {
			out = append(out, region)
		}
	}
	return out
}

// most returns the most frequent element of a list; of equally frequent ones the first in order, ""
// for an empty list.
func most(list []string) (best string) {
	count := map[string]int{}
	for _, s := range list {
		count[s]++
	}
	for _, s := range slices.Sorted(maps.Keys(count)) {
		if best == "" || count[s] > count[best] {
			best = s
		}
	}
	return best
}

// Catalog returns the instance types that the fake cloud sells in the zones of the place. A zone
// has the instance families of the zone with the same letter in the default catalog.
func (p Place) Catalog() ([]*cloudprovider.InstanceType, error) {
	opts := catalog.Options{Region: p.Region}
	var names []string
	others := slices.Clone(p.Zones)
	for _, name := range lettered(p.Region) {
		z := catalog.Zone{Name: name}
		if i := slices.IndexFunc(others, func(o catalog.Zone) bool { return o.Name == z.Name }); i >= 0 {
			z = others[i]
			others = slices.Delete(others, i, i+1)
		}
		opts.Zones = append(opts.Zones, z)
	}
	opts.Zones = append(opts.Zones, others...)
	for _, z := range p.Zones {
		names = append(names, z.Name)
	}
	opts.Where = requirements.NewSet(requirements.In(corev1.LabelTopologyZone, names...))
	return catalog.New(&opts)
}
