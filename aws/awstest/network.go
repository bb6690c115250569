package awstest

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// tagList returns tags in the type of the SDK, sorted by key.
func tagList(tags map[string]string) (list []ec2types.Tag) {
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, ec2types.Tag{Key: &k, Value: new(tags[k])})
	}
	return list
}

func tagMap(tags []ec2types.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[value(t.Key)] = value(t.Value)
	}
	return out
}

func (c *Cloud) describeSubnets(q *request) (any, *fault) {
	id := func(s *subnet) string { return *s.SubnetId }
	chosen, err := selected(q, c.subnets, func(s *subnet) attributes {
		return table(map[string][]string{
			"subnet-id": {*s.SubnetId}, "vpc-id": {*s.VpcId}, "availability-zone": {*s.AvailabilityZone}, "availability-zone-id": {*s.AvailabilityZoneId},
			"availabilityZone": {*s.AvailabilityZone}, "state": {string(s.State)}, "cidr": {*s.CidrBlock}, "owner-id": {*s.OwnerId},
		}, tagMap(s.Tags))
	}, selector[*subnet]{"SubnetId", id, "InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist"})
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(c, q, chosen, id, 5, 1000, 1000)
	out := &ec2.DescribeSubnetsOutput{NextToken: next}
	for _, s := range page {
		now := s.Subnet
		now.AvailableIpAddressCount = new(int32(s.free))
		out.Subnets = append(out.Subnets, now)
	}
	return out, err
}

func (c *Cloud) subnet(id string) *subnet {
	for _, s := range c.subnets {
		if *s.SubnetId == id {
			return s
		}
	}
	return nil
}

// SetAddresses sets the number of free addresses of a subnet. An unknown subnet is ignored.
func (c *Cloud) SetAddresses(subnetID string, free int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.subnet(subnetID); s != nil {
		s.free = free
	}
}

func (c *Cloud) describeSecurityGroups(q *request) (any, *fault) {
	id := func(g ec2types.SecurityGroup) string { return value(g.GroupId) }
	name := func(g ec2types.SecurityGroup) string { return value(g.GroupName) }
	list, err := selected(q, c.groups, func(g ec2types.SecurityGroup) attributes {
		return table(map[string][]string{
			"group-id": {id(g)}, "group-name": {name(g)}, "vpc-id": {value(g.VpcId)}, "owner-id": {value(g.OwnerId)}, "description": {value(g.Description)},
		}, tagMap(g.Tags))
	}, selector[ec2types.SecurityGroup]{"GroupId", id, "InvalidGroup.NotFound", "The security group '%s' does not exist"},
		selector[ec2types.SecurityGroup]{parameter: "GroupName", name: name})
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(c, q, list, id, 5, 1000, 1000)
	return &ec2.DescribeSecurityGroupsOutput{SecurityGroups: page, NextToken: next}, err
}

func (c *Cloud) group(id string) *ec2types.SecurityGroup {
	for i := range c.groups {
		if value(c.groups[i].GroupId) == id {
			return &c.groups[i]
		}
	}
	return nil
}

func (c *Cloud) describePlacementGroups(q *request) (any, *fault) {
	const code, format = "InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown."
	id := func(g ec2types.PlacementGroup) string { return value(g.GroupId) }
	name := func(g ec2types.PlacementGroup) string { return value(g.GroupName) }
	list, err := selected(q, c.placements, func(g ec2types.PlacementGroup) attributes {
		return table(map[string][]string{
			"group-name": {name(g)}, "group-id": {id(g)}, "state": {string(g.State)}, "strategy": {string(g.Strategy)},
		}, tagMap(g.Tags))
	}, selector[ec2types.PlacementGroup]{"GroupId", id, code, format}, selector[ec2types.PlacementGroup]{"GroupName", name, code, format})
	for i := range list {
		list[i].GroupArn = new("arn:aws:ec2:" + c.opts.Region + ":" + c.opts.Account + ":placement-group/" + name(list[i]))
	}
	return &ec2.DescribePlacementGroupsOutput{PlacementGroups: list}, err
}
