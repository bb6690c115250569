package cloudprovidertest

import (
	"context"
	"errors"
	"fmt"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// call is a method with arguments for an instance that exists.
type call struct {
	method string
	do     func(ctx context.Context) error
}

// calls returns all methods that ask the cloud. Create gets a new request, and its instance is sent
// to the channel.
func (p *probe) calls(created chan<- *cloudprovider.Instance) []call {
	id, req := p.launch(p.request()).ID, p.request()
	all := []call{
		{"InstanceTypes", func(ctx context.Context) error { _, err := p.Provider.InstanceTypes(ctx, p.Pool); return err }},
		{"Create", func(ctx context.Context) error {
			instance, err := p.Provider.Create(ctx, req)
			if err == nil {
				created <- instance
			}
			return err
		}},
		{"Get", func(ctx context.Context) error { _, err := p.Provider.Get(ctx, id); return err }},
		{"List", func(ctx context.Context) error { _, err := p.Provider.List(ctx); return err }},
	}
	if able[cloudprovider.InterruptionSource](p.Provider) {
		all = append(all, call{"Interruptions", func(ctx context.Context) error {
			_, err := cloudprovider.Interruptions(ctx, p.Provider)
			return err
		}})
	}
	// Last, because the cloud may carry it out even if the call fails.
	return append(all, call{"Delete", func(ctx context.Context) error { return p.Provider.Delete(ctx, id) }})
}

// ended fails unless a call returned the error of its done context.
func (p *probe) ended(method string, err error) {
	switch {
	case err == nil:
		p.fail("%s: it returned no error", method)
	case !errors.Is(err, context.Canceled):
		p.fail("%s: the error does not wrap %v: %v", method, context.Canceled, err)
	}
}

// keepAll records the instances in the channel for deletion.
func (p *probe) keepAll(created chan *cloudprovider.Instance) {
	close(created)
	for instance := range created {
		_, _ = p.keep(p.Provider, instance, nil)
	}
}

func callCancelled(p *probe) {
	created := make(chan *cloudprovider.Instance, 1)
	defer p.keepAll(created)
	calls := p.calls(created)
	ctx, cancel := context.WithCancel(p.ctx)
	cancel()
	for _, c := range calls {
		p.ended(c.method, c.do(ctx))
	}
}

func callThrottled(p *probe) {
	created := make(chan *cloudprovider.Instance, 2)
	defer p.keepAll(created)
	for _, c := range p.calls(created) {
		if c.method == "InstanceTypes" || c.method == "Interruptions" {
			continue // they may answer from what they have
		}
		p.Fail(c.method, cloudprovider.KindThrottled)
		// A client library may have repeated the call.
		if err := c.do(p.ctx); err != nil {
			p.kind(c.method, err, cloudprovider.KindThrottled)
		}
	}
}

func callConcurrent(p *probe) {
	before := p.machines()
	reqs := make([]cloudprovider.LaunchRequest, crowd)
	for i := range reqs {
		reqs[i] = p.request()
	}
	instances := make([]*cloudprovider.Instance, crowd)
	errs := parallel(crowd, func(i int) (err error) {
		if instances[i], err = p.Provider.Create(p.ctx, reqs[i]); err != nil {
			return fmt.Errorf("in Create: %w", err)
		}
		if _, err := p.Provider.InstanceTypes(p.ctx, p.Pool); err != nil {
			return fmt.Errorf("in InstanceTypes: %w", err)
		}
		if _, err := p.Provider.List(p.ctx); err != nil {
			return fmt.Errorf("in List: %w", err)
		}
		got, err := p.Provider.Get(p.ctx, instances[i].ID)
		if err != nil {
			return fmt.Errorf("in Get: %w", err)
		}
		if got.Name != reqs[i].Name {
			return fmt.Errorf("in Get: it returned %q for the instance of %q", got.Name, reqs[i].Name)
		}
		if i%2 == 0 {
			if err := p.Provider.Delete(p.ctx, instances[i].ID); err != nil {
				return fmt.Errorf("in Delete: %w", err)
			}
		}
		return nil
	})
	for i, err := range errs {
		if instances[i] != nil {
			_, _ = p.keep(p.Provider, instances[i], nil)
		}
		if err != nil {
			p.fail("one of %d calls at once: %v", crowd, err)
		}
	}
	if len(p.failures) == 0 {
		p.more(before, crowd/2)
	}
}

func callKept(p *probe) {
	types := p.types()
	req := p.request()
	instance := p.launch(req)
	got, err := p.Provider.Get(p.ctx, instance.ID)
	p.must(err == nil && got != nil, "Get: %v", err)
	tell := func() []string {
		all := []string{tellInstance(instance), tellInstance(got)}
		for _, t := range types {
			all = append(all, describe(t)+market(t))
		}
		return all
	}
	before := tell()
	if p.RunDry != nil {
		p.RunDry(keys(req.Options)...)
		_, _ = p.create(p.Provider, p.request()) // it is refused
	}
	p.goneBy(p.Provider, instance.ID)
	p.age()
	_, err = p.Provider.InstanceTypes(p.ctx, p.Pool)
	p.must(err == nil, "InstanceTypes: %v", err)
	for i, now := range tell() {
		if now != before[i] {
			p.fail("it was returned as\n%s\nand has become\n%s", before[i], now)
		}
	}
}

// market returns the prices and stock of a type, which describe leaves out.
func market(t *cloudprovider.InstanceType) (text string) {
	for i := range t.Offerings {
		o := &t.Offerings[i]
		text += fmt.Sprintf("; %s for %v, available %v, %d reserved", o.Key(t.Name), o.Price, o.Available, o.ReservationCapacity)
	}
	return text
}

func tellInstance(i *cloudprovider.Instance) string {
	return fmt.Sprintf("%s %q %q %s, image %s, labels %v, allocatable %s, price %v, deleting %v", i.ID, i.Name, i.NodePool,
		i.OfferingKey(), i.ImageID, i.Labels, i.Allocatable, i.Price, i.Deleting)
}

func callConstant(p *probe) {
	tell := func() string {
		text := fmt.Sprintf("name %q", cloudprovider.Name(p.Provider))
		if s, ok := cloudprovider.As[cloudprovider.NodeClassSupporter](p.Provider); ok {
			text += fmt.Sprintf(", node classes %v", s.SupportedNodeClasses())
		}
		for _, policy := range cloudprovider.RepairPolicies(p.Provider) {
			text += fmt.Sprintf(", %s=%s %q %v %s", policy.ConditionType, policy.ConditionStatus, policy.ReasonRegex,
				policy.TolerationDuration, policy.Action)
		}
		return text
	}
	first := tell()
	p.launch(p.request())
	if second := tell(); first != second {
		p.fail("at first the provider had %s; and then %s", first, second)
	}
	if able[cloudprovider.Namer](p.Provider) && cloudprovider.Name(p.Provider) == "" {
		p.fail("Name: empty; return a short name such as aws")
	}
}
