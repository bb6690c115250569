package awstest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// When is a condition on calls: the first half of a Rule. Conditions are values
// that can be combined and used again. Those that count (Nth, Times, Skip, Every)
// count the calls that reach them, from 0 in each rule that Script is given: And
// and Or go from left to right and stop at the first that decides.
//
// The zero When is every call.
type When struct {
	text  string
	errs  []error
	build func(c *Cloud) test // nil is always true
}

// test says whether a call meets a condition. It may count.
type test func(*request) bool

// String returns the condition as it is written, without the package name.
func (w When) String() string {
	if w.text == "" {
		return "On()"
	}
	return w.text
}

func (w When) compile(c *Cloud) test {
	if w.build == nil {
		return func(*request) bool { return true }
	}
	return w.build(c)
}

// On is calls of these actions, such as CreateFleet; with none, every call. The
// actions are those of the package comment.
func On(actions ...string) When {
	w := When{text: "On(" + quoted(actions) + ")", errs: unknown(actions)}
	w.build = func(*Cloud) test {
		return func(q *request) bool { return len(actions) == 0 || slices.Contains(actions, q.action) }
	}
	return w
}

// Of is calls of these services, by the names of their packages in the AWS SDK for
// Go, such as ssm.
func Of(names ...string) When {
	w := When{text: "Of(" + quoted(names) + ")"}
	for _, n := range names {
		if !slices.Contains(services(), n) {
			w.errs = append(w.errs, fmt.Errorf("there is no service %q; the services are %s", n, strings.Join(services(), ", ")))
		}
	}
	w.build = func(*Cloud) test { return func(q *request) bool { return slices.Contains(names, q.service) } }
	return w
}

func unknown(actions []string) (errs []error) {
	for _, a := range actions {
		if !isAction(a) {
			errs = append(errs, fmt.Errorf("there is no action %q; use one of the package comment", a))
		}
	}
	return errs
}

// Nth is the n-th call of the action, counting from 1.
func Nth(n int, action string) When {
	w := counting(fmt.Sprintf("Nth(%d, %q)", n, action), n, 1, func(seen int) bool { return seen == n },
		func(q *request) bool { return q.action == action })
	w.errs = append(w.errs, unknown([]string{action})...)
	return w
}

// Times is the first n calls.
func Times(n int) When {
	return counting(fmt.Sprintf("Times(%d)", n), n, 0, func(seen int) bool { return seen <= n }, nil)
}

// Skip is all calls but the first n.
func Skip(n int) When {
	return counting(fmt.Sprintf("Skip(%d)", n), n, 0, func(seen int) bool { return seen > n }, nil)
}

// Every is every n-th call: the n-th, the 2n-th and so on.
func Every(n int) When {
	return counting(fmt.Sprintf("Every(%d)", n), n, 1, func(seen int) bool { return seen%max(n, 1) == 0 }, nil)
}

// counting is a condition that counts the calls that pass a filter, and is true of
// those whose number is right.
func counting(text string, n, least int, right func(seen int) bool, filter test) When {
	w := When{text: text, build: func(*Cloud) test {
		seen := 0
		return func(q *request) bool {
			if filter != nil && !filter(q) {
				return false
			}
			seen++
			return right(seen)
		}
	}}
	if n < least {
		w.errs = append(w.errs, fmt.Errorf("%s: %d; use %d or more", text, n, least))
	}
	return w
}

// DryRun is calls that only ask whether they would be allowed.
func DryRun() When {
	return When{text: "DryRun()", build: func(*Cloud) test { return func(q *request) bool { return q.form.yes("DryRun") } }}
}

// About is calls in which one of these texts is the whole value of some parameter:
// the ID of an instance, the name of a parameter or launch template.
func About(texts ...string) When {
	return When{text: "About(" + quoted(texts) + ")", build: func(*Cloud) test {
		return func(q *request) bool { return slices.ContainsFunc(texts, q.mentions) }
	}}
}

func (q *request) mentions(text string) bool {
	if q.path == text || q.form.contains(text) {
		return true
	}
	for _, v := range q.body {
		if s, ok := v.(string); ok && s == text {
			return true
		}
	}
	return false
}

func (f form) contains(text string) bool {
	if f.text == text && text != "" {
		return true
	}
	for _, child := range f.children {
		if child.contains(text) {
			return true
		}
	}
	return false
}

// Since is calls d or more after the cloud was made, by its clock.
func Since(d time.Duration) When {
	return When{text: fmt.Sprintf("Since(%v)", d), build: func(c *Cloud) test {
		return func(*request) bool { return c.now.Sub(c.opts.Clock) >= d }
	}}
}

// Until is calls less than d after the cloud was made, by its clock.
func Until(d time.Duration) When {
	return When{text: fmt.Sprintf("Until(%v)", d), build: func(c *Cloud) test {
		return func(*request) bool { return c.now.Sub(c.opts.Clock) < d }
	}}
}

// And is calls that meet all of the conditions; with none, every call.
func And(all ...When) When { return combine("And", all, false) }

// Or is calls that meet one of the conditions; with none, no call.
func Or(any ...When) When { return combine("Or", any, true) }

// Not is calls that do not meet the condition.
func Not(w When) When {
	return When{text: fmt.Sprintf("Not(%s)", w), errs: w.errs, build: func(c *Cloud) test {
		is := w.compile(c)
		return func(q *request) bool { return !is(q) }
	}}
}

// combine asks conditions in turn until one gives the answer that decides.
func combine(name string, parts []When, decides bool) When {
	parts = slices.Clone(parts)
	texts := make([]string, len(parts))
	w := When{}
	for i, p := range parts {
		texts[i] = p.String()
		w.errs = append(w.errs, p.errs...)
	}
	w.text = fmt.Sprintf("%s(%s)", name, strings.Join(texts, ", "))
	w.build = func(c *Cloud) test {
		tests := make([]test, len(parts))
		for i, p := range parts {
			tests[i] = p.compile(c)
		}
		return func(q *request) bool {
			for _, is := range tests {
				if is(q) == decides {
					return decides
				}
			}
			return !decides
		}
	}
	return w
}
