package when

import (
	"fmt"
	"slices"
	"strings"
)

// Condition is a condition on calls of type Q that a cloud of type C takes. It is a
// value: counts are those of a test, and not of the condition. The zero Condition
// has no text, and every call meets it.
type Condition[C, Q any] struct {
	text  string
	errs  []error
	build func(C) Test[Q] // nil is always true
}

// Test says whether a call meets a condition. It may count the calls it is asked
// about.
type Test[Q any] func(Q) bool

// New returns the condition that reads as text and is tested by what build returns,
// which is called once for each rule. The errors say what is wrong with it.
func New[C, Q any](text string, build func(C) Test[Q], errs ...error) Condition[C, Q] {
	return Condition[C, Q]{text, errs, build}
}

// Plain returns a condition that needs nothing of the cloud and does not count.
func Plain[C, Q any](text string, is Test[Q], errs ...error) Condition[C, Q] {
	return New(text, func(C) Test[Q] { return is }, errs...)
}

// Counting returns a condition on n that counts the calls that pass a filter, nil
// for all of them, and is met by those whose number, from 1, is right. An n below
// least is an error, beside errs.
func Counting[C, Q any](text string, n, least int, right func(seen int) bool, filter Test[Q], errs ...error) Condition[C, Q] {
	if n < least {
		errs = append([]error{fmt.Errorf("%s: %d; use %d or more", text, n, least)}, errs...)
	}
	return New(text, func(C) Test[Q] {
		seen := 0
		return func(call Q) bool {
			if filter != nil && !filter(call) {
				return false
			}
			seen++
			return right(seen)
		}
	}, errs...)
}

// Times is the first n calls.
func Times[C, Q any](n int) Condition[C, Q] {
	return Counting[C, Q](fmt.Sprintf("Times(%d)", n), n, 0, func(seen int) bool { return seen <= n }, nil)
}

// Skip is all calls but the first n.
func Skip[C, Q any](n int) Condition[C, Q] {
	return Counting[C, Q](fmt.Sprintf("Skip(%d)", n), n, 0, func(seen int) bool { return seen > n }, nil)
}

// Every is every n-th call.
func Every[C, Q any](n int) Condition[C, Q] {
	return Counting[C, Q](fmt.Sprintf("Every(%d)", n), n, 1, func(seen int) bool { return seen%max(n, 1) == 0 }, nil)
}

// String returns the condition as it is written, without a package name.
func (w Condition[C, Q]) String() string { return w.text }

// Errs returns what is wrong with the condition. The slice must not be changed, and
// is clipped, so that appending to it copies.
func (w Condition[C, Q]) Errs() []error { return slices.Clip(w.errs) }

// Compile returns a test that counts from 0.
func (w Condition[C, Q]) Compile(cloud C) Test[Q] {
	if w.build == nil {
		return func(Q) bool { return true }
	}
	return w.build(cloud)
}

// And is the calls that meet all conditions; with none, every call.
func And[C, Q any](all []Condition[C, Q]) Condition[C, Q] { return combine("And", all, false) }

// Or is the calls that meet one of the conditions; with none, no call.
func Or[C, Q any](any []Condition[C, Q]) Condition[C, Q] { return combine("Or", any, true) }

// Not is the calls that do not meet the condition.
func Not[C, Q any](w Condition[C, Q]) Condition[C, Q] {
	return New(fmt.Sprintf("Not(%s)", w), func(cloud C) Test[Q] {
		is := w.Compile(cloud)
		return func(call Q) bool { return !is(call) }
	}, w.errs...)
}

// combine asks conditions in turn until one gives the answer that decides; those
// after it do not count the call.
func combine[C, Q any](name string, parts []Condition[C, Q], decides bool) Condition[C, Q] {
	texts := make([]string, len(parts))
	var errs []error
	for i, p := range parts {
		texts[i] = p.text
		errs = append(errs, p.errs...)
	}
	return New(fmt.Sprintf("%s(%s)", name, strings.Join(texts, ", ")), func(cloud C) Test[Q] {
		tests := make([]Test[Q], len(parts))
		for i, p := range parts {
			tests[i] = p.Compile(cloud)
		}
		return func(call Q) bool {
			for _, is := range tests {
				if is(call) == decides {
					return decides
				}
			}
			return !decides
		}
	}, errs...)
}

// Quoted lists words as they are written in Go.
func Quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(out, ", ")
}
