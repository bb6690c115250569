package launch

import (
	"maps"
	"time"
)

// batch is what one call has launched, as far as EC2 lists it.
type batch struct {
	roster   Roster
	ids      []string
	youngest time.Time
}

// rosters says which request each instance was launched for, by id.
//
// The order of the instances says it, so all of a batch must be there. If it is as
// large as its roster, they are. If not, they may be: EC2 may have had no more. But
// EC2 lists those of one call not at one instant, so of a batch that was launched a
// moment ago nothing is said, and until when not is returned by the mark of each of
// its requests. And it does not list for ever what is gone, so nothing is said of one
// that is old either.
func rosters(all []Record, now time.Time) (owners map[string]Entry, unsure map[string]time.Time) {
	batches := map[string]*batch{}
	for i := range all {
		r, ok := all[i].Roster()
		if !ok {
			continue
		}
		b := batches[r.Batch]
		if b == nil {
			b = &batch{roster: r}
			batches[r.Batch] = b
		}
		b.ids = append(b.ids, all[i].ID)
		if at := all[i].LaunchedAt; at.After(b.youngest) {
			b.youngest = at
		}
	}
	owners, unsure = map[string]Entry{}, map[string]time.Time{}
	for _, b := range batches {
		age := now.Sub(b.youngest)
		switch complete := len(b.ids) >= len(b.roster.Entries); {
		case !complete && -settle < age && age < settle: // a clock may be far behind that of EC2
			for _, e := range b.roster.Entries {
				unsure[e.Mark] = b.youngest.Add(settle)
			}
		case complete || age < rosterAge:
			maps.Copy(owners, b.roster.Assign(b.ids))
		}
	}
	return owners, unsure
}

// unsureFor returns how long to wait until it is known whether a token has an
// instance; zero if that is known. When the time has come it is to be read once
// more.
func (b *Book) unsureFor(token string) (wait time.Duration, read bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	until, unsure := b.unsure[Mark(token)]
	// An instance that has its owner meanwhile has it from the answer of the call.
	if !unsure || b.byMark[Mark(token)] != nil {
		return 0, false
	}
	if wait := until.Sub(b.now()); wait > 0 {
		return wait, false
	}
	b.unsure, b.hydrated = nil, false
	b.doubts++
	return 0, true
}
