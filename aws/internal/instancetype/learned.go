package instancetype

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	sigsjson "sigs.k8s.io/json"
)

// MaxAge is how long an observation counts after it was last seen.
const MaxAge = 60 * 24 * time.Hour

// restamp is how old an observation must be for an equal one to renew it. Without it every node
// that joins would change the stored data.
const restamp = 24 * time.Hour

// Nodes is the key of an observation: an instance type and an image. Images matter because another
// kernel may leave another amount of memory.
type Nodes struct {
	// InstanceType is the name of the type, and Image the id of the image.
	InstanceType, Image string
}

// Compare orders by instance type, then image.
func (n Nodes) Compare(o Nodes) int {
	return cmp.Or(cmp.Compare(n.InstanceType, o.InstanceType), cmp.Compare(n.Image, o.Image))
}

// Observation is the memory that a node reported.
type Observation struct {
	Nodes
	// Memory is status.capacity.memory of the node, in bytes.
	Memory int64
	// At is when it was last seen.
	At time.Time
}

// Learned has the memory that nodes have reported, by instance type and image. It is immutable; its
// methods return a changed copy. The zero value is empty.
type Learned struct {
	by map[Nodes]Observation
}

// Verdict says how an observation was treated.
type Verdict string

const (
	// VerdictNew: nothing was known, or only an observation older than MaxAge. It is kept.
	VerdictNew Verdict = "New"
	// VerdictLower: less memory than known. It replaces the known amount.
	VerdictLower Verdict = "Lower"
	// VerdictSame: the known amount, which is renewed.
	VerdictSame Verdict = "Same"
	// VerdictHigher: more memory than known. It is not kept, because plans must also fit on the
	// node with least memory.
	VerdictHigher Verdict = "Higher"
	// VerdictImplausible: zero or less, more than the machine has, or less than half of it. It is
	// not kept.
	VerdictImplausible Verdict = "Implausible"
	// VerdictNameless: without instance type or image. It is not kept.
	VerdictNameless Verdict = "Nameless"
)

// Observe returns l with the memory that one node reported. Call it once for each node of the
// cluster, when it has registered. o.At is the current time; memoryMiB is the memory of the machine
// as EC2 states it, or zero if that is not known.
//
// The rules, in this order:
//
//  1. A Nameless or Implausible observation is dropped.
//  2. If nothing is known, or only something older than MaxAge, it is kept: New.
//  3. If it is less than what is known, it is kept: Lower.
//  4. If it equals what is known, that is renewed: Same. The instant is only
//     written if it moves by a day or more.
//  5. If it is more, it is dropped: Higher. What is known is not renewed, so it
//     is forgotten once nodes no longer report it.
func (l Learned) Observe(o Observation, memoryMiB int64) (Learned, Verdict) {
	if o.InstanceType == "" || o.Image == "" {
		return l, VerdictNameless
	}
	// Division instead of multiplication, so that no amount overflows.
	if o.Memory <= 0 || memoryMiB > 0 && (o.Memory/mebibyte > memoryMiB || o.Memory/mebibyte < memoryMiB/2) {
		return l, VerdictImplausible
	}
	known, found := l.by[o.Nodes]
	switch {
	case !found || expired(known, o.At):
		return l.with(o), VerdictNew
	case o.Memory > known.Memory:
		return l, VerdictHigher
	case o.Memory < known.Memory:
		return l.with(o), VerdictLower
	case o.At.Sub(known.At) < restamp:
		return l, VerdictSame
	}
	return l.with(o), VerdictSame
}

func expired(o Observation, now time.Time) bool { return now.Sub(o.At) > MaxAge }

func (l Learned) with(o Observation) Learned {
	if known, found := l.by[o.Nodes]; found && known.At.After(o.At) {
		o.At = known.At // reports may arrive out of order
	}
	by := maps.Clone(l.by)
	if by == nil {
		by = map[Nodes]Observation{}
	}
	by[o.Nodes] = o
	return Learned{by: by}
}

