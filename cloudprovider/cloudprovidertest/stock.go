package cloudprovidertest

import (
	"errors"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func keys(options []cloudprovider.LaunchOption) []cloudprovider.OfferingKey {
	out := make([]cloudprovider.OfferingKey, len(options))
	for i, o := range options {
		out[i] = o.Key()
	}
	return out
}

// covers reports whether a refusal covers an offering.
func covers(e *cloudprovider.Error, key cloudprovider.OfferingKey) bool {
	return slices.Contains(e.Offerings, key) ||
		slices.ContainsFunc(e.Scopes, func(s cloudprovider.Scope) bool { return s.Covers(key) })
}

// refusal returns the *Error of a Create without stock, or nil if err is not one.
func (p *probe) refusal(err error) *cloudprovider.Error {
	p.kind("Create", err, cloudprovider.KindInsufficientCapacity)
	if cloudprovider.KindOf(err) != cloudprovider.KindInsufficientCapacity {
		return nil
	}
	var e *cloudprovider.Error
	if !errors.As(err, &e) {
		p.fail("Create: the error has no *cloudprovider.Error in it, so that nothing says what was refused: %v", err)
	}
	return e
}

// stocked returns the launchable offerings, in the order of the catalog.
func (p *probe) stocked() (out []cloudprovider.OfferingKey) {
	for _, t := range p.types() {
		for i := range t.Offerings {
			if o := &t.Offerings[i]; o.Launchable() {
				out = append(out, o.Key(t.Name))
			}
		}
	}
	return out
}

func stockListed(p *probe) {
	req := p.request()
	dry := keys(req.Options)
	p.RunDry(dry...)
	_, _ = p.create(p.Provider, req) // it is refused, and the provider marks the offering
	p.age()
	listed := map[cloudprovider.OfferingKey]bool{}
	for _, t := range p.types() {
		for i := range t.Offerings {
			listed[t.Offerings[i].Key(t.Name)] = true
		}
	}
	for _, key := range dry {
		if !listed[key] {
			p.fail("InstanceTypes: %s is out of stock, and missing from the catalog; keep it there, with Available false", key)
			return
		}
	}
}

func stockRestored(p *probe) {
	req := p.request()
	req.Options = req.Options[:1]
	key := req.Options[0].Key()
	p.RunDry(key)
	_, _ = p.create(p.Provider, req) // it is refused, and the provider marks the offering
	p.Restock(key)
	text := "InstanceTypes: %s has been in stock again for an hour and is not Available; let what was refused be forgotten after some minutes, as availability.Cache does"
	for range 60 {
		p.Advance(time.Minute)
		if !slices.Contains(p.stocked(), key) {
			continue
		}
		req.Token = p.unused()
		req.Name = req.Token
		if _, err := p.create(p.Provider, req); err == nil {
			return
		}
		text = "Create: %s has been in stock again for an hour and Available, and it is still refused; let what was refused be forgotten after some minutes"
	}
	p.fail(text, key)
}

func stockAll(p *probe) {
	req := p.request()
	// Of one capacity type, because some clouds accept only one in a call.
	capacityType := req.Options[0].Offering.CapacityType
	req.Options = slices.DeleteFunc(req.Options, func(o cloudprovider.LaunchOption) bool {
		return o.Offering.CapacityType != capacityType
	})
	// One offering stays in stock and is not asked for, even in a small catalog.
	if last := len(req.Options) - 1; last > 0 {
		req.Options = req.Options[:last]
	}
	all := keys(req.Options)
	before, stocked := p.machines(), p.stocked()
	p.RunDry(all...)
	instance, err := p.create(p.Provider, req)
	if err == nil && !slices.Contains(all, instance.OfferingKey()) {
		p.fail("Create: every option was out of stock, and it launched %s, which is none of them", instance.OfferingKey())
	}
	if e := p.refusal(err); e != nil {
		tried := all
		if p.Tries > 0 {
			tried = all[:min(len(all), p.Tries)]
		}
		for _, key := range tried {
			if !covers(e, key) {
				p.fail("Create: it was refused %s, but the error does not name it; if the provider did not try it, set Harness.Tries", key)
			}
		}
		beyond := slices.DeleteFunc(stocked, func(key cloudprovider.OfferingKey) bool { return slices.Contains(all, key) || !covers(e, key) })
		if len(beyond) > 0 {
			p.fail("Create: the error covers %d offerings that were not asked for, such as %s; name no more than what the cloud refused", len(beyond), beyond[0])
		}
	}
	p.more(before, 0)
}

func stockSome(p *probe) {
	req := p.request()
	if len(req.Options) < 2 {
		panic(skip("it takes two offerings; widen Harness.Pool or Harness.Only"))
	}
	all := keys(req.Options)
	dry := all[:1]
	p.RunDry(dry...)
	instance, err := p.create(p.Provider, req)
	if err == nil {
		if slices.Contains(dry, instance.OfferingKey()) {
			p.fail("Create: it launched %s, of which there is none", instance.OfferingKey())
		}
		return
	}
	if e := p.refusal(err); e != nil {
		for _, key := range all[1:] {
			if covers(e, key) {
				p.fail("Create: the error names %s, which is in stock", key)
			}
		}
	}
}
