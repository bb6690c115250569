package awsinput

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/examples/internal/place"
)

// discovery is the tag by which most clusters mark their AWS resources.
const discovery = "karpenter.sh/discovery"

// clusterName matches the names that EKS allows for a cluster.
var clusterName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$`)

// wildcard matches the wildcards of an EC2 filter.
var wildcard = regexp.MustCompile(`[*?]+`)

// Account returns the options of a simulated AWS for the classes: the zones of the cluster, the
// roles, a placement group for each selector, and, for each term that selects subnets or security
// groups, some that it selects. If cluster is empty, the name of the cluster is taken from the tags
// by which a class selects subnets. The region and the zones are those of the program whatif, so
// that both make the same plans.
func (in *Input) Account(cluster string, asked place.Asked) *awstest.Options {
	at := place.Find(in.Cluster, asked)
	var zones []awstest.Zone
	for _, z := range at.Zones {
		zones = append(zones, awstest.Zone{Name: z.Name, ID: cmp.Or(z.ID, z.Name)})
	}
	o := &awstest.Options{Region: at.Region, Zones: zones, Cluster: awstest.Cluster{Name: cluster}}
	seen := map[string]bool{}
	first := func(term any) bool {
		key := fmt.Sprintf("%#v", term)
		known := seen[key]
		seen[key] = true
		return !known
	}
	for _, class := range in.Cluster.Classes {
		if class.Spec.Role != "" {
			o.Roles = append(o.Roles, path.Base(class.Spec.Role))
		}
		for _, term := range class.Spec.SubnetSelectorTerms {
			if name := term.Tags[discovery]; o.Cluster.Name == "" && clusterName.MatchString(name) {
				o.Cluster.Name = name
			}
			if first(term) {
				o.Subnets = append(o.Subnets, subnetsFor(term, zones, len(o.Subnets))...)
			}
		}
		for _, term := range class.Spec.SecurityGroupSelectorTerms {
			if first(term) {
				o.SecurityGroups = append(o.SecurityGroups, ec2types.SecurityGroup{GroupId: new(cmp.Or(term.ID, fmt.Sprintf("sg-%017x", 0xa+len(o.SecurityGroups)))),
					Description: new("nodes of the cluster"), GroupName: new(cmp.Or(literal(term.Name, ""), "nodes")), Tags: tagsFor(term.Tags)})
			}
		}
		if s := class.Spec.PlacementGroupSelector; s != nil && first(*s) {
			o.PlacementGroups = append(o.PlacementGroups, ec2types.PlacementGroup{GroupName: cmp.Or(s.Name, new("group")),
				GroupId: cmp.Or(s.ID, new(fmt.Sprintf("pg-%017x", len(o.PlacementGroups)+1))),
				State:   ec2types.PlacementGroupStateAvailable, Strategy: ec2types.PlacementStrategySpread})
		}
	}
	return o
}

// Furnish adds the missing images and instance profiles that classes name to a simulated AWS. An
// image whose architecture no class tells is x86_64.
func (in *Input) Furnish(cloud *awstest.Cloud) {
	for _, class := range in.Cluster.Classes {
		if name := class.Spec.InstanceProfile; name != nil {
			cloud.AddInstanceProfile(awstest.InstanceProfile{Name: *name, Role: "nodes"})
		}
		publish(cloud, class.AMITerms())
	}
}

// subnetsFor returns subnets that a term selects: one in each zone, or the one with its ID.
func subnetsFor(term awsv1.SubnetSelectorTerm, zones []awstest.Zone, before int) (out []ec2types.Subnet) {
	if term.ID != "" {
		zones = []awstest.Zone{zones[before%len(zones)]}
	}
	for i, z := range zones {
		n := before + i
		id := cmp.Or(term.ID, fmt.Sprintf("subnet-%017x", 0xa0+n))
		out = append(out, ec2types.Subnet{SubnetId: &id, AvailabilityZone: new(z.Name), CidrBlock: new(fmt.Sprintf("10.%d.%d.0/24", n/256, n%256)),
			AvailableIpAddressCount: new(int32(250)), Tags: tagsFor(term.Tags)})
	}
	return out
}

// tagsFor returns tags that the tags of a term select.
func tagsFor(selected map[string]string) (tags []ec2types.Tag) {
	for _, key := range slices.Sorted(maps.Keys(selected)) {
		tags = append(tags, ec2types.Tag{Key: new(key), Value: new(cmp.Or(literal(selected[key], ""), "any"))})
	}
	return tags
}

// literal returns a text that a pattern of EC2 matches. Its first wildcard becomes word, or a letter
// for each "?" if word has fewer letters.
func literal(pattern, word string) string {
	return wildcard.ReplaceAllStringFunc(pattern, func(run string) string {
		if questions := strings.Count(run, "?"); questions > 0 && len(word) < questions {
			return strings.Repeat("x", questions)
		}
		filled := word
		word = ""
		return filled
	})
}

// publish adds the missing images that terms select. Faults of the terms are left to the provider.
func publish(cloud *awstest.Cloud, terms []amiselect.Term) {
	o := cloud.Options()
	queries, _ := amiselect.Queries(terms, amiselect.Environment{KubernetesVersion: o.Cluster.Version, Account: o.Account, Parameters: map[string]string{}})
	for _, q := range queries {
		if q.Kind == amiselect.QueryParameter {
			if o.Parameters[q.Parameter] == "" {
				name := path.Base(strings.TrimSuffix(q.Parameter, "/image_id"))
				cloud.Publish(image(name, cmp.Or(q.Architecture, architectureOf(name)), "amazon"), q.Parameter)
			}
			continue
		}
		for _, i := range q.Terms {
			publishTerm(cloud, &terms[i])
		}
	}
}

// publishTerm adds the images of a term by ID, by name or by tags. An image is added for both
// architectures if the term selects by tags, or by a name that does not contain the architecture.
func publishTerm(cloud *awstest.Cloud, term *amiselect.Term) {
	if term.ID != "" {
		made := image(term.ID, "x86_64", "self")
		made.ImageId = &term.ID
		cloud.Publish(made)
		return
	}
	pattern, err := amiselect.ParsePattern(cmp.Or(term.Name, "*"))
	if err != nil || len(term.Tags) == 0 && slices.ContainsFunc(cloud.Options().Images, func(i ec2types.Image) bool { return pattern.Match(*i.Name) }) {
		return
	}
	for _, arch := range []string{"x86_64", "arm64"} {
		name := literal(cmp.Or(term.Name, "image-*"), arch)
		if of := architectureOf(name); of != arch && (term.Name == "" || strings.Contains(name, of)) {
			continue
		}
		made := image(name, arch, cmp.Or(term.Owner, "self"))
		made.Tags = tagsFor(term.Tags)
		cloud.Publish(made)
	}
}

// architectureOf returns the architecture in the name of an image.
func architectureOf(name string) string {
	if strings.Contains(name, "arm64") || strings.Contains(name, "aarch64") {
		return "arm64"
	}
	return "x86_64"
}

// image returns an image with an owner, which is an account or an alias of one.
func image(name, arch, owner string) ec2types.Image {
	h := fnv.New64a()
	h.Write([]byte(name + arch))
	id := fmt.Sprintf("ami-%017x", h.Sum64()>>4)
	out := ec2types.Image{ImageId: &id, Name: &name, Architecture: ec2types.ArchitectureValues(arch),
		RootDeviceName: new("/dev/xvda"), RootDeviceType: ec2types.DeviceTypeEbs}
	switch {
	case owner == "self":
	case strings.Trim(owner, "0123456789") == "":
		out.OwnerId = &owner
	default:
		out.OwnerId, out.ImageOwnerAlias, out.Public = new("602401143452"), &owner, new(true)
	}
	return out
}
