package fake

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// call is one call, as faults see it.
type call struct {
	op, object, token, pool string
	// offering is that which the call is about, if it is about one; nil if it
	// never is.
	offering func() (cloudprovider.OfferingKey, bool)
}

func (in *call) method() string { return methods[in.op] }

// answer carries a call out, in this order: a context that is done ends it; the
// faults of the script are asked; their delay passes; a failure that they order
// ends it; rate limits may turn it away; and then work does it, under the lock.
func answer[T any](c *Cloud, ctx context.Context, in call, work func(*orders) (T, error)) (T, error) {
	var none T
	if err := done(ctx, in.method(), in.object); err != nil {
		return none, err
	}
	c.enter()
	defer c.mu.Unlock()
	o := c.obey(&in)
	c.pass(o.delay)
	if o.fail != nil {
		return none, in.failure(o.fail)
	}
	arrivals := 1
	if o.twice {
		arrivals = 2
	}
	var out T
	var err error
	for range arrivals {
		if err = c.throttle(&in); err != nil {
			out = none
			continue
		}
		out, err = work(o)
	}
	switch {
	case o.lose:
		return none, &cloudprovider.Error{Op: in.method(), Object: in.object,
			Err: errors.New("the answer was lost; the call may have been carried out")}
	case err != nil:
		return none, err
	}
	return out, nil
}

// aboutInstance makes the offering of an instance that of a call.
func (c *Cloud) aboutInstance(id string) func() (cloudprovider.OfferingKey, bool) {
	return func() (cloudprovider.OfferingKey, bool) {
		if m, found := c.find(id); found {
			return m.shelf.key, true
		}
		return cloudprovider.OfferingKey{}, false
	}
}

// The names of the calls that a Cloud takes, as faults and rate limits use
// them. Upper and lower case are the same there, so that method names will do.
const (
	OpInstanceTypes  = "instancetypes"
	OpCreate         = "create"
	OpDelete         = "delete"
	OpGet            = "get"
	OpList           = "list"
	OpNodeClassReady = "nodeclassready"
	OpIsDrifted      = "isdrifted"
	OpReboot         = "reboot"
	OpInterruptions  = "interruptions"
	OpAcknowledge    = "acknowledge"
)

// methods has the method behind each call.
var methods = map[string]string{
	OpInstanceTypes: "InstanceTypes", OpCreate: "Create", OpDelete: "Delete", OpGet: "Get", OpList: "List",
	OpNodeClassReady: "NodeClassReady", OpIsDrifted: "IsDrifted", OpReboot: "Reboot",
	OpInterruptions: "Interruptions", OpAcknowledge: "Acknowledge",
}

func knownOp(op string) error {
	if methods[strings.ToLower(op)] == "" {
		return fmt.Errorf("there is no call %q; the calls are %s", op, strings.Join(opNames(), ", "))
	}
	return nil
}

// opNames lists the calls as their constants do.
func opNames() []string {
	return []string{OpInstanceTypes, OpCreate, OpDelete, OpGet, OpList, OpNodeClassReady, OpIsDrifted, OpReboot, OpInterruptions, OpAcknowledge}
}
