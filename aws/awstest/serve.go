package awstest

import (
	"net/http"
	"time"
)

// Call is a call that the Cloud received.
type Call struct {
	// Service is the service, by the name of its package in the AWS SDK for Go.
	Service string
	// Action is the operation, by the name of the client's method. Both are empty for a call that
	// could not be parsed.
	Action string
	// At is when the call was received, by the clock of the Cloud.
	At time.Time
	// DryRun says that it was a dry run.
	DryRun bool
	// Code is the code of the error. Empty if the call was carried out, and for a connection that
	// was cut.
	Code string
	// Objects is the number of machines that CreateFleet asks for, or of IDs in DescribeInstances
	// and TerminateInstances. Otherwise zero.
	Objects int
	// Tags are the tags that the call sets, by the kind of the resource, such as instance or
	// instance-profile. For a launch template they include those for resources launched from it.
	// Read-only.
	Tags map[string]map[string]string
}

// ServeHTTP answers one call of any service.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, refused := read(r)
	answer, o, fault := c.carryOut(r, q, refused)
	if o.cut || o.lose {
		panic(http.ErrAbortHandler) // closes the connection, and nothing is logged
	}
	respond(w, q, answer, fault, o)
}

// carryOut records the call, applies faults and limits, and carries it out.
func (c *Cloud) carryOut(r *http.Request, q *request, refused *fault) (any, *orders, *fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	dry := q.form.yes("DryRun")
	index := len(c.calls)
	c.calls = append(c.calls, Call{Service: q.service, Action: q.action, At: c.now, DryRun: dry, Objects: q.objects(), Tags: q.tags()})
	if refused != nil {
		c.calls[index].Code = refused.code
		return nil, &orders{}, refused
	}
	o := c.obey(q)
	q.orders = o
	c.advance(o.delay)
	c.waitForRelease(r.Context(), q)
	var answer any
	var fault *fault
	if o.fail != nil {
		fault = answerTo(o.fail, q.service)
	}
	if fault == nil && !o.cut {
		c.reclaim()
		answer, fault = handlersOf(q.service)[q.action](c, q)
	}
	if fault != nil && !o.cut {
		c.calls[index].Code = fault.code
	}
	return answer, o, fault
}

// objects returns Call.Objects of a request.
func (q *request) objects() int {
	switch q.action {
	case "CreateFleet":
		n, _ := q.form.num("TargetCapacitySpecification.TotalTargetCapacity")
		return n
	case "DescribeInstances", "TerminateInstances":
		return len(q.form.list("InstanceId"))
	}
	return 0
}

// tags returns Call.Tags of a request.
func (q *request) tags() map[string]map[string]string {
	tags := map[string]map[string]string{}
	for _, f := range []form{q.form.at("LaunchTemplateData"), q.form} {
		for _, spec := range f.list("TagSpecification") {
			kind := spec.str("ResourceType")
			tags[kind] = tagsFor(f, kind)
		}
	}
	switch q.action {
	case "CreateTags":
		tags["instance"] = q.form.tags("Tag")
	case "CreateInstanceProfile":
		tags["instance-profile"] = q.form.tags("Tags.member")
	}
	if len(tags) == 0 {
		return nil
	}
	return tags
}

// Calls returns every call so far, in the order of arrival. The caller owns the slice.
func (c *Cloud) Calls() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Call(nil), c.calls...)
}

// Count returns the number of calls of an action so far, including calls that were refused or cut.
func (c *Cloud) Count(action string) int {
	n := 0
	for _, call := range c.Calls() {
		if call.Action == action {
			n++
		}
	}
	return n
}

// ForgetCalls empties the list of calls.
func (c *Cloud) ForgetCalls() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = nil
}
