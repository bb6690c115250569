package aws

import (
	"context"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Create launches one instance by one of the options, as cloudprovider.CloudProvider
// says. In this order:
//
//  1. A token whose instance is known returns it. If the answer of an earlier call for the token is
//     not known, that call is repeated unchanged, and EC2 answers with the instance that it
//     launched. Before its first launch the process makes sure that EC2 carries out no more calls
//     of earlier processes, and reads which instances exist for which tokens. While EC2 may not
//     list all recent instances yet, the error is KindUnknown: repeat the call. A token whose
//     instance is gone is KindNotFound.
//  2. The class must exist and be ready.
//  3. Options that EC2 refused recently are left out, and the rest is filtered and ordered: one
//     kind of reservation; no unusual instance types unless the request asks for them; no spot
//     capacity dearer than on demand; at most sixty instance types. Reserved capacity goes first,
//     then spot, then on demand; one call asks for one of these.
//  4. Launch templates are made where they are missing: one for each image, number
//     of pods and reservation.
//  5. In each zone the subnet with most free addresses is chosen.
//  6. CreateFleet is called: for each of up to ten waiting requests that ask for the same, or once
//     for all if there are more. If EC2 does not list the launch templates for many yet, that is
//     KindNotReady.
//
// If a call gives fewer instances than there are requests, the instances are kept and the other
// requests get the error. Offerings that EC2 refused are not Available for a while, see
// Availability.
//
// The name of the request, if it has one, must be valid as the value of a tag.
func (p *Provider) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if err := creatable(ctx, &req); err != nil {
		return nil, err
	}
	i, err := p.book.Once(ctx, &req, p.launched, p.launch)
	return i, api.Wrap("Create", req.Name, err)
}

// launch plans and launches an instance for a request that has none.
func (p *Provider) launch(ctx context.Context, req *cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	plan, err := p.plan(ctx, req)
	if err != nil {
		return nil, err
	}
	return p.launches.Do(ctx, plan.key, order{p.book.Order(req, plan.room), plan})
}

// creatable returns why a request cannot be tried at all, or nil.
func creatable(ctx context.Context, req *cloudprovider.LaunchRequest) error {
	if err := req.Validate(); err != nil {
		return err
	}
	if err := launch.CheckName(req.Name); err != nil {
		return &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindDenied, Object: req.Name, Err: err}
	}
	return api.Wrap("Create", req.Name, context.Cause(ctx))
}

// launched answers a repeated call for a token that has an instance.
func (p *Provider) launched(ctx context.Context, req *cloudprovider.LaunchRequest, k *launch.Machine) (*cloudprovider.Instance, error) {
	switch {
	case k.Over():
		return nil, fault("Create", req.Name, cloudprovider.KindNotFound, "the instance of this token, %s, is gone or going down; use another token", k.ID)
	case k.Launched != nil:
		return k.Launched, nil
	}
	return p.describeKnown(ctx, *k, nil), nil
}
