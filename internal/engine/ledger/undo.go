package ledger

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// A trial changes some bins and counts of a ledger, and most trials fail. Mark starts recording
// changes, so that Rewind takes time in proportion to the changes of the trial and not to the size
// of the plan. Counts over domains are few and are copied as one block. Bins and constraints over
// the hostname are saved when they change.

// journal has what Rewind needs.
type journal struct {
	on     bool
	bins   int          // number of bins at the mark
	saved  map[*Bin]int // index in was
	was    []savedBin   // bins before their first change
	hosts  []hostChange // in the order of the changes
	relied []bool
	block  block
}

// savedBin is a bin before it changed.
type savedBin struct {
	at  *Bin
	was Bin
}

// hostChange is a bin's count for a constraint over the hostname before it changed.
type hostChange struct {
	spread, bin int
	was         hostCount
}

// Mark records the current state for Rewind. It replaces an earlier mark.
func (l *Ledger) Mark() {
	j := &l.journal
	if j.saved == nil {
		j.saved = map[*Bin]int{}
	}
	clear(j.saved)
	j.on, j.bins, j.was, j.hosts = true, len(l.Bins), j.was[:0], j.hosts[:0]
	j.block, j.relied = append(j.block[:0], l.block...), append(j.relied[:0], l.Relied...)
	for i := range l.Hosts {
		l.Hosts[i].marked = l.Hosts[i].Rule != nil
	}
}

// save records a bin before it changes, if there is a mark. Every function that changes a bin calls
// it first.
func (l *Ledger) save(s *Bin) {
	was := l.saveForHold(s)
	if was == nil {
		return
	}
	was.Free, was.Taken, was.Attached = slices.Clone(s.Free), slices.Clone(s.Taken), slices.Clone(s.Attached)
	was.Apart, was.Pods, was.PodIDs = slices.Clone[[]pack.Membership](s.Apart), slices.Clone[[]attempt.Bundled](s.Pods), slices.Clone(s.PodIDs)
}

// saveForHold is save before a call of Hold. It copies no list, because Hold replaces the lists of
// the bin and changes none. It returns the saved bin, valid until the next one is saved; nil if
// there is no mark or the bin was saved before.
func (l *Ledger) saveForHold(s *Bin) *Bin {
	j := &l.journal
	if !j.on || s.Number >= j.bins || s.Number < 0 {
		return nil // it was added after the mark
	}
	if _, known := j.saved[s]; known {
		return nil
	}
	j.saved[s] = len(j.was)
	j.was = append(j.was, savedBin{s, *s})
	return &j.was[len(j.was)-1].was
}

// Before returns a bin as it was at the mark.
func (l *Ledger) Before(s *Bin) *Bin {
	if i, changed := l.journal.saved[s]; changed {
		return &l.journal.was[i].was
	}
	return s
}

// noteHost records a bin's count for a constraint before it changes.
func (l *Ledger) noteHost(spread, bin int) {
	if j, h := &l.journal, &l.Hosts[spread]; j.on && h.marked && bin < j.bins {
		j.hosts = append(j.hosts, hostChange{spread, bin, h.On[bin]})
	}
}

// Rewind restores the state at the mark and removes the mark.
func (l *Ledger) Rewind() {
	j := &l.journal
	if !j.on {
		return
	}
	j.on = false
	for i := range l.Hosts {
		if h := &l.Hosts[i]; h.marked {
			h.shrink(j.bins)
		}
	}
	for _, c := range slices.Backward(j.hosts) {
		l.Hosts[c.spread].set(c.bin, c.was)
	}
	for i := range j.was {
		*j.was[i].at = j.was[i].was
	}
	l.Bins = l.Bins[:j.bins]
	copy(l.block, j.block)
	copy(l.Relied, j.relied)
	for i := range l.Hosts {
		if h := &l.Hosts[i]; h.Rule != nil && !h.marked {
			*h = l.newHostSpread(h.Rule)
		}
	}
}
