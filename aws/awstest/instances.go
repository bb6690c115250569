package awstest

import (
	"slices"
	"strings"
)

type xmlInstance struct {
	ID             string       `xml:"instanceId"`
	Image          string       `xml:"imageId"`
	State          xmlState     `xml:"instanceState"`
	PrivateDNS     string       `xml:"privateDnsName"`
	Type           string       `xml:"instanceType"`
	Launched       string       `xml:"launchTime"`
	Zone           string       `xml:"placement>availabilityZone"`
	ZoneID         string       `xml:"placement>availabilityZoneId"`
	Tenancy        string       `xml:"placement>tenancy"`
	PlacementGroup *string      `xml:"placement>groupId"`
	Partition      *string      `xml:"placement>partitionNumber"`
	Subnet         string       `xml:"subnetId,omitempty"`
	VPC            string       `xml:"vpcId,omitempty"`
	Address        string       `xml:"privateIpAddress,omitempty"`
	Architecture   string       `xml:"architecture"`
	Lifecycle      *string      `xml:"instanceLifecycle"`
	SpotRequest    *string      `xml:"spotInstanceRequestId"`
	Token          string       `xml:"clientToken"`
	Profile        *xmlNameARN  `xml:"iamInstanceProfile"`
	Reservation    *string      `xml:"capacityReservationId"`
	Preference     *string      `xml:"capacityReservationSpecification>capacityReservationPreference"`
	Target         *string      `xml:"capacityReservationSpecification>capacityReservationTarget>capacityReservationId"`
	Groups         []xmlGroupID `xml:"groupSet>item"`
	NICs           []xmlNIC     `xml:"networkInterfaceSet>item"`
	Reason         *string      `xml:"stateReason>message"`
	Tags           []xmlTag     `xml:"tagSet>item"`
}

type xmlState struct {
	Code int    `xml:"code"`
	Name string `xml:"name"`
}

type xmlNameARN struct {
	ARN string `xml:"arn"`
	ID  string `xml:"id"`
}

type xmlGroupID struct {
	ID   string `xml:"groupId"`
	Name string `xml:"groupName"`
}

