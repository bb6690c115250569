package awstest

import (
	"errors"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Rule is a condition on calls and what it does to those that meet it:
//
//	awstest.Nth(2, "CreateFleet").Throttle()
//	awstest.And(awstest.On("DescribeInstances"), awstest.Times(3)).Cut()
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

// orders is what the rules make of one call.
type orders struct {
	fail            func(service string) *fault
	lose, cut, half bool
	drip            int
	delay           time.Duration
	refuse          map[cloudprovider.Scope]refusal
}

func (o *orders) fault(service string) *fault {
	if o.fail == nil {
		return nil
	}
	return o.fail(service)
}

func (w When) rule(text string, effect func(*orders), errs ...error) Rule {
	return Rule{when: w, effect: effect, text: text, errs: append(w.of.Errs(), errs...)}
}

func (w When) failing(text string, fail func(service string) *fault, errs ...error) Rule {
	return w.rule(text, func(o *orders) {
		if o.fail == nil {
			o.fail = fail
		}
	}, errs...)
}

// Fail has the call answered with an error, without being carried out. The status
// of HTTP is the one that AWS has for the code.
func (w When) Fail(code, message string) Rule {
	var errs []error
	if code == "" {
		errs = append(errs, errors.New("Fail: the code is empty; say which one"))
	}
	return w.failing(fmt.Sprintf("Fail(%q, %q)", code, message), func(string) *fault { return failure(code, "%s", message) }, errs...)
}

// Throttle has the call turned away as one of too many, with the code that the
// service uses for it.
func (w When) Throttle() Rule { return w.failing("Throttle()", throttled) }

// Break has the call answered with the internal error of the service.
func (w When) Break() Rule { return w.failing("Break()", broken) }

// Deny has the call refused for lack of permission, as the service puts it.
func (w When) Deny() Rule {
	return w.failing("Deny()", func(service string) *fault {
		switch service {
		case ec2Service:
			return failure("UnauthorizedOperation", "You are not authorized to perform this operation.")
		case iamService:
			return failure("AccessDenied", "User is not authorized to perform this operation")
		}
		return &fault{"AccessDeniedException", "User is not authorized to perform this operation", 400}
	})
}

// Expire has the call refused because its credentials have expired.
func (w When) Expire() Rule {
	return w.failing("Expire()", func(service string) *fault {
		if service == ec2Service {
			return failure("RequestExpired", "Request has expired.")
		}
		return &fault{"ExpiredTokenException", "The security token included in the request is expired", 400}
	})
}

// Lose has the call carried out, and the connection cut before the answer.
func (w When) Lose() Rule { return w.rule("Lose()", func(o *orders) { o.lose = true }) }

// Cut has the connection cut, and the call not carried out.
func (w When) Cut() Rule { return w.rule("Cut()", func(o *orders) { o.cut = true }) }

// Half has the call carried out, and the connection cut in the middle of the
// answer.
func (w When) Half() Rule { return w.rule("Half()", func(o *orders) { o.half = true }) }

// Drip has the answer come in pieces of n bytes, as over a slow connection.
func (w When) Drip(n int) Rule {
	var errs []error
	if n < 1 {
		errs = append(errs, fmt.Errorf("Drip: %d; use one byte or more", n))
	}
	return w.rule(fmt.Sprintf("Drip(%d)", n), func(o *orders) { o.drip = n }, errs...)
}

// Delay has the call take time: the clock moves on by d before it is carried out.
// Nothing sleeps.
func (w When) Delay(d time.Duration) Rule {
	var errs []error
	if d < 0 {
		errs = append(errs, fmt.Errorf("Delay: %v; use zero or more", d))
	}
	return w.rule(fmt.Sprintf("Delay(%v)", d), func(o *orders) { o.delay += d }, errs...)
}

// Refuse has a CreateFleet refused the offerings of a scope with a code, such as
// InsufficientInstanceCapacity; other offerings are as ever.
func (w When) Refuse(scope cloudprovider.Scope, code string) Rule {
	return w.rule(fmt.Sprintf("Refuse(%s, %q)", scope, code), func(o *orders) {
		if o.refuse == nil {
			o.refuse = map[cloudprovider.Scope]refusal{}
		}
		o.refuse[scope] = refusal{code, messageOf(code)}
	})
}

// compiled is a rule with the counters of its condition.
type compiled struct {
	Rule
	is test
}

// Script adds rules. Each call is put to all of them, in the order in which they
// were added, so that those that count miss none; if several apply, delays add up,
// and of those that make a call fail the first decides. The error joins what is
// wrong with the rules, and none of them is added then.
func (c *Cloud) Script(rules ...Rule) error {
	var errs []error
	for i, r := range rules {
		if r.effect == nil {
			errs = append(errs, fmt.Errorf("awstest: rule %d: it has no effect; make one as in Nth(2, \"CreateFleet\").Lose()", i))
		}
		for _, err := range r.errs {
			errs = append(errs, fmt.Errorf("awstest: rule %d: %w", i, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rules {
		c.rules = append(c.rules, compiled{r, r.when.of.Compile(c)})
	}
	return nil
}

// ClearScript removes all rules.
func (c *Cloud) ClearScript() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rules = nil
}

// obey puts a call to the rules.
func (c *Cloud) obey(q *request) *orders {
	o := &orders{}
	for _, r := range c.rules {
		if r.is(q) {
			r.effect(o)
		}
	}
	return o
}
