package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/fleet"
	"github.com/dovetail-sdk/dovetail/aws/internal/roster"
	"github.com/dovetail-sdk/dovetail/aws/internal/source"
	"github.com/dovetail-sdk/dovetail/aws/internal/subnets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/coalesce"
)

type outcome = coalesce.Outcome[*cloudprovider.Instance]

// call is one call of CreateFleet, for some launches of one plan. From when it is
// made until its answer is known, the ledger has it for the token of each of them,
// so nothing else is launched for these.
type call struct {
	p     *Provider
	plan  *plan
	items []*launch // in the order of their marks, as in the roster
	tags  map[string]string
	token string

	lock chan struct{} // holds a value while nobody works on the call
	// What follows belongs to whoever works on the call.
	input   *ec2.CreateFleetInput
	zones   map[string]string // by subnet
	claim   *subnets.Claim
	settled bool // the answer is known
	doubt   bool // it was made, and EC2 gave no answer
}

// errBusy is the outcome of a launch whose token another call is under way for, or
// has launched an instance for.
var errBusy = errors.New("a launch with this token is under way")

// launchBatch is the backend of Provider.launches: launches with plans of one key.
func (p *Provider) launchBatch(ctx context.Context, _ string, items []*launch) ([]outcome, error) {
	results := make(map[*launch]outcome, len(items))
	calls := p.calls(items, results)
	if len(calls) > 0 {
		missed := calls[0].run(ctx, results)
		if missed == nil {
			runAll(ctx, calls[1:], results)
		}
		// If some got nothing, the other calls ask for the same and would be refused
		// the same.
		for _, c := range calls[1:] {
			if missed != nil {
				c.abandon(results, missed)
			}
		}
	}
	outcomes := make([]outcome, len(items))
	for i, l := range items {
		outcomes[i] = results[l]
	}
	return outcomes, nil
}

// runAll makes calls at once.
func runAll(ctx context.Context, calls []*call, results map[*launch]outcome) {
	parts := make([]map[*launch]outcome, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		parts[i] = map[*launch]outcome{}
		wg.Go(func() { _ = c.run(ctx, parts[i]) })
	}
	wg.Wait()
	for _, part := range parts {
		maps.Copy(results, part)
	}
}

// calls divides launches into calls, and enters these into the ledger. Launches for
// whose token there is one already get errBusy.
func (p *Provider) calls(items []*launch, results map[*launch]outcome) []*call {
	left := slices.SortedFunc(slices.Values(items), func(a, b *launch) int {
		return cmp.Or(strings.Compare(roster.Mark(a.req.Token), roster.Mark(b.req.Token)), cmp.Compare(a.number, b.number))
	})
	var calls []*call
	for len(left) > 0 {
		c := &call{p: p, plan: left[0].plan, lock: make(chan struct{}, 1)}
		n := c.take(left)
		for _, l := range left[:n] {
			if p.ledger.claim(l.req.Token, c) {
				c.items = append(c.items, l)
			} else {
				results[l] = outcome{Err: errBusy}
			}
		}
		left = left[n:]
		if len(c.items) > 0 {
			c.name()
			calls = append(calls, c)
		}
	}
	return calls
}

// entries are the launches as a roster has them.
func entries(items []*launch) []roster.Entry {
	out := make([]roster.Entry, len(items))
	for i, l := range items {
		out[i] = roster.Entry{Token: l.req.Token, Name: l.req.Name}
	}
	return out
}

// take returns how many of the launches fit into one call.
func (c *call) take(left []*launch) int {
	_, n := roster.Make("", c.plan.pool, entries(left), c.plan.room)
	return max(n, 1)
}

// name sets token and tags of the call by its launches.
func (c *call) name() {
	parts := []string{c.p.opts.Cluster.Name}
	for _, l := range c.items {
		parts = append(parts, l.req.Token, strconv.Itoa(l.number))
	}
	c.token = roster.ClientToken(parts...)
	c.tags, _ = roster.Make(c.token, c.plan.pool, entries(c.items), c.plan.room)
	if name := c.items[0].req.Name; len(c.items) == 1 && name != "" {
		c.tags[awsv1.NodeClaimTagKey] = name
	}
}

// run makes the call and notes the outcome of each launch. It returns why some have
// none, so that it is of no use to ask for more of the same.
func (c *call) run(ctx context.Context, results map[*launch]outcome) error {
	defer c.release()
	return c.work(ctx, results)
}

func (c *call) release() { c.lock <- struct{}{} }