type xmlNIC struct {
	ID     string       `xml:"networkInterfaceId"`
	Type   string       `xml:"interfaceType"`
	Subnet string       `xml:"subnetId"`
	Groups []xmlGroupID `xml:"groupSet>item"`
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (c *Cloud) describeInstance(m *machine) xmlInstance {
	state := c.state(m)
	x := xmlInstance{
		ID: m.id, Image: m.image, State: xmlState{stateCode(state), state}, Type: m.key.InstanceType, Launched: m.launched.Format(timeFormat),
		Zone: m.key.Zone, ZoneID: c.zoneID(m.key.Zone), Tenancy: "default", PlacementGroup: optional(m.data.str("Placement.GroupId")),
		Partition: optional(m.data.str("Placement.PartitionNumber")), Architecture: c.architecture(m.key.InstanceType),
		Lifecycle: optional(m.lifecycle), Token: m.token, Reservation: optional(m.key.ReservationID),
		Preference: optional(m.data.str("CapacityReservationSpecification.CapacityReservationPreference")), Target: optional(m.key.ReservationID),
		Reason: optional(m.reason), Tags: xmlTags(m.tags),
	}
	setDefault(&x.Tenancy, "default")
	if t := m.data.str("Placement.Tenancy"); t != "" {
		x.Tenancy = t
	}
	if m.lifecycle == spot {
		x.SpotRequest = pointer("sir-" + strings.TrimPrefix(m.id, "i-")[:8])
	}
	if name := m.data.str("IamInstanceProfile.Name"); name != "" && c.profiles[name] != nil {
		x.Profile = &xmlNameARN{c.profiles[name].arn, c.profiles[name].id}
	}
	if state == terminated || m.subnet == nil {
		return x // its interfaces are gone
	}
	for _, id := range groupsOf(m.data) {
		x.Groups = append(x.Groups, xmlGroupID{id, value(c.group(id).GroupName)})
	}
	x.Subnet, x.VPC, x.Address = *m.subnet.SubnetId, *m.subnet.VpcId, m.address
	x.PrivateDNS = "ip-" + strings.ReplaceAll(m.address, ".", "-") + ".ec2.internal"
	interfaces := m.data.list("NetworkInterface")
	if len(interfaces) == 0 {
		interfaces = []form{{}}
	}
	for i, n := range interfaces {
		nic := xmlNIC{ID: strings.Replace(m.id, "i-", "eni-", 1)[:15] + string(rune('a'+i%26)), Type: n.str("InterfaceType"), Subnet: x.Subnet, Groups: x.Groups}
		setDefault(&nic.Type, "interface")
		x.NICs = append(x.NICs, nic)
	}
	return x
}

func (c *Cloud) architecture(name string) string {
	if t := c.types[name]; t != nil && t.ProcessorInfo != nil && len(t.ProcessorInfo.SupportedArchitectures) > 0 {
		return string(t.ProcessorInfo.SupportedArchitectures[0])
	}
	return "x86_64"
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

type xmlInstanceSet struct {
	ID        string        `xml:"reservationId"`
	Owner     string        `xml:"ownerId"`
	Instances []xmlInstance `xml:"instancesSet>item"`
}

// describeInstances leaves out machines younger than Options.Lag: those that are
// not named are missing, those that are named do not exist yet.
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
	if len(ids) == 0 && len(list) == 0 { // strange filters show even where there is nothing
		if _, err := matches(q.form.list("Filter"), c.instanceAttributes(&machine{})); err != nil {
			return nil, err
		}
	}
	page, next, err := pageOf(c, q, list, func(m *machine) string { return m.id }, 5, 1000, 1000)
	if err != nil {
		return nil, err
	}
	var sets []xmlInstanceSet
	for _, m := range page {
		sets = append(sets, xmlInstanceSet{strings.Replace(m.id, "i-", "r-", 1), c.opts.Account, []xmlInstance{c.describeInstance(m)}})
	}
	return struct {
		Sets []xmlInstanceSet `xml:"reservationSet>item"`
		Next *string          `xml:"nextToken"`
	}{sets, next}, nil
}

type xmlChange struct {
	ID       string   `xml:"instanceId"`
	Current  xmlState `xml:"currentState"`
	Previous xmlState `xml:"previousState"`
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
	var changes []xmlChange
	for _, id := range ids {
		m := c.byID[id]
		before := c.state(m)
		c.end(m, c.now, "Client.UserInitiatedShutdown: User initiated shutdown")
		after := c.state(m)
		changes = append(changes, xmlChange{id, xmlState{stateCode(after), after}, xmlState{stateCode(before), before}})
	}
	c.settle()
	return struct {
		Changes []xmlChange `xml:"instancesSet>item"`
	}{changes}, nil
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
	return xmlDone{true}, nil
}

type xmlDone struct {
	Return bool `xml:"return"`
}

// runInstances answers dry runs only. Fleets are how machines are launched here.
func (c *Cloud) runInstances(q *request) (any, *fault) {
	if !q.form.yes("DryRun") {
		return nil, failure("UnsupportedOperation", "RunInstances is here for dry runs only; use CreateFleet")
	}
	if q.form.has("LaunchTemplate") {
		if _, err := c.namedTemplate(q.form.at("LaunchTemplate")); err != nil {
			return nil, err
		}
	}
	if err := checkUserData(q.form.str("UserData")); err != nil {
		return nil, err
	}
	for _, name := range []string{"IamInstanceProfile.Name", "LaunchTemplate.IamInstanceProfile.Name"} {
		if p := q.form.str(name); p != "" && !c.usable(c.profiles[p]) {
			return nil, invalid("Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", p)
		}
	}
	return nil, dryRun()
}
