package launch

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