// again makes a call whose answer is not known once more, word for word: EC2 then
// says what it has launched, and launches nothing that it has launched already. It
// waits for whoever works on the call, and returns nil once the answer is known.
func (c *call) again(ctx context.Context) error {
	select {
	case <-c.lock:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer c.release()
	if c.settled {
		return nil
	}
	err := c.work(ctx, map[*launch]outcome{})
	if c.settled {
		return nil
	}
	return err
}

// abandon gives up a call that was not made.
func (c *call) abandon(results map[*launch]outcome, why error) {
	defer c.release()
	c.settle(false)
	for _, l := range c.items {
		results[l] = outcome{Err: named(why, l)}
	}
}

// settle notes that the answer is known. answered says that EC2 has used the token
// of the call, so that launches without an instance need another one.
func (c *call) settle(answered bool) {
	c.settled = true
	for _, l := range c.items {
		c.p.ledger.try(l.req.Token, func(a *attempt) {
			if a.call == c {
				a.call = nil
				if answered {
					a.number, a.mismatch = l.number+1, time.Time{}
				}
			}
		})
	}
}

// work makes the call.
func (c *call) work(ctx context.Context, results map[*launch]outcome) error {
	for try := 0; ; try++ {
		done, err := c.prepare(ctx)
		if err != nil {
			done()
			c.claim.Settle(nil)
			if c.input == nil {
				c.settle(false)
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
		c.settle(false)
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
	kind, remedy := fleet.Cause(code, err.Error())
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
func (c *call) fail(results map[*launch]outcome, err error) error {
	for _, l := range c.items {
		results[l] = outcome{Err: named(err, l)}
	}
	return err
}

// named is an error with the name of the NodeClaim in it.
func named(err error, l *launch) error {
	var e *cloudprovider.Error
	if !errors.As(err, &e) {
		return api.Wrap("Create", l.req.Name, err)
	}
	one := *e
	one.Op, one.Object = "Create", l.req.Name
	return &one
}

// prepare makes the launch templates and writes the call, the first time. done lets
// go of the templates; it is never nil.
func (c *call) prepare(ctx context.Context) (done func(), err error) {
	done, err = c.useTemplates(ctx)
	if err != nil || c.input != nil {
		return done, err
	}
	need := map[string]int64{}
	for zone, pods := range c.plan.addresses {
		need[zone] = pods * int64(len(c.items))
	}
	candidates := subnetsOf(c.plan.subnets)
	chosen, claim := c.p.addresses.Choose(c.p.now(), candidates, need)
	c.claim = claim
	inZone := map[string]string{}
	c.zones = map[string]string{}
	for zone, s := range chosen {
		inZone[zone] = s.ID
		c.zones[s.ID] = zone
	}
	in, err := c.plan.spec.Request(fleet.Call{Count: len(c.items), Token: c.token, Subnets: inZone, Tags: c.tags})
	if err != nil {
		return done, c.noSubnet(err, candidates)
	}
	c.input = in
	return done, nil
}

// noSubnet is the error if no subnet is left in any zone.
func (c *call) noSubnet(err error, candidates []subnets.Subnet) error {
	e := &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindInsufficientCapacity, Reason: "InsufficientFreeAddressesInSubnet",
		Err: fmt.Errorf("EC2NodeClass %s: %w that has free addresses; give it larger subnets, or more", c.plan.class.Name, err)}
	full := false
	for _, g := range c.plan.spec.Groups {
		for _, o := range g.Options {
			full = full || c.p.addresses.AllFull(o.Offering.Zone, candidates)
			e.Offerings = append(e.Offerings, o.Key())
		}
	}
	if !full {
		e.Reason = "SubnetResolutionFailed"
		e.Err = fmt.Errorf("EC2NodeClass %s: %w; select a subnet in one of their zones by spec.subnetSelectorTerms", c.plan.class.Name, err)
	}
	return e
}

func subnetsOf(all []source.Subnet) []subnets.Subnet {
	out := make([]subnets.Subnet, len(all))
	for i, s := range all {
		out[i] = subnets.Subnet{ID: s.ID, Zone: s.Zone, Free: s.Free, At: s.At}
	}
	return out
}

// useTemplates makes sure that the launch templates are there, all at once.
func (c *call) useTemplates(ctx context.Context) (done func(), err error) {
	all := c.plan.templates
	dones, errs := make([]func(), len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { dones[i], errs[i] = c.p.templates.Use(ctx, all[i]) })
	}
	wg.Wait()
	done = func() {
		for _, d := range dones {
			if d != nil {
				d()
			}
		}
	}
	for _, err := range errs {
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

func (c *call) forgetTemplates() {
	for _, t := range c.plan.templates {
		c.p.templates.Forget(t.Name)
	}
}
