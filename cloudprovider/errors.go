package cloudprovider

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind says how the caller has to react to an error. The list is closed within a major version, so
// a switch over it can be complete.
type Kind string

const (
	// KindUnknown is every other failure: a broken connection, a malformed answer, a cancelled
	// context. The operation may have been carried out. Repeat later, with the same token. It is
	// the zero Kind.
	KindUnknown Kind = ""
	// KindNotFound: the instance is gone, or never was; or the node class of a
	// pool or request does not exist.
	KindNotFound Kind = "NotFound"
	// KindInsufficientCapacity: the cloud does not sell this now, for lack of
	// stock or of quota. Mark the offerings (see package availability) and decide anew.
	KindInsufficientCapacity Kind = "InsufficientCapacity"
	// KindNotReady: the node class exists but cannot be used yet. Wait until NodeClassReady returns
	// nil.
	KindNotReady Kind = "NotReady"
	// KindDenied: the request will never work as it is: it is malformed,
	// forbidden, or against a rule of the cloud. Do not repeat it; tell the
	// user.
	KindDenied Kind = "Denied"
	// KindThrottled: too many requests. Repeat the same one after
	// Error.RetryAfter, or with growing pauses.
	KindThrottled Kind = "Throttled"
	// KindUnsupported: the provider does not have the ability. Go on without it.
	KindUnsupported Kind = "Unsupported"
)

// The sentinels to compare errors with, by errors.Is. Each stands for the Kind of that name;
// ErrUnsupported is errors.ErrUnsupported of the standard library. They may also be wrapped, or
// returned directly if there is nothing to add.
var (
	ErrNotFound             = errors.New("not found")
	ErrInsufficientCapacity = errors.New("insufficient capacity")
	ErrNotReady             = errors.New("not ready")
	ErrDenied               = errors.New("denied")
	ErrThrottled            = errors.New("throttled")
	ErrUnsupported          = errors.ErrUnsupported
)

// sentinel returns the error that stands for k, or nil for KindUnknown.
func (k Kind) sentinel() error {
	switch k {
	case KindNotFound:
		return ErrNotFound
	case KindInsufficientCapacity:
		return ErrInsufficientCapacity
	case KindNotReady:
		return ErrNotReady
	case KindDenied:
		return ErrDenied
	case KindThrottled:
		return ErrThrottled
	case KindUnsupported:
		return ErrUnsupported
	}
	return nil
}

// String returns the kind in words, such as "insufficient capacity". The zero
// Kind is "unknown failure".
func (k Kind) String() string {
	switch err := k.sentinel(); {
	case k == KindUnsupported:
		return "unsupported"
	case err != nil:
		return err.Error()
	case k == KindUnknown:
		return "unknown failure"
	}
	return string(k)
}

// Error describes a failed call of a provider. Every field may be empty. It is read-only once
// returned. A nil *Error in an error interface has no kind and wraps nothing.
type Error struct {
	// Op is the method or function that failed, as in "Create".
	Op string

	// Kind says how the caller has to react.
	Kind Kind

	// Object names what the call was about: a NodeClaim, an instance ID.
	Object string

	// Reason is the cloud's own code for the cause, as in "VcpuLimitExceeded". In an
	// availability.Cache it can determine how long marks last.
	Reason string

	// Offerings are the offerings that the cloud refused, for KindInsufficientCapacity. List all
	// that were tried and refused, not only the first: otherwise the caller needs one failed launch
	// for each offering. Each key has an instance type, a zone and a capacity type: use Scopes for
	// what is wider.
	Offerings []OfferingKey

	// Scopes are the refused groups of offerings, for KindInsufficientCapacity: all spot capacity
	// if a quota is used up, a zone if its addresses have run out.
	Scopes []Scope

	// RetryAfter is how long the cloud asks to wait; 0 if it does not say.
	RetryAfter time.Duration

	// Err is the cause.
	Err error
}

// maxNamed is how many offerings and scopes an error text names.
const maxNamed = 3

// Error returns one line: operation, object, kind, reason, what was refused,
// cause and pause, without those that are empty.
//
//	Create web-x7: insufficient capacity: InsufficientInstanceCapacity: m5.large/zone-a/spot: no stock; retry after 3m0s
//
// Of the offerings and scopes refused, it names the first three of each by
// Compare and counts the rest.
func (e *Error) Error() string {
	if e == nil {
		return "nil *cloudprovider.Error in an error interface"
	}
	var parts []string
	if subject := strings.TrimSpace(e.Op + " " + e.Object); subject != "" {
		parts = append(parts, subject)
	}
	parts = append(parts, e.Kind.String())
	if e.Reason != "" {
		parts = append(parts, e.Reason)
	}
	if len(e.Offerings) > 0 {
		keys := slices.SortedFunc(slices.Values(e.Offerings), OfferingKey.Compare)
		parts = append(parts, firstOf(slices.Compact(keys)))
	}
	if len(e.Scopes) > 0 {
		scopes := slices.SortedFunc(slices.Values(e.Scopes), Scope.Compare)
		parts = append(parts, firstOf(slices.Compact(scopes)))
	}
	// A bare sentinel as the cause would repeat the kind.
	if e.Err != nil && e.Err != e.Kind.sentinel() {
		parts = append(parts, strings.ReplaceAll(strings.TrimSpace(e.Err.Error()), "\n", "; "))
	}
	text := strings.Join(parts, ": ")
	if e.RetryAfter > 0 {
		text += fmt.Sprintf("; retry after %v", e.RetryAfter)
	}
	return text
}

func firstOf[T fmt.Stringer](all []T) string {
	named := make([]string, 0, maxNamed)
	for _, one := range all[:min(len(all), maxNamed)] {
		named = append(named, one.String())
	}
	text := strings.Join(named, ", ")
	if rest := len(all) - len(named); rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Is reports whether target is the sentinel of e.Kind, for errors.Is.
func (e *Error) Is(target error) bool {
	if e == nil {
		return false
	}
	sentinel := e.Kind.sentinel()
	return sentinel != nil && target == sentinel
}

// KindOf returns the kind of err: that of the outermost *Error in its tree that has one, with
// joined errors in order; else that of the first sentinel, in the order of the Kind constants, that
// errors.Is finds; else KindUnknown, also for nil.
func KindOf(err error) Kind {
	kind := KindUnknown
	eachError(err, func(e *Error) bool {
		kind = e.Kind
		return kind == KindUnknown
	})
	if kind != KindUnknown {
		return kind
	}
	for _, kind := range []Kind{KindNotFound, KindInsufficientCapacity, KindNotReady, KindDenied, KindThrottled, KindUnsupported} {
		if errors.Is(err, kind.sentinel()) {
			return kind
		}
	}
	return KindUnknown
}

// RetryAfter returns the longest RetryAfter of all *Errors in the tree of err, or 0.
func RetryAfter(err error) time.Duration {
	var longest time.Duration
	eachError(err, func(e *Error) bool {
		longest = max(longest, e.RetryAfter)
		return true
	})
	return longest
}

// eachError visits the *Errors in the tree of err, outer before inner and
// joined ones in order, until visit returns false. It reports whether it saw
// all.
func eachError(err error, visit func(*Error) bool) bool {
	if e, ok := err.(*Error); ok && e != nil && !visit(e) {
		return false
	}
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		if inner := wrapper.Unwrap(); inner != nil {
			return eachError(inner, visit)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range wrapper.Unwrap() {
			if !eachError(inner, visit) {
				return false
			}
		}
	}
	return true
}
