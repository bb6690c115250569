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
	// maxValue is the most characters that the value of a tag can have.
	maxValue = 256
	// MaxTags is how many tags a roster takes at the most.
	MaxTags = 5
	// markLength is the length of a mark, 60 bits: among ten thousand instances two have the same
	// mark with a probability of one in ten billion.
	markLength = 10
)

// Entry is one request.
type Entry struct {
	// Token is the token of the request; see Mark. It is empty in a roster that was read.
	Token string
	// Mark is the hash of the token. Make takes it from Token.
	Mark string
	// Name is the name of the NodeClaim. May be empty.
	Name string
}

// Roster is the list of the requests that one call launches for.
type Roster struct {
	// Batch identifies the call.
	Batch string
	// Entries are the requests, in the order of Mark.
	Entries []Entry
}

// Mark returns the hash of a token that a roster contains.
func Mark(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:markLength]
}

// nameOf matches names that EC2 accepts in the value of a tag, without the slash, which separates
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

// text returns an entry as it is written. The name of the pool is left off names that begin with
// it, because another tag has it.
func (e Entry) text(pool string) string {
	if rest, found := strings.CutPrefix(e.Name, pool+"-"); found && pool != "" {
		return e.Mark + "." + rest
	}
	return e.Mark + ":" + e.Name
}

// MakeRoster returns the tags for as many of the first entries, in the order of their marks, as fit
// into room tags. taken is the number of these entries. Each entry has Token and Name. pool is the
// NodePool of all. If room is zero, so is taken.
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

// batch has the instances of one call that EC2 lists.
type batch struct {
	roster   Roster
	ids      []string
	youngest time.Time
}

// rosters returns the request that each instance was launched for, by the instance's id.
//
// The order of a batch's instances determines their requests, so all of them must be listed. They
// are if the batch is as large as its roster. A smaller batch may be complete too, because EC2 may
// have launched fewer. But EC2 does not list the instances of a call all at once: a smaller batch
// that is younger than listDelay has no owners, and unsure has the end of that time by the mark of
// each of its requests. And EC2 lists terminated instances only for a while: a smaller batch that
// is older than rosterAge has no owners either.
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
		case !complete && -listDelay < age && age < listDelay: // our clock may be behind EC2's
			for _, e := range b.roster.Entries {
				unsure[e.Mark] = b.youngest.Add(listDelay)
			}
		case complete || age < rosterAge:
			maps.Copy(owners, b.roster.Assign(b.ids))
		}
	}
	return owners, unsure
}

// unsureFor returns how long to wait until it is known whether a token has an instance; zero if it
// is known. read says that the time is over and the instances have to be read again.
func (b *Book) unsureFor(token string) (wait time.Duration, read bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	until, unsure := b.unsure[Mark(token)]
	// A token that has an instance meanwhile got it from the answer of a call.
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
