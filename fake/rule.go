package fake

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Rule is a condition on calls and what it does to those that meet it:
//
//	fake.Nth(2, "create").Fail(cloudprovider.ErrThrottled)
//	fake.And(fake.InZone("a"), fake.Times(3)).Lose()
//
// The zero Rule is not valid.
type Rule struct {
	when   When
	effect func(*orders)
	text   string
	errs   []error
}

// String returns the rule as it is written, without the package name.
func (r Rule) String() string { return fmt.Sprintf("%s.%s", r.when, r.text) }

func (w When) rule(text string, err error, effect func(*orders)) Rule {
	r := Rule{when: w, effect: effect, text: text, errs: w.of.Errs()}
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", text, err))
	}
	return r
}

// Fail has the call return an error, without being carried out. An error that is
// no *cloudprovider.Error is wrapped in one of the same kind; what one leaves
// empty of method and object is filled in, and for a Create that fails with
// KindInsufficientCapacity and names nothing that was refused, the offering that
// would have been launched.
func (w When) Fail(err error) Rule {
	return w.rule(fmt.Sprintf("Fail(%v)", err), notNil(err), func(o *orders) { o.fail = firstOf(o.fail, err) })
}

// Partly has half of the call carried out, and then return an error. Half of
// Acknowledge is the first half of the IDs, rounded down; every other call is
// about one thing, of which half is nothing, so that this is Fail.
func (w When) Partly(err error) Rule {
	return w.rule(fmt.Sprintf("Partly(%v)", err), notNil(err), func(o *orders) { o.partly = firstOf(o.partly, err) })
}

// Lose has the call carried out, and its answer lost: the caller gets an error
// of KindUnknown. After a lost Create the machine exists, and a repetition with
// the same token returns it.
func (w When) Lose() Rule {
	return w.rule("Lose()", nil, func(o *orders) { o.lose = true })
}

// Twice has the call arrive twice, as if a network layer below had repeated it,
// and the caller get the second answer. A Create launches one machine all the
// same; a second Delete may say that there is nothing to delete.
func (w When) Twice() Rule {
	return w.rule("Twice()", nil, func(o *orders) { o.twice = true })
}

// Delay has the call take time: the cloud's clock moves on by d, with all that
// is due by then, before the call is carried out. Nothing sleeps.
func (w When) Delay(d time.Duration) Rule {
	var err error
	if d < 0 {
		err = fmt.Errorf("%v; use zero or more", d)
	}
	return w.rule(fmt.Sprintf("Delay(%v)", d), err, func(o *orders) { o.delay += d })
}

// Stall has a Create launch a machine whose Node never appears, as one with
// broken user data. Other calls are as ever.
func (w When) Stall() Rule {
	return w.rule("Stall()", nil, func(o *orders) { o.stall = true })
}

// Refuse has the offerings in the scope out of stock for one Create, which may
// then launch another of its options. Other calls are as ever.
func (w When) Refuse(scope cloudprovider.Scope) Rule {
	return w.rule(fmt.Sprintf("Refuse(%s)", scope), nil, func(o *orders) { o.refuse = append(o.refuse, scope) })
}

func notNil(err error) error {
	if err == nil {
		return errors.New("the error is nil; say which one")
	}
	return nil
}

// firstOf is the first of two errors.
func firstOf(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// orders is what the rules make of one call.
type orders struct {
	fail, partly       error
	lose, twice, stall bool
	delay              time.Duration
	refuse             []cloudprovider.Scope
}

// compiled is a rule with the counters of its condition.
type compiled struct {
	Rule
	is test
}

// Script adds rules. Each call is put to all rules, in the order in which they
// were added, so that those that count miss none; if several apply, delays add
// up, and of those that make a call fail the first decides. The error joins what
// is wrong with the rules, and none of them is added then.
func (c *Cloud) Script(rules ...Rule) error {
	c.enter()
	defer c.mu.Unlock()
	var errs []error
	for i, r := range rules {
		if r.effect == nil {
			errs = append(errs, fmt.Errorf("rule %d: it has no effect; make one as in Nth(2, \"create\").Lose()", i))
			continue
		}
		for _, err := range r.errs {
			errs = append(errs, fmt.Errorf("rule %d: %w", i, err))
		}
	}
	if len(errs) > 0 {
		return denied("Script", "", errors.Join(errs...))
	}
	for _, r := range rules {
		c.rules = append(c.rules, compiled{r, r.when.of.Compile(c)})
	}
	return nil
}

// ClearScript removes all rules.
func (c *Cloud) ClearScript() {
	c.enter()
	defer c.mu.Unlock()
	c.rules = nil
}

// obey puts a call to the rules.
func (c *Cloud) obey(in *call) *orders {
	o := &orders{}
	in.elapsed = c.now.Sub(c.start)
	for _, r := range c.rules {
		if r.is(in) {
			r.effect(o)
			c.record(EventScripted, in.method(), "%s", joinNonEmpty(in.object, r.text))
		}
	}
	if in.op != OpAcknowledge {
		o.fail = firstOf(o.fail, o.partly)
	}
	return o
}

func joinNonEmpty(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}

// failure makes an error of a rule into one of the call.
func (in *call) failure(err error) error {
	own := cloudprovider.Error{Kind: cloudprovider.KindOf(err), Err: err}
	var e *cloudprovider.Error
	if errors.As(err, &e) && e != nil {
		if e != err {
			return err // one is wrapped in it, which is as good
		}
		own = *e
	}
	own.Op, own.Object = cmp.Or(own.Op, in.method()), cmp.Or(own.Object, in.object)
	if in.op == OpCreate && own.Kind == cloudprovider.KindInsufficientCapacity && len(own.Offerings)+len(own.Scopes) == 0 {
		if key, found := in.offering(); found {
			own.Offerings = []cloudprovider.OfferingKey{key}
		}
	}
	return &own
}
