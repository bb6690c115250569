package aws

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/aws/internal/launchtemplate"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Provider launches, finds and deletes the machines of one cluster on Amazon EC2.
// Create it with New. It implements cloudprovider.CloudProvider, and of its
// abilities all but cloudprovider.Rebooter.
type Provider struct {
	opts       Options
	clients    Clients
	vocabulary *requirements.Vocabulary

	asking    *cache.Asking
	sources   *nodeclass.Sources
	resolver  *nodeclass.Resolver
	offerings *instancetype.Builder
	instances *launch.Instances
	templates *launchtemplate.Store
	profiles  *nodeclass.Keeper
	addresses *launch.Addresses
	launches  *batcher.Group[string, order, *cloudprovider.Instance]
	book      *launch.Book
	settled   atomic.Bool // nothing comes any more of single launches of processes before this one

	dryRuns   *cache.Keyed[trial]
	available *availability.Cache
	groups    groupAvailability

	interruptions interruptionState
}

// groupAvailability has a cache for each placement group: what is refused
// in a group may be had outside of it.
type groupAvailability struct {
	mu  sync.Mutex
	all map[string]*availability.Cache
}

// Name returns "aws".
func (p *Provider) Name() string { return "aws" }

// Vocabulary returns that of aws/api/v1: labels of EC2 are well-known, and the
// domain karpenter.k8s.aws is restricted.
func (p *Provider) Vocabulary() *requirements.Vocabulary { return p.vocabulary }

// SupportedNodeClasses returns EC2NodeClass of the group karpenter.k8s.aws.
func (p *Provider) SupportedNodeClasses() []schema.GroupKind {
	return []schema.GroupKind{awsv1.Kind(awsv1.EC2NodeClassKind)}
}

// Availability returns what is remembered of offerings that EC2 refused, outside of
// placement groups. Marks that the caller makes count.
func (p *Provider) Availability() *availability.Cache { return p.available }

// availability returns that of a placement group, or the general one for "".
func (p *Provider) availability(group string) *availability.Cache {
	if group == "" {
		return p.available
	}
	p.groups.mu.Lock()
	defer p.groups.mu.Unlock()
	a := p.groups.all[group]
	if a == nil {
		// New has tried the options.
		a, _ = availability.New(p.opts.Now, p.opts.Availability)
		if p.groups.all == nil {
			p.groups.all = map[string]*availability.Cache{}
		}
		p.groups.all[group] = a
	}
	return a
}

// Refresh asks AWS, side by side, for the prices, and again for whatever else is due
// of what was asked before and whose answer somebody has used since, or could not be
// renewed, and returns when all of that has an answer. The error is that of ctx when it is done first; or it
// joins why answers could not be renewed: those of before stay in force.
//
// Nothing else waits for an answer where there is one of before: see "Look-ups" in the
// comment of the package. So call it once before the first plan, with a deadline, for
// the prices of today; and in a program that does not ask for InstanceTypes every
// minute or so, before a plan that is to go by what AWS says at that moment.
func (p *Provider) Refresh(ctx context.Context) error {
	if _, err := p.sources.Prices(ctx); err != nil {
		return err
	}
	faults := []error{p.sources.Refresh(ctx)}
	for _, wait := range p.dryRuns.Renew(ctx) { // with what was just looked up
		faults = append(faults, wait())
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(faults...)
}

// Close sends what waits to be sent, ends what is being looked up, and returns when
// everything under way has an answer, and every goroutine of the Provider has ended,
// or with the error of ctx when that is done. Calls after it fail.
func (p *Provider) Close(ctx context.Context) error {
	return errors.Join(p.launches.Close(ctx), p.instances.Close(ctx), p.asking.Close(ctx))
}

func (p *Provider) now() time.Time { return p.opts.Now() }

func (p *Provider) warn(reason, object, format string, args ...any) {
	p.opts.Warn(Warning{Reason: reason, Object: object, Detail: fmt.Sprintf(format, args...)})
}

// fault returns an error of this package.
func fault(op, object string, kind cloudprovider.Kind, format string, args ...any) error {
	return &cloudprovider.Error{Op: op, Kind: kind, Object: object, Err: fmt.Errorf(format, args...)}
}