// Memory returns the memory in bytes that nodes have reported, and false if none
// has within MaxAge before now.
func (l Learned) Memory(now time.Time, n Nodes) (int64, bool) {
	o, found := l.by[n]
	if !found || expired(o, now) {
		return 0, false
	}
	return o.Memory, true
}

// All returns the observations, sorted by Nodes. The slice is the caller's.
func (l Learned) All() []Observation {
	return slices.SortedFunc(maps.Values(l.by), func(a, b Observation) int { return a.Compare(b.Nodes) })
}

// String returns one line, as in "m5.large with ami-1: 7756939264 bytes".
func (o Observation) String() string {
	return fmt.Sprintf("%s with %s: %d bytes", o.InstanceType, o.Image, o.Memory)
}

// learnedVersion is the version of the text form.
const learnedVersion = 1

// learnedFile is the text form of Learned.
type learnedFile struct {
	Version int            `json:"version"`
	Nodes   []learnedNodes `json:"nodes"`
}

type learnedNodes struct {
	InstanceType string    `json:"instanceType"`
	Image        string    `json:"image"`
	MemoryBytes  int64     `json:"memoryBytes"`
	At           time.Time `json:"at"`
}

// MarshalJSON returns l as JSON, in the order of All, with instants in UTC to the
// second:
//
//	{"version":1,"nodes":[{"instanceType":"m5.large","image":"ami-1","memoryBytes":7756939264,"at":"2026-01-02T15:04:05Z"}]}
func (l Learned) MarshalJSON() ([]byte, error) {
	file := learnedFile{Version: learnedVersion, Nodes: []learnedNodes{}}
	for _, o := range l.All() {
		file.Nodes = append(file.Nodes, learnedNodes{o.InstanceType, o.Image, o.Memory, o.At.UTC().Truncate(time.Second)})
	}
	return json.Marshal(file)
}

// ParseLearned reads the output of MarshalJSON. It is strict: unknown, misspelt and duplicate
// fields, another version, entries without instance type, image or instant, duplicate entries, and
// memory of zero or less are faults. The error lists all of them, and the result is empty then.
func ParseLearned(data []byte) (Learned, error) {
	var file learnedFile
	faults, err := sigsjson.UnmarshalStrict(data, &file)
	if err != nil {
		return Learned{}, fmt.Errorf("learned memory: %w", err)
	}
	if file.Version != learnedVersion {
		faults = append(faults, fmt.Errorf("version: %d; use %d", file.Version, learnedVersion))
	}
	by := make(map[Nodes]Observation, len(file.Nodes))
	for i, n := range file.Nodes {
		o := Observation{Nodes: Nodes{n.InstanceType, n.Image}, Memory: n.MemoryBytes, At: n.At.UTC().Truncate(time.Second)}
		_, twice := by[o.Nodes]
		for _, f := range []struct {
			bad  bool
			text string
		}{
			{strings.TrimSpace(n.InstanceType) == "", "instanceType: empty; name the instance type"},
			{strings.TrimSpace(n.Image) == "", "image: empty; give the id of the image"},
			{n.MemoryBytes <= 0, "memoryBytes: not above zero; give the memory in bytes"},
			{n.At.IsZero(), "at: missing; say when it was seen, as 2026-01-02T15:04:05Z"},
			{o.At.Year() < 1 || o.At.Year() > 9999, "at: outside of the years 1 to 9999 in UTC, which RFC 3339 can write"},
			{twice, "listed twice; keep the smaller one"},
		} {
			if f.bad {
				faults = append(faults, fmt.Errorf("nodes[%d] (%s, %s): %s", i, n.InstanceType, n.Image, f.text))
			}
		}
		by[o.Nodes] = o
	}
	if len(faults) > 0 {
		return Learned{}, fmt.Errorf("learned memory: %w", errors.Join(faults...))
	}
	return Learned{by: by}, nil
}
