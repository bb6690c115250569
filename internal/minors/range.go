package minors

import (
	"fmt"
	"strconv"
	"strings"
)

// Minor is a minor version of Kubernetes: 37 stands for 1.37.
type Minor int

// First and Last are the oldest and the newest supported minor version.
const (
	First Minor = 34
	Last  Minor = 38
)

// String returns the minor version as users write it, such as 1.37.
func (m Minor) String() string { return "1." + strconv.Itoa(int(m)) }

// Range is the minor versions in which an answer has to hold: from First to Last, both
// included. The zero value stands for all that are supported.
type Range struct{ First, Last Minor }

// Parse reads a minor version such as "1.37", or the version of a component such as "v1.37.2" or
// "v1.36.3-eks-1a2b3c4". The empty text stands for all supported minor versions. The error of any
// other text, or of a minor version that is not supported, lists those that are.
func Parse(text string) (Range, error) {
	if text == "" {
		return Range{First, Last}, nil
	}
	fault := func(what string) (Range, error) {
		return Range{}, fmt.Errorf("%q %s; use one of %s, or nothing for all of them", text, what, strings.Join(Range{}.Texts(), ", "))
	}
	rest, major := strings.CutPrefix(strings.TrimPrefix(text, "v"), "1.")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	n, err := strconv.Atoi(rest[:digits])
	if tail := rest[digits:]; !major || err != nil || tail != "" && !strings.ContainsRune(".+-", rune(tail[0])) {
		return fault("is no minor version of Kubernetes")
	}
	if m := Minor(n); m < First || m > Last {
		return fault("is not supported")
	}
	return Range{Minor(n), Minor(n)}, nil
}

// Texts lists the minor versions as users write them, in ascending order.
func (r Range) Texts() (out []string) {
	r = r.all()
	for m := r.First; m <= r.Last; m++ {
		out = append(out, m.String())
	}
	return out
}

// Text returns the text that Parse reads as this range: empty for all supported minor versions.
func (r Range) Text() string {
	if r = r.all(); r.First == r.Last {
		return r.First.String()
	}
	return ""
}

func (r Range) all() Range {
	if r == (Range{}) {
		return Range{First, Last}
	}
	return r
}

// Before says whether some minor version of the range reads as it was before a change.
func (r Range) Before(c Change) bool { return r.all().First < table[c].From }

// After says whether some minor version of the range reads as it is after a change.
func (r Range) After(c Change) bool { return r.all().Last >= table[c].From }
