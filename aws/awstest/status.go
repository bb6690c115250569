package awstest

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// maintenance is a scheduled event of an instance.
type maintenance struct {
	code, description string
	notBefore         time.Time
}

// Impair makes the checks of an instance, or of its host, fail from now on. Check is InstanceCheck
// or SystemCheck. An unknown instance is ignored.
func (c *Cloud) Impair(instanceID, check string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.byID[instanceID]; m != nil {
		if _, already := m.impaired[check]; !already {
			m.impaired[check] = c.now
		}
	}
}

// The checks that Impair accepts.
const (
	// InstanceCheck is about the machine itself.
	InstanceCheck = "instance"
	// SystemCheck is about the host that it runs on.
	SystemCheck = "system"
)

// Schedule announces maintenance of an instance in its status, such as instance-retirement. The
// instance itself is not affected.
func (c *Cloud) Schedule(instanceID, code string, notBefore time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.byID[instanceID]; m != nil {
		m.events = append(m.events, maintenance{code, "The instance is affected by " + code, notBefore})
	}
}

func (c *Cloud) summary(m *machine, check string) *ec2types.InstanceStatusSummary {
	of := func(status ec2types.SummaryStatus, detail ec2types.StatusType, since *time.Time) *ec2types.InstanceStatusSummary {
		return &ec2types.InstanceStatusSummary{Status: status, Details: []ec2types.InstanceStatusDetails{
			{Name: ec2types.StatusNameReachability, Status: detail, ImpairedSince: since},
		}}
	}
	if c.state(m) == pending {
		return of(ec2types.SummaryStatusInitializing, ec2types.StatusTypeInitializing, nil)
	}
	if since, bad := m.impaired[check]; bad {
		return of(ec2types.SummaryStatusImpaired, ec2types.StatusTypeFailed, &since)
	}
	return of(ec2types.SummaryStatusOk, ec2types.StatusTypePassed, nil)
}

func (c *Cloud) status(m *machine) ec2types.InstanceStatus {
	x := ec2types.InstanceStatus{InstanceId: &m.id, AvailabilityZone: &m.key.Zone, InstanceState: stateOf(c.state(m)),
		InstanceStatus: c.summary(m, InstanceCheck), SystemStatus: c.summary(m, SystemCheck)}
	for _, e := range m.events {
		x.Events = append(x.Events, ec2types.InstanceStatusEvent{Code: ec2types.EventCode(e.code), Description: &e.description, NotBefore: &e.notBefore})
	}
	return x
}

// describeInstanceStatus lists running instances, or all instances if the request asks for them.
func (c *Cloud) describeInstanceStatus(q *request) (any, *fault) {
	var all []ec2types.InstanceStatus
	for _, m := range c.machines {
		all = append(all, c.status(m))
	}
	id := func(s ec2types.InstanceStatus) string { return *s.InstanceId }
	list, err := selected(q, all, func(s ec2types.InstanceStatus) attributes {
		var codes []string
		for _, e := range s.Events {
			codes = append(codes, string(e.Code))
		}
		return table(map[string][]string{
			"instance-status.status": {string(s.InstanceStatus.Status)}, "system-status.status": {string(s.SystemStatus.Status)}, "event.code": codes,
			"instance-status.reachability": {string(s.InstanceStatus.Details[0].Status)}, "system-status.reachability": {string(s.SystemStatus.Details[0].Status)},
			"availability-zone": {*s.AvailabilityZone}, "instance-state-name": {string(s.InstanceState.Name)},
		}, nil)
	}, selector[ec2types.InstanceStatus]{"InstanceId", id, "InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist"})
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(s ec2types.InstanceStatus) bool {
		return s.InstanceState.Name != running && !q.form.yes("IncludeAllInstances")
	})
	page, next, err := pageOf(c, q, list, id, 5, 1000, 1000)
	return &ec2.DescribeInstanceStatusOutput{InstanceStatuses: page, NextToken: next}, err
}
