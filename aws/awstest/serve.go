package awstest

import (
	"net/http"
	"time"
)

// Call is a call that came in.
type Call struct {
	// Service is the service, by the name of its package in the AWS SDK for Go.
	Service string
	// Action is the operation, which is that of the method of the client. Both are
	// empty for what could not be understood.
	Action string
	// At is when, by the clock of the Cloud.
	At time.Time
	// DryRun says that EC2 was only asked whether it would be allowed.
	DryRun bool
	// Code is that of the error it was answered with. Empty if it was carried out,
	// and for a connection that was cut.
	Code string
	// Objects is how many things a call was about, of those that can be about
	// many: the machines asked of CreateFleet, the IDs of DescribeInstances and
	// TerminateInstances. Otherwise zero.
	Objects int
	// Tags are those that the call gives to what it makes or names: by the kind of
	// the resource, such as instance or instance-profile. For a launch template they
	// include those that it gives later to others. Read-only.
	Tags map[string]map[string]string
}

// maxSkew is how far off a signature may be.
const maxSkew = 5 * time.Minute

// ServeHTTP answers one call of any service.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, refused := read(r)
	at := time.Now().Add(c.opts.Skew)
	w.Header().Set("Date", at.UTC().Format(http.TimeFormat))
	if refused == nil && q.at.Sub(at).Abs() > maxSkew {
		refused = skewed(q)
	}
	answer, o, fault := c.carryOut(r, q, refused)
	if o.cut || o.lose {
		panic(http.ErrAbortHandler) // closes the connection, and nothing is logged
	}
	respond(w, q, answer, fault, o)
}

func skewed(q *request) *fault {
	code := "SignatureDoesNotMatch"
	if q.service == ec2Service {
		code = "AuthFailure" // what it says of clocks; RequestExpired is said of expired requests
	}
	return failure(code, "Signature expired: %s is too far from now", q.at.Format(time.RFC3339))
}

// carryOut records the call, puts it to the faults and the limits, and does it.
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
	fault := o.fault(q.service)
	if fault == nil && !o.cut {
		fault = c.throttle(q)
	}
	var answer any
	if fault == nil && !o.cut {
		c.settle()
		answer, fault = handlersOf(q.service)[q.action](c, q)
	}
	if fault != nil && !o.cut {
		c.calls[index].Code = fault.code
	}
	return answer, o, fault
}

// objects counts what Call.Objects has.
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

// tags collects what Call.Tags has.
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

// Calls returns every call so far, in the order in which they came. The slice is
// the caller's.
func (c *Cloud) Calls() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Call(nil), c.calls...)
}

// Count returns how many calls of an action came so far, those that were refused
// or cut included.
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
