package requirements

import (
	"math"
	"slices"
)

// Requirement is the set of states that one label may be in. A state is either
// "absent" (the label is not there) or a string (the label is there and has
// that value).
//
// A Requirement is immutable and may be shared between goroutines and copied
// freely. The zero value has the empty key and admits every state.
//
// Compare with Equal, not with ==.
type Requirement struct {
	key string

	// values is sorted, without duplicates, never written after construction
	// and shared between Requirements. What it means depends on shape. It is
	// nil when there are none.
	values []string

	// lo and hi are the inclusive ends of the interval of shapeIntegers, with
	// lo <= hi. Other shapes leave them zero.
	lo, hi int64

	minValues int

	shape shape

	// present says that the absent state is not admitted. It is named so that
	// the zero value admits everything.
	present bool
}

// shape says how the admitted strings are represented. Together with Requirement.present it can
// represent every set that the operators of Kubernetes can build, and every intersection of such
// sets. Each set has only one representation, so Equal and String are exact:
//
//	present  shape     values   admitted
//	no       except    X        absent, and every string but X
//	yes      except    X        every string but X
//	yes      integers  X        integers from lo to hi, spelled other than X
//	yes      only      V        V
//	no       only      none     absent
//	yes      only      none     nothing: impossible
type shape uint8

const (
	shapeExcept   shape = iota // every string but values
	shapeIntegers              // integers of [lo, hi] but values, which all lie in [lo, hi]
	shapeOnly                  // values
)

// In admits the values given. Without values it admits nothing: the result is
// Impossible.
func In(key string, values ...string) Requirement {
	return Requirement{key: key, present: true, shape: shapeOnly, values: sortedCopy(values)}
}

// NotIn admits the absent state and every string but the values given. Without
// values it admits every state.
func NotIn(key string, values ...string) Requirement {
	return Requirement{key: key, shape: shapeExcept, values: sortedCopy(values)}
}

// Exists admits every string, the empty one included, but not the absent
// state.
func Exists(key string) Requirement {
	return Requirement{key: key, present: true, shape: shapeExcept}
}

// DoesNotExist admits the absent state only.
func DoesNotExist(key string) Requirement {
	return Requirement{key: key, shape: shapeOnly}
}

// Gt admits the integers above n: the strings that strconv.ParseInt reads in
// base 10 as a greater int64. No int64 is above math.MaxInt64, so that Gt of
// it is Impossible.
func Gt(key string, n int64) Requirement {
	if n == math.MaxInt64 {
		return impossible(key)
	}
	return integers(key, n+1, math.MaxInt64)
}

// Gte admits the integers from n up, as read by strconv.ParseInt in base 10.
func Gte(key string, n int64) Requirement {
	return integers(key, n, math.MaxInt64)
}

// Lt admits the integers below n, as read by strconv.ParseInt in base 10. No
// int64 is below math.MinInt64, so that Lt of it is Impossible.
func Lt(key string, n int64) Requirement {
	if n == math.MinInt64 {
		return impossible(key)
	}
	return integers(key, math.MinInt64, n-1)
}

// Lte admits the integers up to n, as read by strconv.ParseInt in base 10.
func Lte(key string, n int64) Requirement {
	return integers(key, math.MinInt64, n)
}

func integers(key string, lo, hi int64) Requirement {
	return Requirement{key: key, present: true, shape: shapeIntegers, lo: lo, hi: hi}
}

func impossible(key string) Requirement {
	return Requirement{key: key, present: true, shape: shapeOnly}
}

// Key returns the label key.
func (r Requirement) Key() string { return r.key }

// WithMinValues returns a copy with a minimum of n distinct values; n below one means none. The
// minimum restricts a catalog (at least n values of this label must remain among the candidates),
// and does not affect which states are admitted.
func (r Requirement) WithMinValues(n int) Requirement {
	r.minValues = max(n, 0)
	return r
}

// MinValues returns the required minimum of distinct values, zero for none.
func (r Requirement) MinValues() int { return r.minValues }

// Has reports whether the label may have the value.
func (r Requirement) Has(value string) bool {
	switch r.shape {
	case shapeOnly:
		return contains(r.values, value)
	case shapeIntegers:
		n, ok := parseInteger(value)
		return ok && r.lo <= n && n <= r.hi && !contains(r.values, value)
	default:
		return !contains(r.values, value)
	}
}

// AllowsAbsent reports whether the label may be missing.
func (r Requirement) AllowsAbsent() bool { return !r.present }

// AllowsPresent reports whether the label may be there, with some value.
func (r Requirement) AllowsPresent() bool {
	return r.shape != shapeOnly || len(r.values) > 0
}

// Impossible reports whether no state at all is admitted. That is not what
// DoesNotExist says: DoesNotExist admits the absent state.
func (r Requirement) Impossible() bool {
	return !r.AllowsAbsent() && !r.AllowsPresent()
}

// Values lists the admitted strings in byte order if their number is finite: for In and
// intersections with it, for DoesNotExist, and for an Impossible requirement (the last two admit no
// string, so the list is empty). In all other cases it returns nil and false. An interval counts as
// infinite even if it contains only one integer, because an integer has any number of spellings (7,
// 07, 007).
//
// The caller owns the slice. AllowsAbsent says whether the absent state is admitted.
func (r Requirement) Values() (values []string, finite bool) {
	if r.shape != shapeOnly {
		return nil, false
	}
	return slices.Clone(r.values), true
}

// Equal reports whether both have the same key, admit the same states and carry
// the same minimum of values. It is so exactly when their Strings are equal.
func (r Requirement) Equal(s Requirement) bool {
	return r.key == s.key &&
		r.present == s.present &&
		r.shape == s.shape &&
		r.lo == s.lo && r.hi == s.hi &&
		r.minValues == s.minValues &&
		slices.Equal(r.values, s.values)
}
