package aws

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/classes"
	"github.com/dovetail-sdk/dovetail/aws/internal/instances"
	"github.com/dovetail-sdk/dovetail/aws/internal/offerings"
	"github.com/dovetail-sdk/dovetail/aws/internal/profile"
	"github.com/dovetail-sdk/dovetail/aws/internal/source"
	"github.com/dovetail-sdk/dovetail/aws/internal/subnets"
	"github.com/dovetail-sdk/dovetail/aws/internal/template"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/coalesce"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Provider launches, finds and deletes the machines of one cluster on Amazon EC2.
// Create it with New. It implements cloudprovider.CloudProvider, and of its
// abilities all but cloudprovider.Rebooter.
type Provider struct {
	opts       Options
	clients    Clients
	vocabulary *requirements.Vocabulary

	sources   *source.Sources
	resolver  *classes.Resolver
	offerings *offerings.Builder
	instances *instances.Client
	templates *template.Store
	profiles  *profile.Keeper
	addresses *subnets.Ledger
	launches  *coalesce.Group[string, *launch, *cloudprovider.Instance]

	ledger    *ledger
	flights   flights
	dryRuns   dryRuns
	available *cloudprovider.Availability
	groups    groupAvailability

	interruptions interruptionState
}

// groupAvailability has an Availability for each placement group: what is refused
// in a group may be had outside of it.
type groupAvailability struct {
	mu  sync.Mutex
	all map[string]*cloudprovider.Availability
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
func (p *Provider) Availability() *cloudprovider.Availability { return p.available }

// availability returns that of a placement group, or the general one for "".
func (p *Provider) availability(group string) *cloudprovider.Availability {
	if group == "" {
		return p.available
	}
	p.groups.mu.Lock()
	defer p.groups.mu.Unlock()
	a := p.groups.all[group]
	if a == nil {
		// New has tried the options.
		a, _ = cloudprovider.NewAvailability(p.opts.Now, p.opts.Availability)
		if p.groups.all == nil {
			p.groups.all = map[string]*cloudprovider.Availability{}
		}
		p.groups.all[group] = a
	}
	return a
}

// Close sends what waits to be sent, and returns when everything under way has an
// answer, or with the error of ctx when that is done. Calls after it fail.
func (p *Provider) Close(ctx context.Context) error {
	return errors.Join(p.launches.Close(ctx), p.instances.Close(ctx))
}

func (p *Provider) now() time.Time { return p.opts.Now() }

func (p *Provider) warn(reason, object, format string, args ...any) {
	p.opts.Warn(Warning{Reason: reason, Object: object, Detail: fmt.Sprintf(format, args...)})
}

// fault returns an error of this package.
func fault(op, object string, kind cloudprovider.Kind, format string, args ...any) error {
	return &cloudprovider.Error{Op: op, Kind: kind, Object: object, Err: fmt.Errorf(format, args...)}
}
