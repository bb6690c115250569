package awstest

import (
	"slices"
	"time"
)

// maintenance is a scheduled event of an instance.
type maintenance struct {
	code, description string
	notBefore         time.Time
}

// Impair has the checks of an instance, or of the host it runs on, fail from now
// on. Check is InstanceCheck or SystemCheck. An instance that does not exist is
// passed over.
func (c *Cloud) Impair(instanceID, check string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.byID[instanceID]; m != nil {
		if _, already := m.impaired[check]; !already {
			m.impaired[check] = c.now
		}
	}
}

// The checks that Impair can have fail.
const (
	// InstanceCheck is about the machine itself.
	InstanceCheck = "instance"
	// SystemCheck is about the host that it runs on.
	SystemCheck = "system"
)

// Mend ends what Impair and Schedule began.
func (c *Cloud) Mend(instanceID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.byID[instanceID]; m != nil {
		clear(m.impaired)
		m.events = nil
	}
}

// Schedule announces maintenance of an instance in its status, such as
// instance-retirement. Nothing happens to it then.
func (c *Cloud) Schedule(instanceID, code string, notBefore time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.byID[instanceID]; m != nil {
		m.events = append(m.events, maintenance{code, "The instance is affected by " + code, notBefore})
	}
}

type xmlStatus struct {
	ID       string     `xml:"instanceId"`
	Zone     string     `xml:"availabilityZone"`
	State    xmlState   `xml:"instanceState"`
	Instance xmlSummary `xml:"instanceStatus"`
	System   xmlSummary `xml:"systemStatus"`
	Events   []xmlEvent `xml:"eventsSet>item"`
}

type xmlSummary struct {
	Status  string      `xml:"status"`
	Details []xmlDetail `xml:"details>item"`
}

type xmlDetail struct {
	Name   string  `xml:"name"`
	Status string  `xml:"status"`
	Since  *string `xml:"impairedSince"`
}

type xmlEvent struct {
	Code        string `xml:"code"`
	Description string `xml:"description"`
	NotBefore   string `xml:"notBefore"`
}

func (c *Cloud) summary(m *machine, check string) xmlSummary {
	if c.state(m) == pending {
		return xmlSummary{"initializing", []xmlDetail{{"reachability", "initializing", nil}}}
	}
	if since, bad := m.impaired[check]; bad {
		return xmlSummary{"impaired", []xmlDetail{{"reachability", "failed", pointer(since.Format(timeFormat))}}}
	}
	return xmlSummary{"ok", []xmlDetail{{"reachability", "passed", nil}}}
}

// describeInstanceStatus is about running instances, unless all are asked for.
func (c *Cloud) describeInstanceStatus(q *request) (any, *fault) {
	ids := q.form.strs("InstanceId")
	if err := known(ids, func(id string) bool { return c.byID[id] != nil }, "InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist"); err != nil {
		return nil, err
	}
	var list []xmlStatus
	for _, m := range c.machines {
		state := c.state(m)
		x := xmlStatus{ID: m.id, Zone: m.key.Zone, State: xmlState{stateCode(state), state}, Instance: c.summary(m, InstanceCheck), System: c.summary(m, SystemCheck)}
		var codes []string
		for _, e := range m.events {
			codes = append(codes, e.code)
			x.Events = append(x.Events, xmlEvent{e.code, e.description, e.notBefore.UTC().Format(timeFormat)})
		}
		ok, err := matches(q.form.list("Filter"), table(map[string][]string{
			"instance-status.status": {x.Instance.Status}, "system-status.status": {x.System.Status}, "event.code": codes,
			"instance-status.reachability": {x.Instance.Details[0].Status}, "system-status.reachability": {x.System.Details[0].Status},
			"availability-zone": {m.key.Zone}, "instance-state-name": {state},
		}, nil))
		if err != nil {
			return nil, err
		}
		if ok && (len(ids) == 0 || slices.Contains(ids, m.id)) && (state == running || q.form.yes("IncludeAllInstances")) {
			list = append(list, x)
		}
	}
	page, next, err := pageOf(c, q, list, func(s xmlStatus) string { return s.ID }, 5, 1000, 1000)
	return struct {
		Statuses []xmlStatus `xml:"instanceStatusSet>item"`
		Next     *string     `xml:"nextToken"`
	}{page, next}, err
}
