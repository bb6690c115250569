package launch

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// KeyPrefix begins the keys of the tags that hold a roster: a number from 1 on
// follows.
const KeyPrefix = "dovetail/launch-"

const (
	// maxValue is how long EC2 lets the value of a tag be.
	maxValue = 256
	// MaxTags is how many tags a roster takes at the most.
	MaxTags = 5
	// markLength is that of a mark: 60 bits, so that among ten thousand instances
	// two with one mark are a matter of one in ten billion.
	markLength = 10
)

// Entry is one request.
type Entry struct {
	// Token is the token of the request; see Mark. A roster that was read has
	// none.
	Token string
	// Mark is the hash of the token. Make takes it from Token.
	Mark string
	// Name is the name of the NodeClaim. May be empty.
	Name string
}

// Roster is the list of the requests that one call launches for.
type Roster struct {
	// Batch tells the call from others.
	Batch string
	// Entries are the requests, in the order of Mark.
	Entries []Entry
}

// Mark returns the hash of a token by which a roster knows it.
func Mark(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:markLength]
}

// nameOf is what EC2 takes in the value of a tag, less the slash, which separates
// the entries.
var nameOf = regexp.MustCompile(`^[A-Za-z0-9 +\-=._:@]*$`)

// CheckName returns an error if a name cannot be put into a roster.
func CheckName(name string) error {
	if len(name) > maxValue-2*markLength {
		return fmt.Errorf("name: %q has %d characters; use at most %d", name, len(name), maxValue-2*markLength)
	}
	if !nameOf.MatchString(name) {
		return fmt.Errorf("name: %q cannot be the value of a tag; use letters, digits and + - = . _ : @", name)
	}
	return nil
}

// text is how an entry is written. Names of NodeClaims begin with that of their
// pool, which another tag has.
func (e Entry) text(pool string) string {
	if rest, found := strings.CutPrefix(e.Name, pool+"-"); found && pool != "" {
		return e.Mark + "." + rest
	}
	return e.Mark + ":" + e.Name
}

// MakeRoster returns the tags of a call for the first of entries, in the order of their
// marks, that fit into so many tags, and how many these are. Each entry has Token
// and Name. pool is the NodePool of all. With no room for tags, taken is zero.
func MakeRoster(batch, pool string, entries []Entry, room int) (tags map[string]string, taken int) {
	sorted := slices.Clone(entries)
	for i := range sorted {
		sorted[i].Mark = Mark(sorted[i].Token)
	}
	slices.SortFunc(sorted, func(a, b Entry) int { return strings.Compare(a.Mark, b.Mark) })
	tags = map[string]string{}
	value := Mark(batch)
	for number := 1; number <= min(room, MaxTags); number++ {
		for taken < len(sorted) {
			text := sorted[taken].text(pool)
			if len(value)+1+len(text) > maxValue {
				break
			}
			if value != "" {
				value += "/"
			}
			value += text
			taken++
		}
		tags[KeyPrefix+strconv.Itoa(number)] = value
		value = ""
		if taken == len(sorted) {
			break
		}
	}
	return tags, taken
}

// ReadRoster returns the roster in the tags of an instance, and false if there is none.
func ReadRoster(tags map[string]string, pool string) (Roster, bool) {
	var r Roster
	for number := 1; number <= MaxTags; number++ {
		value, found := tags[KeyPrefix+strconv.Itoa(number)]
		if !found {
			break
		}
		texts := strings.Split(value, "/")
		if number == 1 {
			if len(texts[0]) != markLength {
				return Roster{}, false
			}
			r.Batch, texts = texts[0], texts[1:]
		}
		for _, text := range texts {
			e, ok := parse(text, pool)
			if !ok {
				return Roster{}, false
			}
			r.Entries = append(r.Entries, e)
		}
	}
	return r, len(r.Entries) > 0
}

func parse(text, pool string) (Entry, bool) {
	if len(text) <= markLength {
		return Entry{}, false
	}
	e := Entry{Mark: text[:markLength], Name: text[markLength+1:]}
	switch text[markLength] {
	case '.':
		e.Name = pool + "-" + e.Name
	case ':':
	default:
		return Entry{}, false
	}
	return e, true
}

// Assign returns which entry each instance of a batch belongs to. ids are those of
// all instances that the call launched. Instances beyond the entries belong to
// none and are missing.
func (r Roster) Assign(ids []string) map[string]Entry {
	sorted := slices.Sorted(slices.Values(ids))
	sorted = slices.Compact(sorted)
	out := make(map[string]Entry, len(sorted))
	for i, id := range sorted[:min(len(sorted), len(r.Entries))] {
		out[id] = r.Entries[i]
	}
	return out
}

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
