package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/chance"
)

// Fault says which calls of a cloud go wrong, and how. A call has to meet every
// field from Op to Until that is set; those that do are counted from 1, by each fault
// for itself, and Nth, Times, Every and Percent choose among them.
//
//	{Op: "create", Nth: 2, Err: cloudprovider.ErrThrottled}    the second
//	{Op: "create", Zone: "a", Times: 3, Err: ErrLost}          the first three in zone a
//	{Op: "list", Nth: 5, Times: 2, Err: ...}                   the fifth and the sixth
//
// The zero value is not valid: Err is required.
type Fault struct {
	// Op is the name of the call, in upper or lower case. Empty is every call.
	Op string
	// Pool is the NodePool of the call. Empty matches every call.
	Pool string
	// Zone is the zone of the call. Empty matches every call.
	Zone string
	// From is the least age of the cloud, by its own clock, and Until the first age at which the
	// fault no longer applies. Zero means no limit.
	From, Until time.Duration
	// Nth is the first call that goes wrong. Alone, it is the only one.
	Nth int
	// Times is the number of calls that fail, counted from the Nth or the first call. Calls that
	// Every or Percent leave out count too. Zero means all calls, if Nth is zero too.
	Times int
	// Every makes only each call fail whose number is a multiple: with 3, the third, the sixth and
	// so on.
	Every int
	// Percent is the percentage of calls that fail, at random by the seed of the cloud. Zero means
	// all.
	Percent int
	// Err is the outcome of the call: an error that it returns without being carried
	// out, or one of the values and types that the cloud documents, such as ErrLost.
	Err error
}

// The values of Err that say something else than to fail.
var (
	ErrLost    = errors.New("the answer is lost")
	ErrTwice   = errors.New("the call arrives twice")
	ErrStalled = errors.New("the machine never becomes a node")
	ErrCut     = errors.New("the connection is cut")
	ErrHalf    = errors.New("half of the answer is lost")
	ErrHang    = errors.New("nobody answers")
)

// Delay has the call take time: the clock of the cloud moves on before it is carried
// out. Nothing sleeps.
type Delay time.Duration

// Error describes the Delay.
func (d Delay) Error() string { return "a delay of " + time.Duration(d).String() }

// Drip makes the answer arrive in pieces of this many bytes.
type Drip int

// Error describes the Drip.
func (d Drip) Error() string { return fmt.Sprintf("an answer in pieces of %d bytes", int(d)) }

// Refusal has the offerings in a scope out of stock for one launch, which may then
// take another of its options. The zero Scope is all offerings.
type Refusal struct {
	Scope cloudprovider.Scope
	// Code is the error code, where the cloud has them. Empty is that of a lack of
	// capacity.
	Code string
}

// Error describes the Refusal.
func (r Refusal) Error() string { return fmt.Sprintf("refused: %s", r.Scope) }

// Partly has half of the call carried out, and then fail.
type Partly struct{ Err error }

// Error describes the Partly.
func (p Partly) Error() string { return fmt.Sprintf("half of the call, and then: %v", p.Err) }

// Unwrap returns the error that the call returns.
func (p Partly) Unwrap() error { return p.Err }

// Wrong returns an error about a field of a fault. The format, including %w, is that of fmt.Errorf.
func Wrong(field, format string, args ...any) error {
	return fmt.Errorf("%s: %w", field, fmt.Errorf(format, args...))
}

// validate lists what is wrong with a fault on any cloud.
func (f *Fault) validate() (errs []error) {
	add := func(field string, value any, remedy string) {
		errs = append(errs, Wrong(field, "%v; use %s", value, remedy))
	}
	for _, count := range []struct {
		field string
		n     int
	}{{"Nth", f.Nth}, {"Times", f.Times}, {"Every", f.Every}} {
		if count.n < 0 {
			add(count.field, count.n, "zero or more")
		}
	}
	if f.Percent < 0 || f.Percent > 100 {
		add("Percent", f.Percent, "0 to 100, zero being all")
	}
	if f.From < 0 {
		add("From", f.From, "zero or more")
	}
	if f.Until < 0 || f.Until > 0 && f.Until <= f.From {
		add("Until", f.Until, "more than From, or zero for ever")
	}
	switch err := f.Err.(type) {
	case nil:
		errs = append(errs, Wrong("Err", "missing; say what becomes of the call"))
	case Partly:
		if err.Err == nil {
			errs = append(errs, Wrong("Err", "Partly without an error; say which one"))
		}
	case Delay:
		if err < 0 {
			add("Err: Delay", time.Duration(err), "zero or more")
		}
	case Drip:
		if err < 1 {
			add("Err: Drip", int(err), "one byte or more")
		}
	}
	return errs
}

// Call is a call as a Script sees it.
type Call struct {
	// Op is its name.
	Op string
	// At is the age of the cloud.
	At time.Duration
	// Pool and Zone report whether the call is about that one.
	Pool, Zone func(string) bool
}

// Script is faults with their counts. The zero Script has none. It must not be used
// by two goroutines at a time.
type Script struct {
	faults []counted
	added  uint64 // ever, so that each fault has chance of its own
}

// counted is a fault and the calls that met it.
type counted struct {
	Fault
	seen   int
	chance chance.Stream
}

// Add adds all faults, or none if one is invalid: the error joins all reasons. check lists the
// reasons for one fault on this cloud.
func (s *Script) Add(faults []Fault, seed uint64, check func(Fault) []error) error {
	var errs []error
	for i, f := range faults {
		for _, err := range append(f.validate(), check(f)...) {
			errs = append(errs, fmt.Errorf("fault %d: %w", i, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, f := range faults {
		s.added++
		s.faults = append(s.faults, counted{Fault: f, chance: chance.New(seed, chance.Mix(s.added))})
	}
	return nil
}

// Clear removes all faults.
func (s *Script) Clear() { s.faults = nil }

// Meet compares a call with all faults, in the order in which they were added, so that each counts
// it, and returns the Err of those that apply.
func (s *Script) Meet(c Call) (errs []error) {
	for i := range s.faults {
		if s.faults[i].befalls(c) {
			errs = append(errs, s.faults[i].Err)
		}
	}
	return errs
}

func (f *counted) befalls(c Call) bool {
	switch {
	case f.Op != "" && !strings.EqualFold(f.Op, c.Op),
		f.Pool != "" && !c.Pool(f.Pool),
		f.Zone != "" && !c.Zone(f.Zone),
		c.At < f.From || f.Until > 0 && c.At >= f.Until:
		return false
	}
	f.seen++
	first, times := max(f.Nth, 1), f.Times
	if f.Nth > 0 && times == 0 {
		times = 1
	}
	unlucky := f.Percent == 0 || f.chance.Next()%100 < uint64(f.Percent)
	return f.seen >= first && (times == 0 || f.seen < first+times) && f.seen%max(f.Every, 1) == 0 && unlucky
}
