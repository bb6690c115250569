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
	regions, ids := map[string]string{}, map[string]string{} // by zone: the first that is known
	add := func(name, region, id string) {
		if name != "" {
			regions[name], ids[name] = cmp.Or(regions[name], region, regionOf(name)), cmp.Or(ids[name], id)
		}
	}
	var nodes, subnets []string // regions of nodes, zones of subnets
	see := func(labels map[string]string) {
		name := cmp.Or(labels[corev1.LabelTopologyZone], labels[corev1.LabelFailureDomainBetaZone])
		region := cmp.Or(labels[corev1.LabelTopologyRegion], labels[corev1.LabelFailureDomainBetaRegion], regionOf(name))
		nodes = append(nodes, region)
		add(name, region, labels[awsv1.LabelTopologyZoneID])
	}
	for _, n := range c.Nodes {
		if n.NodeClaim != nil {
			see(n.NodeClaim.Labels)
		}
		if n.Node != nil {
			see(n.Node.Labels)
		}
	}
	for _, class := range c.Classes {
		for _, s := range class.Status.Subnets {
			add(s.Zone, "", s.ZoneID)
			subnets = append(subnets, s.Zone)
		}
	}
	p := Place{Region: cmp.Or(asked.Region, most(regionsOf(asked.Zones)), most(nodes), most(regionsOf(subnets)),
		most(regionsOf(slices.Concat(poolZones(c), volumeZones(c)))), catalog.DefaultRegion)}
	if len(subnets) == 0 {
		for _, name := range poolZones(c) {
			add(name, "", "")
		}
	}
	names := asked.Zones
	if len(names) == 0 {
		for name, region := range regions { // they are sorted below
			if region == "" || region == p.Region {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		names = lettered(p.Region)
	}
	for _, name := range names {
		p.Zones = append(p.Zones, catalog.Zone{Name: name, ID: ids[name]})
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
		out = append(out, regionOf(name))
	}
	return out
}

// most returns the most frequent text of a list, without counting empty ones. Of texts that are equally
// frequent it returns the first in order, and "" if all are empty.
func most(list []string) (best string) {
	count := map[string]int{}
	for _, s := range list {
		count[s]++
	}
	delete(count, "")
	for _, s := range slices.Sorted(maps.Keys(count)) {
		if count[s] > count[best] {
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
