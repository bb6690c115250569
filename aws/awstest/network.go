package awstest

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// tagList are tags as the SDK has them, sorted by key.
func tagList(tags map[string]string) (list []ec2types.Tag) {
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, ec2types.Tag{Key: &k, Value: pointer(tags[k])})
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
	ids := q.form.strs("SubnetId")
	if err := known(ids, func(id string) bool { return c.subnet(id) != nil }, "InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist"); err != nil {
		return nil, err
	}
	var list []ec2types.Subnet
	for _, s := range c.subnets {
		ok, err := matches(q.form.list("Filter"), table(map[string][]string{
			"subnet-id": {*s.SubnetId}, "vpc-id": {*s.VpcId}, "availability-zone": {*s.AvailabilityZone}, "availability-zone-id": {*s.AvailabilityZoneId},
			"availabilityZone": {*s.AvailabilityZone}, "state": {string(s.State)}, "cidr": {*s.CidrBlock}, "owner-id": {*s.OwnerId},
		}, tagMap(s.Tags)))
		if err != nil {
			return nil, err
		}
		if ok && (len(ids) == 0 || slices.Contains(ids, *s.SubnetId)) {
			now := s.Subnet
			now.AvailableIpAddressCount = pointer(int32(s.free))
			list = append(list, now)
		}
	}
	page, next, err := pageOf(c, q, list, func(s ec2types.Subnet) string { return *s.SubnetId }, 5, 1000, 1000)
	return &ec2.DescribeSubnetsOutput{Subnets: page, NextToken: next}, err
}

func (c *Cloud) subnet(id string) *subnet {
	for _, s := range c.subnets {
		if *s.SubnetId == id {
			return s
		}
	}
	return nil
}

// SetAddresses sets how many addresses a subnet has left. A subnet that does not
// exist is passed over.
func (c *Cloud) SetAddresses(subnetID string, free int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.subnet(subnetID); s != nil {
		s.free = free
	}
}

func (c *Cloud) describeSecurityGroups(q *request) (any, *fault) {
	ids, names := q.form.strs("GroupId"), q.form.strs("GroupName")
	if err := known(ids, func(id string) bool { return c.group(id) != nil }, "InvalidGroup.NotFound", "The security group '%s' does not exist"); err != nil {
		return nil, err
	}
	var list []ec2types.SecurityGroup
	for _, g := range c.groups {
		ok, err := matches(q.form.list("Filter"), table(map[string][]string{
			"group-id": {value(g.GroupId)}, "group-name": {value(g.GroupName)}, "vpc-id": {value(g.VpcId)}, "owner-id": {value(g.OwnerId)},
			"description": {value(g.Description)},
		}, tagMap(g.Tags)))
		if err != nil {
			return nil, err
		}
		if ok && (len(ids) == 0 || slices.Contains(ids, value(g.GroupId))) && (len(names) == 0 || slices.Contains(names, value(g.GroupName))) {
			list = append(list, g)
		}
	}
	page, next, err := pageOf(c, q, list, func(g ec2types.SecurityGroup) string { return value(g.GroupId) }, 5, 1000, 1000)
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
	ids, names := q.form.strs("GroupId"), q.form.strs("GroupName")
	has := func(of func(ec2types.PlacementGroup) *string) func(string) bool {
		return func(want string) bool {
			return slices.ContainsFunc(c.placements, func(g ec2types.PlacementGroup) bool { return value(of(g)) == want })
		}
	}
	if err := known(ids, has(func(g ec2types.PlacementGroup) *string { return g.GroupId }), "InvalidPlacementGroup.Unknown",
		"The Placement Group '%s' is unknown."); err != nil {
		return nil, err
	}
	if err := known(names, has(func(g ec2types.PlacementGroup) *string { return g.GroupName }), "InvalidPlacementGroup.Unknown",
		"The Placement Group '%s' is unknown."); err != nil {
		return nil, err
	}
	var list []ec2types.PlacementGroup
	for _, g := range c.placements {
		ok, err := matches(q.form.list("Filter"), table(map[string][]string{
			"group-name": {value(g.GroupName)}, "group-id": {value(g.GroupId)}, "state": {string(g.State)}, "strategy": {string(g.Strategy)},
		}, tagMap(g.Tags)))
		if err != nil {
			return nil, err
		}
		if ok && (len(ids) == 0 || slices.Contains(ids, value(g.GroupId))) && (len(names) == 0 || slices.Contains(names, value(g.GroupName))) {
			g.GroupArn = pointer("arn:aws:ec2:" + c.opts.Region + ":" + c.opts.Account + ":placement-group/" + value(g.GroupName))
			list = append(list, g)
		}
	}
	return &ec2.DescribePlacementGroupsOutput{PlacementGroups: list}, nil
}
