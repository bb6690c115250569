package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/internal/chance"
)

// Call is a call as a Script sees it.
type Call struct {
	// Op is its name.
	Op string
	// At is how old the cloud is.
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

// Add adds faults, or none of them: the error joins what is wrong. Check lists
// what is wrong with one on this cloud.
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

// Meet puts a call to all faults, in the order in which they were added, so that each
// counts it, and returns the Err of those that befall it.
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
