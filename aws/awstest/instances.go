package awstest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func stateOf(state string) *ec2types.InstanceState {
	return &ec2types.InstanceState{Code: new(stateCode(state)), Name: ec2types.InstanceStateName(state)}
}

func (c *Cloud) describeInstance(m *machine) ec2types.Instance {
	state := c.state(m)
	x := ec2types.Instance{
		InstanceId: &m.id, ImageId: &m.image, State: stateOf(state), InstanceType: ec2types.InstanceType(m.key.InstanceType), LaunchTime: &m.launched,
		Placement: c.placement(m), Architecture: c.architecture(m.key.InstanceType), InstanceLifecycle: ec2types.InstanceLifecycleType(m.lifecycle),
		ClientToken: &m.token, CapacityReservationId: optional(m.key.ReservationID), Tags: tagList(m.tags),
	}
	preference := m.data.str("CapacityReservationSpecification.CapacityReservationPreference")
	if preference != "" || m.key.ReservationID != "" {
		x.CapacityReservationSpecification = &ec2types.CapacityReservationSpecificationResponse{
			CapacityReservationPreference: ec2types.CapacityReservationPreference(preference),
		}
		if m.key.ReservationID != "" {
			x.CapacityReservationSpecification.CapacityReservationTarget = &ec2types.CapacityReservationTargetResponse{CapacityReservationId: &m.key.ReservationID}
		}
	}
	if m.reason != "" {
		x.StateReason = &ec2types.StateReason{Message: new(m.reason)}
	}
	if m.lifecycle == spot {
		x.SpotInstanceRequestId = new("sir-" + strings.TrimPrefix(m.id, "i-")[:8])
	}
	if p := c.profiles[m.data.str("IamInstanceProfile.Name")]; p != nil {
		x.IamInstanceProfile = &ec2types.IamInstanceProfile{Arn: &p.arn, Id: &p.id}
	}
	if state == terminated || m.subnet == nil {
		return x // its interfaces are gone
	}
	for _, id := range groupsOf(m.data) {
		x.SecurityGroups = append(x.SecurityGroups, ec2types.GroupIdentifier{GroupId: &id, GroupName: c.group(id).GroupName})
	}
	x.SubnetId, x.VpcId, x.PrivateIpAddress = m.subnet.SubnetId, m.subnet.VpcId, &m.address
	x.PrivateDnsName = new("ip-" + strings.ReplaceAll(m.address, ".", "-") + ".ec2.internal")
	interfaces := m.data.list("NetworkInterface")
	if len(interfaces) == 0 {
		interfaces = []form{{}}
	}
	for i, n := range interfaces {
		x.NetworkInterfaces = append(x.NetworkInterfaces, ec2types.InstanceNetworkInterface{
			NetworkInterfaceId: new(strings.Replace(m.id, "i-", "eni-", 1)[:15] + string(rune('a'+i%26))),
			InterfaceType:      new(cmp.Or(n.str("InterfaceType"), "interface")), SubnetId: x.SubnetId, Groups: x.SecurityGroups,
		})
	}
	return x
}

func (c *Cloud) placement(m *machine) *ec2types.Placement {
	p := &ec2types.Placement{
		AvailabilityZone: &m.key.Zone, AvailabilityZoneId: new(c.zoneID(m.key.Zone)), GroupId: optional(m.data.str("Placement.GroupId")),
		Tenancy: ec2types.Tenancy(cmp.Or(m.data.str("Placement.Tenancy"), "default")),
	}
	if n, ok := m.data.num("Placement.PartitionNumber"); ok {
		p.PartitionNumber = new(int32(n))
	}
	return p
}

func (c *Cloud) architecture(name string) ec2types.ArchitectureValues {
	if t := c.types[name]; t != nil && t.ProcessorInfo != nil && len(t.ProcessorInfo.SupportedArchitectures) > 0 {
		return ec2types.ArchitectureValues(t.ProcessorInfo.SupportedArchitectures[0])
	}
	return ec2types.ArchitectureValuesX8664
}

func (c *Cloud) instanceAttributes(m *machine) attributes {
	a := map[string][]string{
		"instance-id": {m.id}, "instance-state-name": {c.state(m)}, "instance-type": {m.key.InstanceType}, "image-id": {m.image},
		"availability-zone": {m.key.Zone}, "client-token": one(m.token), "instance-lifecycle": one(m.lifecycle), "subnet-id": nil, "vpc-id": nil,
	}
	if m.subnet != nil {
		a["subnet-id"], a["vpc-id"] = []string{*m.subnet.SubnetId}, []string{*m.subnet.VpcId}
	}
	return table(a, m.tags)
}

