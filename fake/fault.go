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

// Fault says which calls of the cloud go wrong, and how: see Cloud.Script. It has the fields
//
//	Op, Pool, Zone             string
//	From, Until                time.Duration
//	Nth, Times, Every, Percent int
//	Err                        error
//
// A call has to meet every field from Op to Until that is set. Op is the name of the call, such
// as OpCreate, in upper or lower case. Pool is the NodePool of a Create or InstanceTypes. Zone is
// that of the offering which a Create would launch at that moment, or of the instance that a Get,
// Delete, Reboot or IsDrifted is about. The cloud must be at least From old, and younger than
// Until.
//
// Each fault counts the calls that meet these fields, from 1. Of them go wrong: the Nth alone;
// with Times so many, from the Nth or the first on; with Every each third, say; with Percent so
// many in a hundred, by chance that Options.Seed decides. What is set of these has to hold
// together, and with none of them all calls go wrong.
//
// Err, which is required, is what becomes of the call. ErrLost, ErrTwice, ErrStalled and values
// of Delay and Refusal say what they do. Any other error is returned, as a *cloudprovider.Error
// of its kind, and the call is not carried out. Method and object are filled in if it has none,
// and for a Create that fails with KindInsufficientCapacity the offering that would have been
// launched.
type Fault = fault.Fault

// The values of Fault.Err that let a call be carried out.
var (
	// ErrLost has the answer lost: the caller gets an error of KindUnknown. After a lost Create
	// the machine exists, and a repetition with the same token returns it.
	ErrLost = fault.ErrLost
	// ErrTwice has the call arrive twice, as if a network layer below had repeated it, and the
	// caller get the second answer. A Create launches one machine all the same; a second Delete
	// may say that there is nothing to delete.
	ErrTwice = fault.ErrTwice
	// ErrStalled has a Create launch a machine whose Node never appears, as one with broken user
	// data. Other calls are as ever.
	ErrStalled = fault.ErrStalled
)

// Delay is a Fault.Err, made of a time.Duration, that has the call take time: the cloud's clock
// moves on, with all that is due by then, before the call is carried out. Nothing sleeps. Delays
// of several faults add up.
type Delay = fault.Delay

// Refusal is a Fault.Err that has the offerings in its field Scope, a cloudprovider.Scope, out
// of stock for one Create, which may then launch another of its options. Its field Code is not
// read. Other calls are as ever.
type Refusal = fault.Refusal

// orders is what the faults make of one call.
type orders struct {
	fail               error
	lose, twice, stall bool
	delay              time.Duration
	refuse             []cloudprovider.Scope
}

// Script adds faults. Each call is put to all of them, in the order in which they were added, so
// that those that count miss none; of several that make a call fail the first decides. The error
// joins what is wrong with the faults, and none of them is added then.
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

// obey puts a call to the faults.
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

// failure makes an error of a fault into one of the call.
func (in *call) failure(err error) error {
	own := cloudprovider.Error{Kind: cloudprovider.KindOf(err), Err: err}
	var e *cloudprovider.Error
	if errors.As(err, &e) && e != nil {
		if e != err {
			return err // one is wrapped in it, which is as good
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
	// offering is that which the call is about, if it is about one; nil if it never is.
	offering func() (cloudprovider.OfferingKey, bool)
}

// answer carries a call out, in this order: a context that is done ends it; the faults of the
// script are asked; their delay passes; a failure that they order ends it; and then work does
// it, under the lock.
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

// do is answer for a call that answers nothing but an error.
func do(c *Cloud, ctx context.Context, in call, work func(*orders) error) error {
	_, err := answer(c, ctx, in, func(o *orders) (struct{}, error) { return struct{}{}, work(o) })
	return err
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

// The names of the calls that a Cloud takes, as faults use them, in upper or lower case.
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

// failure is an error of a method about an object. The format is that of fmt.Errorf.
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
