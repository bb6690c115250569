package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/aws/internal/launchtemplate"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
)

type outcome = batcher.Outcome[*cloudprovider.Instance]

// order is a launch with what it asks for.
type order struct {
	*launch.Order
	plan *plan
}

// call is one call of CreateFleet, for some launches of one plan.
type call struct {
	*launch.Call
	p    *Provider
	plan *plan
	// spec and templates are those of the plan; for many launches, with templates
	// of this process alone.
	spec      launch.Spec
	templates []launchtemplate.Template
	// What follows belongs to whoever works on the call.
	input *ec2.CreateFleetInput
	zones map[string]string // by subnet
	claim *launch.Claim
	doubt bool // it was made, and EC2 gave no answer
}

type outcomes = map[*launch.Order]outcome

// launchBatch is the backend of Provider.launches: launches with plans of one key.
func (p *Provider) launchBatch(ctx context.Context, _ string, items []order) ([]outcome, error) {
	results := make(outcomes, len(items))
	calls := p.begin(items, results)
	// If some got nothing, the other calls ask for the same and would be refused the same.
	var missed error
	for made := 0; made < len(calls); {
		now := calls[made:min(len(calls), made+wave(calls, made))]
		made += len(now)
		if missed == nil {
			missed = runAll(ctx, now, results)
			continue
		}
		for _, c := range now {
			c.abandon(results, missed)
		}
	}
	answers := make([]outcome, len(items))
	for i, l := range items {
		answers[i] = results[l.Order]
	}
	return answers, nil
}

// wave is how many calls are made at once after so many: of those for a launch each as many
// as ever, and of those for many first one, which shows what the others can hope for.
func wave(calls []*call, made int) int {
	switch {
	case !slices.ContainsFunc(calls, func(c *call) bool { return c.Turn != "" }):
		return launch.Alone
	case made == 0:
		return 1
	}
	return len(calls)
}

// begin divides launches into calls.
func (p *Provider) begin(items []order, results outcomes) []*call {
	plans := make(map[*launch.Order]*plan, len(items))
	orders := make([]*launch.Order, len(items))
	for i, l := range items {
		orders[i], plans[l.Order] = l.Order, l.plan
	}
	begun, busy := p.book.Begin(orders)
	for _, o := range busy {
		results[o] = outcome{Err: launch.ErrBusy}
	}
	calls := make([]*call, len(begun))
	for i, b := range begun {
		plan := plans[b.Orders[0]]
		c := &call{Call: b, p: p, plan: plan, spec: plan.spec, templates: plan.templates}
		if b.Turn != "" {
			c.ofTurn(b.Turn)
		}
		b.Make = func(ctx context.Context) error { return c.work(ctx, outcomes{}) }
		calls[i] = c
	}
	return calls
}

// runAll makes calls at once, and returns why the first of them that missed something did.
func runAll(ctx context.Context, calls []*call, results outcomes) error {
	parts, missed := make([]outcomes, len(calls)), make([]error, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		parts[i] = outcomes{}
		wg.Go(func() { missed[i] = c.run(ctx, parts[i]) })
	}
	wg.Wait()
	for _, part := range parts {
		maps.Copy(results, part)
	}
	return cmp.Or(missed...)
}

// run makes the call and notes the outcome of each launch. It returns why some have
// none, so that it is of no use to ask for more of the same.
func (c *call) run(ctx context.Context, results outcomes) error {
	defer c.Release()
	return c.work(ctx, results)
}

// abandon gives up a call that was not made.
func (c *call) abandon(results outcomes, why error) {
	defer c.Release()
	c.p.book.End(c.Call, launch.Answer{})
	_ = c.fail(results, why)
}

// work makes the call.
func (c *call) work(ctx context.Context, results outcomes) error {
	for try := 0; ; try++ {
		done, err := c.prepare(ctx)
		if err != nil {
			done()
			c.claim.Settle(nil)
			if c.input == nil {
				c.p.book.End(c.Call, launch.Answer{})
			}
			return c.fail(results, err)
		}
		out, err := c.p.clients.EC2.CreateFleet(ctx, c.input)
		done()
		if err == nil {
			return c.answer(ctx, out, results)
		}
		code := api.Code(err)
		switch {
		case isLostTemplate(code) && try == 0:
			c.forgetTemplates()
			continue
		case code == "IdempotentParameterMismatch":
			return c.mismatch(ctx, results)
		case inDoubt(err):
			c.doubt = true
			return c.fail(results, fault("Create", "", cloudprovider.KindUnknown,
				"EC2 did not say whether it launched anything: %w; repeat with the same token", err))
		}
		if c.doubt {
			// Refusing it now says nothing of the time before.
			if api.Kind(err) == cloudprovider.KindDenied {
				return c.mismatch(ctx, results)
			}
			return c.fail(results, callError(err))
		}
		c.claim.Settle(nil)
		c.p.book.End(c.Call, launch.Answer{})
		failed := callError(err)
		var e *cloudprovider.Error
		if errors.As(failed, &e) {
			c.early(e)
		}
		return c.fail(results, failed)
	}
}

func isLostTemplate(code string) bool {
	return strings.HasPrefix(code, "InvalidLaunchTemplateName.NotFound") || code == "InvalidLaunchTemplateId.NotFound"
}

// inDoubt reports whether a call that failed may have launched something: EC2 gave
// no answer, or one that it could not carry the call to its end.
func inDoubt(err error) bool {
	code := api.Code(err)
	if code == "" {
		return true
	}
	if api.Kind(err) == cloudprovider.KindThrottled { // which EC2 says with status 503
		return false
	}
	var answer interface{ HTTPStatusCode() int }
	if errors.As(err, &answer) && answer.HTTPStatusCode() >= 500 {
		return true
	}
	return slices.Contains([]string{"InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable"}, code)
}

// callError is the error of a call that EC2 refused as a whole.
func callError(err error) error {
	code := api.Code(err)
	wrapped := api.Wrap("Create", "", err)
	kind, remedy := launch.Cause(code, err.Error())
	if remedy == "" || kind == cloudprovider.KindUnknown {
		return wrapped
	}
	return &cloudprovider.Error{Op: "Create", Kind: kind, Reason: code, RetryAfter: cloudprovider.RetryAfter(wrapped),
		Err: fmt.Errorf("%s; %s%w", api.Message(err), remedy, quiet{err})}
}

// quiet keeps a cause in the tree of an error without saying it twice.
type quiet struct{ err error }

func (quiet) Error() string   { return "" }
func (q quiet) Unwrap() error { return q.err }

// fail gives every launch of the call the error.
func (c *call) fail(results outcomes, err error) error {
	for _, o := range c.Orders {
		results[o] = outcome{Err: named(err, o)}
	}
	return err
}

// named is an error with the name of the NodeClaim in it.
func named(err error, o *launch.Order) error {
	var e *cloudprovider.Error
	if !errors.As(err, &e) {
		return api.Wrap("Create", o.Request.Name, err)
	}
	one := *e
	one.Op, one.Object = "Create", o.Request.Name
	return &one
}
