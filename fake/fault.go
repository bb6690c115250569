package fake

import (
	"cmp"
	"errors"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/fault"
)

// Fault says which calls of the cloud go wrong, and how: see Cloud.Script. It has the
// fields
//
//	Op, Pool, Zone             string
//	From, Until                time.Duration
//	Nth, Times, Every, Percent int
//	Err                        error
//
// as in
//
//	{Op: fake.OpCreate, Nth: 2, Err: cloudprovider.ErrThrottled}
//	{Op: fake.OpCreate, Zone: "a", Times: 3, Err: fake.ErrLost}
//
// A call has to meet every field from Op to Until that is set. Op is the name of the
// call, such as OpCreate, in upper or lower case. Pool is the NodePool of a Create or
// InstanceTypes. Zone is that of the offering which a Create would launch at that
// moment, or of the instance that a Get, Delete, Reboot or IsDrifted is about. From is
// how old the cloud must be, by its own clock, and Until how old it must not be yet.
//
// The calls that do are counted from 1, by each fault for itself. Nth, Times, Every and
// Percent choose among them, and what of these is set has to hold together; with none
// of them all go wrong. Nth alone is that call, Times so many from there, or from the
// first, on; Every so many calls; Percent in a hundred, by chance that Options.Seed
// decides.
//
// Err, which is required, is what becomes of the call. ErrLost, ErrTwice, ErrStalled and
// values of Delay, Refusal and Partly say what they do. Any other is returned without
// the call being carried out: one that is no *cloudprovider.Error is wrapped in one of
// the same kind; what one leaves empty of method and object is filled in, and for a
// Create that fails with KindInsufficientCapacity and names nothing that was refused,
// the offering that would have been launched.
type Fault = fault.Fault

// The values of Fault.Err that let a call be carried out.
var (
	// ErrLost has the answer lost: the caller gets an error of KindUnknown. After a
	// lost Create the machine exists, and a repetition with the same token returns it.
	ErrLost = fault.ErrLost
	// ErrTwice has the call arrive twice, as if a network layer below had repeated
	// it, and the caller get the second answer. A Create launches one machine all the
	// same; a second Delete may say that there is nothing to delete.
	ErrTwice = fault.ErrTwice
	// ErrStalled has a Create launch a machine whose Node never appears, as one with
	// broken user data. Other calls are as ever.
	ErrStalled = fault.ErrStalled
)

// Delay is a Fault.Err, made of a time.Duration, that has the call take time: the
// cloud's clock moves on, with all that is due by then, before the call is carried out.
// Nothing sleeps. Delays of several faults add up.
type Delay = fault.Delay

// Refusal is a Fault.Err that has the offerings in its field Scope, a
// cloudprovider.Scope, out of stock for one Create, which may then launch another of
// its options. Its field Code is not read. Other calls are as ever.
type Refusal = fault.Refusal

// Partly is a Fault.Err that has half of the call carried out, and then return the
// error in its field Err, which is required. Half of Acknowledge is the first half of
// the IDs, rounded down; every other call is about one thing, of which half is nothing,
// so that it fails.
type Partly = fault.Partly

// orders is what the faults make of one call.
type orders struct {
	fail, partly       error
	lose, twice, stall bool
	delay              time.Duration
	refuse             []cloudprovider.Scope
}

// Script adds faults. Each call is put to all of them, in the order in which they
// were added, so that those that count miss none; of several that make a call fail
// the first decides. The error joins what is wrong with the faults, and none of them
// is added then.
func (c *Cloud) Script(faults ...Fault) error {
	c.enter()
	defer c.mu.Unlock()
	if err := c.script.Add(faults, c.opts.Seed, checkFault); err != nil {
		return denied("Script", "", err)
	}
	return nil
}

func checkFault(f Fault) (errs []error) {
	if f.Op != "" {
		if err := knownOp(f.Op); err != nil {
			errs = append(errs, fault.Wrong("Op", "%w", err))
		}
	}
	switch {
	case f.Err == fault.ErrCut, f.Err == fault.ErrHalf, f.Err == fault.ErrHang:
		errs = append(errs, fault.Wrong("Err", "%w: there is no connection here; use ErrLost", f.Err))
	}
	if drip, is := f.Err.(fault.Drip); is {
		errs = append(errs, fault.Wrong("Err", "%w: there is no connection here; use Delay", drip))
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
		c.record(EventScripted, in.method(), "%s", joinNonEmpty(in.object, err.Error()))
		switch err := err.(type) {
		case Delay:
			o.delay += time.Duration(err)
			continue
		case Refusal:
			o.refuse = append(o.refuse, err.Scope)
			continue
		case Partly:
			o.partly = cmp.Or(o.partly, err.Err)
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
	if in.op != OpAcknowledge {
		o.fail = cmp.Or(o.fail, o.partly)
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

func joinNonEmpty(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
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
	own.Op, own.Object = cmp.Or(own.Op, in.method()), cmp.Or(own.Object, in.object)
	if in.op == OpCreate && own.Kind == cloudprovider.KindInsufficientCapacity && len(own.Offerings)+len(own.Scopes) == 0 {
		if key, found := in.offering(); found {
			own.Offerings = []cloudprovider.OfferingKey{key}
		}
	}
	return &own
}