// describeInstances leaves out machines younger than Options.Lag; naming such a machine is an
// error.
func (c *Cloud) describeInstances(q *request) (any, *fault) {
	ids := q.form.strs("InstanceId")
	if q.form.has("MaxResults") && len(ids) > 0 {
		return nil, failure("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	seen := func(m *machine) bool { return m != nil && !c.now.Before(m.launched.Add(c.opts.Lag)) }
	if err := known(ids, func(id string) bool { return seen(c.byID[id]) }, "InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist"); err != nil {
		return nil, err
	}
	if q.form.yes("DryRun") {
		return nil, dryRun()
	}
	candidates := c.machines
	if len(ids) > 0 {
		candidates = make([]*machine, 0, len(ids))
		for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
			candidates = append(candidates, c.byID[id])
		}
	}
	var list []*machine
	for _, m := range candidates {
		if !seen(m) {
			continue
		}
		ok, err := matches(q.form.list("Filter"), c.instanceAttributes(m))
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, m)
		}
	}
	if len(ids) == 0 && len(list) == 0 { // an unknown filter is an error even without machines
		if _, err := matches(q.form.list("Filter"), c.instanceAttributes(&machine{})); err != nil {
			return nil, err
		}
	}
	page, next, err := pageOf(c, q, list, func(m *machine) string { return m.id }, 5, 1000, 1000)
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstancesOutput{NextToken: next}
	for _, m := range page {
		out.Reservations = append(out.Reservations, ec2types.Reservation{ReservationId: new(strings.Replace(m.id, "i-", "r-", 1)),
			OwnerId: &c.opts.Account, Instances: []ec2types.Instance{c.describeInstance(m)}})
	}
	return out, nil
}

func (c *Cloud) terminateInstances(q *request) (any, *fault) {
	ids := q.form.strs("InstanceId")
	if len(ids) == 0 {
		return nil, missing("InstanceId")
	}
	if err := known(ids, func(id string) bool { return c.byID[id] != nil }, "InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist"); err != nil {
		return nil, err
	}
	if q.form.yes("DryRun") {
		return nil, dryRun()
	}
	out := &ec2.TerminateInstancesOutput{}
	for _, id := range ids {
		m := c.byID[id]
		before := stateOf(c.state(m))
		c.end(m, c.now, "Client.UserInitiatedShutdown: User initiated shutdown")
		out.TerminatingInstances = append(out.TerminatingInstances, ec2types.InstanceStateChange{
			InstanceId: &m.id, CurrentState: stateOf(c.state(m)), PreviousState: before,
		})
	}
	c.reclaim()
	return out, nil
}

func (c *Cloud) createTags(q *request) (any, *fault) {
	ids, tags := q.form.strs("ResourceId"), q.form.tags("Tag")
	byTemplate := func(id string) *template { return c.templateBy(func(t *template) bool { return t.id == id }) }
	if err := known(ids, func(id string) bool { return c.byID[id] != nil || byTemplate(id) != nil }, "InvalidID",
		"The ID '%s' is not valid"); err != nil {
		return nil, err
	}
	for k := range tags {
		if strings.HasPrefix(k, "aws:") {
			return nil, invalid("Tag keys starting with 'aws:' are reserved for internal use")
		}
	}
	if q.form.yes("DryRun") {
		return nil, dryRun()
	}
	for _, id := range ids {
		target := c.byID[id]
		for k, v := range tags {
			if target != nil {
				target.tags[k] = v
			} else {
				byTemplate(id).tags[k] = v
			}
		}
	}
	return &ec2.CreateTagsOutput{}, nil
}

// runInstances answers dry runs only: machines are launched by fleets.
func (c *Cloud) runInstances(q *request) (any, *fault) {
	if !q.form.yes("DryRun") {
		return nil, failure("UnsupportedOperation", "RunInstances is here for dry runs only; use CreateFleet")
	}
	var fromTemplate string
	if q.form.has("LaunchTemplate") {
		t, err := c.namedTemplate(q.form.at("LaunchTemplate"))
		if err != nil {
			return nil, err
		}
		fromTemplate = t.data.str("IamInstanceProfile.Name")
	}
	if err := checkUserData(q.form.str("UserData")); err != nil {
		return nil, err
	}
	// A parameter of the request takes the place of that of its launch template.
	if p := cmp.Or(q.form.str("IamInstanceProfile.Name"), fromTemplate); p != "" && !c.usable(c.profiles[p]) {
		return nil, invalid("Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", p)
	}
	return nil, dryRun()
}
