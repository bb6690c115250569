package awstest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/internal/when"
)

// When is a condition on calls: the first half of a Rule. Conditions are values
// that can be combined and used again. Those that count (Nth, Times, Skip, Every)
// count the calls that reach them, from 0 in each rule that Script is given: And
// and Or go from left to right and stop at the first that decides.
//
// The zero When is every call.
type When struct{ of whenOf }

// whenOf is the condition behind a When.
type whenOf = when.Condition[*Cloud, *request]

// test says whether a call meets a when. It may count.
type test = when.Test[*request]

// String returns the condition as it is written, without the package name.
func (w When) String() string { return w.named().String() }

// named is the condition, where the zero When has the name of what it means.
func (w When) named() whenOf {
	if w.of.String() == "" {
		return On().of
	}
	return w.of
}

// On is calls of these actions, such as CreateFleet; with none, every call. The
// actions are those of the package comment.
func On(actions ...string) When {
	return When{when.Plain[*Cloud]("On("+when.Quoted(actions)+")", func(q *request) bool {
		return len(actions) == 0 || slices.Contains(actions, q.action)
	}, unknown(actions)...)}
}

// Of is calls of these services, by the names of their packages in the AWS SDK for
// Go, such as ssm.
func Of(names ...string) When {
	var errs []error
	for _, n := range names {
		if !slices.Contains(services(), n) {
			errs = append(errs, fmt.Errorf("there is no service %q; the services are %s", n, strings.Join(services(), ", ")))
		}
	}
	return When{when.Plain[*Cloud]("Of("+when.Quoted(names)+")",
		func(q *request) bool { return slices.Contains(names, q.service) }, errs...)}
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
	return When{when.Counting[*Cloud](fmt.Sprintf("Nth(%d, %q)", n, action), n, 1, func(seen int) bool { return seen == n },
		func(q *request) bool { return q.action == action }, unknown([]string{action})...)}
}

// Times is the first n calls.
func Times(n int) When { return When{when.Times[*Cloud, *request](n)} }

// Skip is all calls but the first n.
func Skip(n int) When { return When{when.Skip[*Cloud, *request](n)} }

// Every is every n-th call: the n-th, the 2n-th and so on.
func Every(n int) When { return When{when.Every[*Cloud, *request](n)} }

// DryRun is calls that only ask whether they would be allowed.
func DryRun() When {
	return When{when.Plain[*Cloud]("DryRun()", func(q *request) bool { return q.form.yes("DryRun") })}
}

// About is calls in which one of these texts is the whole value of some parameter:
// the ID of an instance, the name of a parameter or launch template.
func About(texts ...string) When {
	return When{when.Plain[*Cloud]("About("+when.Quoted(texts)+")",
		func(q *request) bool { return slices.ContainsFunc(texts, q.mentions) })}
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
	return When{when.New(fmt.Sprintf("Since(%v)", d), func(c *Cloud) test {
		return func(*request) bool { return c.now.Sub(c.opts.Clock) >= d }
	})}
}

// Until is calls less than d after the cloud was made, by its clock.
func Until(d time.Duration) When {
	return When{when.New(fmt.Sprintf("Until(%v)", d), func(c *Cloud) test {
		return func(*request) bool { return c.now.Sub(c.opts.Clock) < d }
	})}
}

// And is calls that meet all of the conditions; with none, every call.
func And(all ...When) When { return When{when.And(named(all))} }

// Or is calls that meet one of the conditions; with none, no call.
func Or(any ...When) When { return When{when.Or(named(any))} }

// Not is calls that do not meet the when.
func Not(w When) When { return When{when.Not(w.named())} }

func named(parts []When) []whenOf {
	out := make([]whenOf, len(parts))
	for i, w := range parts {
		out[i] = w.named()
	}
	return out
}
