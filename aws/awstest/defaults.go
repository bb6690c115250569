package awstest

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func defaultZones(region string) []Zone {
	var zones []Zone
	for i, letter := range []string{"a", "b", "c"} {
		zones = append(zones, Zone{region + letter, fmt.Sprintf("%s-az%d", shortRegion(region), i+1)})
	}
	return zones
}

// shortRegion is how IDs of zones begin: use1 for us-east-1.
func shortRegion(region string) string {
	parts := strings.Split(region, "-")
	short := parts[0]
	for _, p := range parts[1:] {
		if p != "" {
			short += p[:1]
		}
	}
	return short
}

func discoveryTag(o Options) []ec2types.Tag {
	return []ec2types.Tag{{Key: pointer("karpenter.sh/discovery"), Value: &o.Cluster.Name}}
}

func defaultSubnets(o Options) []ec2types.Subnet {
	var subnets []ec2types.Subnet
	for i, z := range o.Zones {
		subnets = append(subnets, ec2types.Subnet{
			SubnetId:         pointer(fmt.Sprintf("subnet-%017x", 0xa0+i)),
			AvailabilityZone: pointer(z.Name), CidrBlock: pointer(fmt.Sprintf("10.0.%d.0/24", i)),
			AvailableIpAddressCount: pointer(int32(250)),
			Tags:                    append(discoveryTag(o), ec2types.Tag{Key: pointer("Name"), Value: pointer("private-" + z.Name)}),
		})
	}
	return subnets
}

func defaultGroups(o Options) []ec2types.SecurityGroup {
	return []ec2types.SecurityGroup{
		{GroupId: pointer("sg-0000000000000000a"), GroupName: pointer("nodes"), Description: pointer("nodes of the cluster"), Tags: discoveryTag(o)},
		{GroupId: pointer("sg-0000000000000000b"), GroupName: pointer("default"), Description: pointer("default VPC security group")},
	}
}

// imageSpec is an image of Amazon and the parameters that name it.
type imageSpec struct {
	name, arch, owner, alias string
	paths                    []string
}

// defaultImages are those that EKS and Bottlerocket publish for a version of
// Kubernetes, in one release.
func defaultImages(o Options) ([]ec2types.Image, map[string]string) {
	const release, bottlerocket = "20251209", "1.50.0"
	k8s := o.Cluster.Version
	var specs []imageSpec
	for _, v := range []struct{ arch, variant string }{
		{"x86_64", "standard"}, {"x86_64", "nvidia"}, {"x86_64", "neuron"}, {"arm64", "standard"}, {"arm64", "nvidia"},
	} {
		name := fmt.Sprintf("amazon-eks-node-al2023-%s-%s-%s-v%s", v.arch, v.variant, k8s, release)
		path := fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2023/%s/%s/", k8s, v.arch, v.variant)
		specs = append(specs, imageSpec{name, v.arch, "602401143452", "amazon", []string{path + "recommended/image_id", path + name + "/image_id"}})
	}
	for _, nvidia := range []string{"", "-nvidia"} {
		for _, arch := range []string{"x86_64", "arm64"} {
			variant := "aws-k8s-" + k8s + nvidia
			path := fmt.Sprintf("/aws/service/bottlerocket/%s/%s/", variant, arch)
			specs = append(specs, imageSpec{fmt.Sprintf("bottlerocket-%s-%s-v%s-1a2b3c4d", variant, arch, bottlerocket), arch, "092701018921", "amazon",
				[]string{path + "latest/image_id", path + bottlerocket + "/image_id"}})
		}
	}
	var images []ec2types.Image
	parameters := map[string]string{}
	for _, s := range specs {
		id := fmt.Sprintf("ami-%017x", hash(s.name)>>4)
		images = append(images, ec2types.Image{
			ImageId: &id, Name: pointer(s.name), Architecture: ec2types.ArchitectureValues(s.arch), State: ec2types.ImageStateAvailable,
			OwnerId: pointer(s.owner), ImageOwnerAlias: pointer(s.alias), Public: pointer(true),
			CreationDate:   pointer(time.Date(2025, 12, 9, 8, 0, 0, 0, time.UTC).Format(timeFormat)),
			RootDeviceName: pointer("/dev/xvda"), RootDeviceType: ec2types.DeviceTypeEbs,
		})
		for _, p := range s.paths {
			parameters[p] = id
		}
	}
	return images, parameters
}

// hash is the same on every machine.
func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p))
		_, _ = h.Write([]byte{0})
	}
	// The high bits of FNV change little with the last bytes.
	v := h.Sum64()
	v ^= v >> 33
	v *= 0xff51afd7ed558ccd
	v ^= v >> 33
	return v
}

// completeSubnets fills in what options leave out.
func (c *Cloud) completeSubnets() {
	for _, s := range c.opts.Subnets {
		s.AvailabilityZoneId = pointer(c.zoneID(value(s.AvailabilityZone)))
		setDefaultPointer(&s.VpcId, VPC)
		setDefaultPointer(&s.CidrBlock, "10.0.0.0/16")
		setDefaultPointer(&s.AvailableIpAddressCount, 250)
		setDefaultPointer(&s.OwnerId, c.opts.Account)
		setDefaultPointer(&s.MapPublicIpOnLaunch, false)
		setDefault(&s.State, ec2types.SubnetStateAvailable)
		c.subnets = append(c.subnets, &subnet{Subnet: s, free: int(*s.AvailableIpAddressCount)})
	}
	slices.SortFunc(c.subnets, func(a, b *subnet) int { return strings.Compare(*a.SubnetId, *b.SubnetId) })
}

func setDefaultPointer[T any](field **T, v T) {
	if *field == nil {
		*field = &v
	}
}

func (c *Cloud) zoneID(zone string) string {
	for _, z := range c.opts.Zones {
		if z.Name == zone {
			return z.ID
		}
	}
	return ""
}
