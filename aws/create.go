package aws

import (
	"context"
	"errors"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/roster"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Create launches one instance by one of the options, as cloudprovider.CloudProvider
// says. In this order:
//
//  1. A token whose instance is known returns it. If the answer of an earlier call
//     for the token is not known, that call is repeated word for word, which has
//     EC2 say what it launched. Before its first launch the process reads which
//     instances there are, and for which tokens; while EC2 may not list all yet of
//     what was launched for a token and others a moment ago, that is KindUnknown,
//     to be repeated. A token whose instance is gone is KindNotFound.
//  2. The class must exist and be ready.
//  3. Options that EC2 refused of late are left out, and the rest is filtered and
//     ordered: one kind of reservation; nothing out of the ordinary unless asked
//     for; no spot capacity dearer than on demand; sixty instance types. Reserved
//     capacity goes first, then spot, then on demand; one call takes one of them.
//  4. Launch templates are made where they are missing: one for each image, number
//     of pods and reservation.
//  5. In each zone the subnet with most free addresses is chosen.
//  6. CreateFleet is called, once for all requests at hand that ask for the same.
//
// Of a call that gives fewer instances than there are requests, the instances are
// kept, and the other requests get the error. What EC2 refused is not available for
// a while, see Availability.
//
// The name of the request, if it has one, must be good for the value of a tag.
func (p *Provider) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if err := roster.CheckName(req.Name); err != nil {
		return nil, &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindDenied, Object: req.Name, Err: err}
	}
	if ctx.Err() != nil {
		return nil, api.Wrap("Create", req.Name, context.Cause(ctx))
	}
	i, err := p.flights.do(ctx, req.Token, func(ctx context.Context) (*cloudprovider.Instance, error) { return p.create(ctx, &req) })
	if err != nil {
		return nil, api.Wrap("Create", req.Name, err)
	}
	return i, nil
}

// create is Create for one of all callers with a token.
func (p *Provider) create(ctx context.Context, req *cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	for {
		i, found, err := p.existing(ctx, req)
		if found || err != nil {
			return i, err
		}
		plan, err := p.plan(ctx, req)
		if err != nil {
			return nil, err
		}
		l := &launch{req: *req, plan: plan, number: p.ledger.number(req.Token)}
		i, err = p.launches.Do(ctx, plan.key, l)
		if !errors.Is(err, errBusy) {
			return i, err
		}
	}
}

// existing returns the instance that there is for a request.
func (p *Provider) existing(ctx context.Context, req *cloudprovider.LaunchRequest) (*cloudprovider.Instance, bool, error) {
	p.ledger.launch()
	for {
		// First: what is looked up before the reading has ended may be missing.
		if _, err := p.ledger.hydrate(ctx, p.instances); err != nil {
			return nil, false, err
		}
		if wait, read := p.ledger.unsureFor(req.Token); read {
			continue
		} else if wait > 0 {
			return nil, false, &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindUnknown, Object: req.Name, RetryAfter: wait,
				Err: errors.New("a process before this one launched instances for this and other requests a moment ago, and EC2 may not list all of them yet; repeat with the same token")}
		}
		k, c := p.ledger.of(req.Token, req.Name)
		switch {
		case k != nil:
			i, err := p.repeated(ctx, req, k)
			return i, true, err
		case c == nil:
			return nil, false, nil
		}
		if err := c.again(ctx); err != nil {
			return nil, false, err
		}
	}
}

// repeated answers a repeated call for a token that has an instance.
func (p *Provider) repeated(ctx context.Context, req *cloudprovider.LaunchRequest, k *known) (*cloudprovider.Instance, error) {
	if k.gone || !k.ended.IsZero() || k.record != nil && k.record.Terminating {
		return nil, fault("Create", req.Name, cloudprovider.KindNotFound, "the instance of this token, %s, is gone or going down; use another token", k.id)
	}
	if k.launched != nil {
		return k.launched, nil
	}
	return p.describeKnown(ctx, *k, nil), nil
}
