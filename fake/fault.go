package fake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/fault"
)

// Fault makes some calls fail: see Cloud.Script. It has the fields
//
//	Op, Pool, Zone             string
//	From, Until                time.Duration
//	Nth, Times, Every, Percent int
//	Err                        error
//
// A call matches if it meets every field from Op to Until that is set. Op is the name of the call,
// such as OpCreate, in upper or lower case. Pool is the NodePool of a Create or InstanceTypes. Zone
// is the zone of the offering that a Create would launch at that moment, or of the instance of a
// Get, Delete, Reboot or IsDrifted. The age of the cloud must be at least From and less than Until.
//
// Each fault counts its matching calls from 1. Nth, Times, Every and Percent choose among them, all
// that are set together; with none of them every matching call fails. Nth alone is that call; Times
// is that many calls from Nth, or from the first; Every is each call whose number is a multiple;
// Percent is a share of the calls, at random by Options.Seed.
//
// Err, which is required, says how the call fails. ErrLost, ErrTwice, ErrStalled, Delay and Refusal
// are documented below. Any other error is returned, as a *cloudprovider.Error of its kind, and the
// call is not carried out. If it has no method and object they are filled in, and for a Create that
// fails with KindInsufficientCapacity also the offering that would have been launched.
type Fault = fault.Fault

// The values of Fault.Err with which a call is carried out.
var (
	// ErrLost loses the answer: the caller gets an error of KindUnknown. After a lost Create the
	// machine exists, and repeating it with the same token returns it.
	ErrLost = fault.ErrLost
	// ErrTwice carries out the call twice, as if the network had repeated it, and returns the
	// second answer. A Create still launches only one machine; the second Delete may return
	// KindNotFound.
	ErrTwice = fault.ErrTwice
	// ErrStalled makes a Create launch a machine whose Node never appears, as with broken user
	// data. It does not affect other calls.
	ErrStalled = fault.ErrStalled
)

// Delay is a Fault.Err, a time.Duration, by which the cloud's clock moves on, with all events that
// are due by then, before the call is carried out. Nothing sleeps. Delays of several faults add up.
type Delay = fault.Delay

// Refusal is a Fault.Err that makes the offerings in its field Scope, a cloudprovider.Scope, out of
// stock for one Create, which may launch another of its options. Its field Code is ignored. It does
// not affect other calls.
type Refusal = fault.Refusal

// orders is the combined effect of the faults on one call.
type orders struct {
	fail               error
	lose, twice, stall bool
	delay              time.Duration
	refuse             []cloudprovider.Scope
}

// Script adds faults. Each call is matched against all of them, in the order in which they were
// added, so that every fault counts its calls; if several make a call fail, the first decides. The
// error joins everything that is wrong with the faults, and none of them is added then.
func (c *Cloud) Script(faults ...Fault) error {
	c.enter()
	defer c.mu.Unlock()
	if err := c.script.Add(faults, c.opts.Seed, checkFault); err != nil {
		return failure("Script", "", cloudprovider.KindDenied, "%w", err)
	}
	return nil
}

func checkFault(f Fault) (errs []error) {
	ops := []string{"", OpInstanceTypes, OpCreate, OpDelete, OpGet, OpList, OpNodeClassReady, OpIsDrifted, OpReboot, OpInterruptions, OpAcknowledge}
	if !slices.ContainsFunc(ops, func(op string) bool { return strings.EqualFold(op, f.Op) }) {
		errs = append(errs, fault.Wrong("Op", "there is no call %q; the calls are %s", f.Op, strings.Join(ops[1:], ", ")))
	}
	_, drips := f.Err.(fault.Drip)
	_, half := f.Err.(fault.Partly)
	if drips || half || f.Err == fault.ErrCut || f.Err == fault.ErrHalf || f.Err == fault.ErrHang {
		errs = append(errs, fault.Wrong("Err", "%w: there is no connection here; use ErrLost or a Delay", f.Err))
	}
	return errs
}

// ClearScript removes all faults.
func (c *Cloud) ClearScript() {
	c.enter()
	defer c.mu.Unlock()
	c.script.Clear()
}

