package awstest

import (
	"slices"
	"strings"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

type xmlTag struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

// xmlTags are the tags of a thing, sorted by key.
func xmlTags(tags map[string]string) (list []xmlTag) {
	for k, v := range tags {
		list = append(list, xmlTag{k, v})
	}
	slices.SortFunc(list, func(a, b xmlTag) int { return strings.Compare(a.Key, b.Key) })
	return list
}

func tagMap(tags []ec2types.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[value(t.Key)] = value(t.Value)
	}
	return out
}

type xmlSubnet struct {
	ID     string   `xml:"subnetId"`
	Zone   string   `xml:"availabilityZone"`
	ZoneID string   `xml:"availabilityZoneId"`
	VPC    string   `xml:"vpcId"`
	CIDR   string   `xml:"cidrBlock"`
	Free   int      `xml:"availableIpAddressCount"`
	State  string   `xml:"state"`
	Owner  string   `xml:"ownerId"`
	Public bool     `xml:"mapPublicIpOnLaunch"`
	IPv6   bool     `xml:"ipv6Native"`
	Tags   []xmlTag `xml:"tagSet>item"`
}

func (c *Cloud) describeSubnets(q *request) (any, *fault) {
	ids := q.form.strs("SubnetId")
	if err := known(ids, func(id string) bool { return c.subnet(id) != nil }, "InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist"); err != nil {
		return nil, err
	}
	var list []xmlSubnet
	for _, s := range c.subnets {
		tags := tagMap(s.Tags)
		ok, err := matches(q.form.list("Filter"), table(map[string][]string{
			"subnet-id": {*s.SubnetId}, "vpc-id": {*s.VpcId}, "availability-zone": {*s.AvailabilityZone}, "availability-zone-id": {*s.AvailabilityZoneId},
			"availabilityZone": {*s.AvailabilityZone}, "state": {string(s.State)}, "cidr": {*s.CidrBlock}, "owner-id": {*s.OwnerId},
		}, tags))
		if err != nil {
			return nil, err
		}
		if ok && (len(ids) == 0 || slices.Contains(ids, *s.SubnetId)) {
			list = append(list, xmlSubnet{*s.SubnetId, *s.AvailabilityZone, *s.AvailabilityZoneId, *s.VpcId, *s.CidrBlock, s.free, string(s.State),
				*s.OwnerId, *s.MapPublicIpOnLaunch, value(s.Ipv6Native), xmlTags(tags)})
		}
	}
	page, next, err := pageOf(c, q, list, func(s xmlSubnet) string { return s.ID }, 5, 1000, 1000)
	return struct {
		Subnets []xmlSubnet `xml:"subnetSet>item"`
		Next    *string     `xml:"nextToken"`
	}{page, next}, err
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

type xmlGroup struct {
	ID          string   `xml:"groupId"`
	Name        string   `xml:"groupName"`
	Description string   `xml:"groupDescription"`
	VPC         string   `xml:"vpcId"`
	Owner       string   `xml:"ownerId"`
	Tags        []xmlTag `xml:"tagSet>item"`
}

func (c *Cloud) describeSecurityGroups(q *request) (any, *fault) {
	ids, names := q.form.strs("GroupId"), q.form.strs("GroupName")
	if err := known(ids, func(id string) bool { return c.group(id) != nil }, "InvalidGroup.NotFound", "The security group '%s' does not exist"); err != nil {
		return nil, err
	}
	var list []xmlGroup
	for _, g := range c.groups {
		tags := tagMap(g.Tags)
		ok, err := matches(q.form.list("Filter"), table(map[string][]string{
			"group-id": {value(g.GroupId)}, "group-name": {value(g.GroupName)}, "vpc-id": {value(g.VpcId)}, "owner-id": {value(g.OwnerId)},
			"description": {value(g.Description)},
		}, tags))
		if err != nil {
			return nil, err
		}
		if ok && (len(ids) == 0 || slices.Contains(ids, value(g.GroupId))) && (len(names) == 0 || slices.Contains(names, value(g.GroupName))) {
			list = append(list, xmlGroup{value(g.GroupId), value(g.GroupName), value(g.Description), value(g.VpcId), value(g.OwnerId), xmlTags(tags)})
		}
	}
	page, next, err := pageOf(c, q, list, func(g xmlGroup) string { return g.ID }, 5, 1000, 1000)
	return struct {
		Groups []xmlGroup `xml:"securityGroupInfo>item"`
		Next   *string    `xml:"nextToken"`
	}{page, next}, err
}

func (c *Cloud) group(id string) *ec2types.SecurityGroup {
	for i := range c.groups {
		if value(c.groups[i].GroupId) == id {
			return &c.groups[i]
		}
	}
	return nil
}

type xmlPlacementGroup struct {
	ID         string   `xml:"groupId"`
	Name       string   `xml:"groupName"`
	ARN        string   `xml:"groupArn"`
	Strategy   string   `xml:"strategy"`
	State      string   `xml:"state"`
	Partitions *int32   `xml:"partitionCount"`
	Spread     string   `xml:"spreadLevel,omitempty"`
	Tags       []xmlTag `xml:"tagSet>item"`
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
	var list []xmlPlacementGroup
	for _, g := range c.placements {
		tags := tagMap(g.Tags)
		ok, err := matches(q.form.list("Filter"), table(map[string][]string{
			"group-name": {value(g.GroupName)}, "group-id": {value(g.GroupId)}, "state": {string(g.State)}, "strategy": {string(g.Strategy)},
		}, tags))
		if err != nil {
			return nil, err
		}
		if ok && (len(ids) == 0 || slices.Contains(ids, value(g.GroupId))) && (len(names) == 0 || slices.Contains(names, value(g.GroupName))) {
			list = append(list, xmlPlacementGroup{value(g.GroupId), value(g.GroupName),
				"arn:aws:ec2:" + c.opts.Region + ":" + c.opts.Account + ":placement-group/" + value(g.GroupName),
				string(g.Strategy), string(g.State), g.PartitionCount, string(g.SpreadLevel), xmlTags(tags)})
		}
	}
	return struct {
		Groups []xmlPlacementGroup `xml:"placementGroupSet>item"`
	}{list}, nil
}
