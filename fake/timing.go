package fake

import (
	"fmt"
	"time"
)

// Span is a range of durations. Where the cloud needs one, it draws one, with
// all of them equally likely, in whole milliseconds above Min. The zero Span is
// no time at all.
type Span struct {
	// Min is the shortest. Zero or more.
	Min time.Duration
	// Max is the longest. Zero means Min; otherwise not below it.
	Max time.Duration
}

// Exactly returns the span of one duration.
func Exactly(d time.Duration) Span { return Span{Min: d, Max: d} }

func (s Span) check(where string) error {
	switch {
	case s.Min < 0 || s.Max < 0:
		return fmt.Errorf("%s: %v to %v; use zero or more", where, s.Min, s.Max)
	case s.Max != 0 && s.Max < s.Min:
		return fmt.Errorf("%s: Max %v is below Min %v; swap them, or leave Max at zero for Min", where, s.Max, s.Min)
	}
	return nil
}

// Timing is how long the stages in the life of a machine take. The zero value
// takes no time: a machine is a ready node as soon as Create returns, and gone
// as soon as Delete does.
type Timing struct {
	// Launch is from Create until the machine has booted and its kubelet has
	// made the Node object.
	Launch Span
	// Registration is from then until the Node is matched with its NodeClaim,
	// and the taint karpenter.sh/unregistered taken off.
	Registration Span
	// Initialization is from then until the Node is ready, rid of its startup
	// taints, and has all its resources.
	Initialization Span
	// Shutdown is from Delete, or from the deadline of an interruption, until
	// the machine is gone. Until then it is Deleting.
	Shutdown Span
	// Reboot is from Reboot until the Node is ready again.
	Reboot Span
}

func (t *Timing) check() []error {
	return []error{
		t.Launch.check("Timing.Launch"),
		t.Registration.check("Timing.Registration"),
		t.Initialization.check("Timing.Initialization"),
		t.Shutdown.check("Timing.Shutdown"),
		t.Reboot.check("Timing.Reboot"),
	}
}

// Lag is how old the answers of the cloud are. The zero value is up to date.
type Lag struct {
	// List is the age of what List says: an instance is missing from it for
	// so long after Create, and still in it for so long after it is gone. The
	// contract of a CloudProvider allows the former.
	List time.Duration
	// Get is the same for Get. The contract does not allow it; real clouds do
	// it, and a provider has to hide it. Set it to test code that has no such
	// provider in between.
	Get time.Duration
}

func (l Lag) longest() time.Duration { return max(l.List, l.Get) }

func (l Lag) check() (errs []error) {
	if l.List < 0 {
		errs = append(errs, fmt.Errorf("Lag.List: %v; use zero or more", l.List))
	}
	if l.Get < 0 {
		errs = append(errs, fmt.Errorf("Lag.Get: %v; use zero or more", l.Get))
	}
	return errs
}