// obey matches a call against the faults.
func (c *Cloud) obey(in *call) *orders {
	o := &orders{}
	for _, err := range c.script.Meet(fault.Call{
		Op: in.op, At: c.now.Sub(c.start),
		Pool: func(pool string) bool { return in.pool == pool },
		Zone: in.inZone,
	}) {
		c.record(EventScripted, in.op, "%s", strings.TrimPrefix(in.object+" "+err.Error(), " "))
		switch err := err.(type) {
		case Delay:
			o.delay += time.Duration(err)
			continue
		case Refusal:
			o.refuse = append(o.refuse, err.Scope)
			continue
		}
		switch err {
		case ErrLost:
			o.lose = true
		case ErrTwice:
			o.twice = true
		case ErrStalled:
			o.stall = true
		default:
			o.fail = cmp.Or(o.fail, err)
		}
	}
	return o
}

// inZone reports whether the call is about a machine in a zone.
func (in *call) inZone(zone string) bool {
	if in.offering == nil {
		return false
	}
	key, found := in.offering()
	return found && key.Zone == zone
}

// failure returns the error of a fault with the method and object of the call.
func (in *call) failure(err error) error {
	own := cloudprovider.Error{Kind: cloudprovider.KindOf(err), Err: err}
	var e *cloudprovider.Error
	if errors.As(err, &e) && e != nil {
		if e != err {
			return err // wraps one already
		}
		own = *e
	}
	own.Op, own.Object = cmp.Or(own.Op, in.op), cmp.Or(own.Object, in.object)
	if in.op == OpCreate && own.Kind == cloudprovider.KindInsufficientCapacity && len(own.Offerings)+len(own.Scopes) == 0 {
		if key, found := in.offering(); found {
			own.Offerings = []cloudprovider.OfferingKey{key}
		}
	}
	return &own
}

// call is one call, as faults see it.
type call struct {
	op, object, token, pool string
	// offering returns the offering of the call, if it has one; nil for calls without offerings.
	offering func() (cloudprovider.OfferingKey, bool)
}

// answer carries out a call, in this order: a done context ends it; the faults of the script are
// matched; their delay passes; their failure ends it; and then work runs under the lock.
func answer[T any](c *Cloud, ctx context.Context, in call, work func(*orders) (T, error)) (T, error) {
	var none T
	if err := done(ctx, in.op, in.object); err != nil {
		return none, err
	}
	c.enter()
	defer c.mu.Unlock()
	o := c.obey(&in)
	c.pass(o.delay)
	if o.fail != nil {
		return none, in.failure(o.fail)
	}
	out, err := work(o)
	if o.twice {
		out, err = work(o)
	}
	switch {
	case o.lose:
		return none, failure(in.op, in.object, cloudprovider.KindUnknown, "the answer was lost; the call may have been carried out")
	case err != nil:
		return none, err
	}
	return out, nil
}

// do is answer for a call that returns only an error.
func do(c *Cloud, ctx context.Context, in call, work func(*orders) error) error {
	_, err := answer(c, ctx, in, func(o *orders) (struct{}, error) { return struct{}{}, work(o) })
	return err
}

// aboutInstance returns a function for call.offering that returns the offering of an instance.
func (c *Cloud) aboutInstance(id string) func() (cloudprovider.OfferingKey, bool) {
	return func() (cloudprovider.OfferingKey, bool) {
		if m, found := c.find(id); found {
			return m.shelf.key, true
		}
		return cloudprovider.OfferingKey{}, false
	}
}

// The names of the calls of a Cloud for Fault.Op, in upper or lower case.
const (
	OpInstanceTypes  = "InstanceTypes"
	OpCreate         = "Create"
	OpDelete         = "Delete"
	OpGet            = "Get"
	OpList           = "List"
	OpNodeClassReady = "NodeClassReady"
	OpIsDrifted      = "IsDrifted"
	OpReboot         = "Reboot"
	OpInterruptions  = "Interruptions"
	OpAcknowledge    = "Acknowledge"
)

// failure returns an error of a method about an object. The format is that of fmt.Errorf.
func failure(op, object string, kind cloudprovider.Kind, format string, args ...any) error {
	return &cloudprovider.Error{Op: op, Object: object, Kind: kind, Err: fmt.Errorf(format, args...)}
}

// done returns an error if ctx is done.
func done(ctx context.Context, op, object string) error {
	if err := ctx.Err(); err != nil {
		return &cloudprovider.Error{Op: op, Object: object, Err: err}
	}
	return nil
}

func (c *Cloud) notFound(op, id string) error {
	cause := errors.New("the cloud never had it")
	if c.issued[id] {
		cause = errors.New("it was deleted")
	}
	return failure(op, id, cloudprovider.KindNotFound, "%w", cause)
}
