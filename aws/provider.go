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
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
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

// Provider launches, finds and deletes the machines of one cluster on Amazon EC2. Create it with
// New. It implements cloudprovider.CloudProvider and all optional interfaces of that package except
// cloudprovider.Rebooter.
type Provider struct {
	opts       Options
	clients    Clients
	vocabulary *requirements.Vocabulary

	asking       *cache.Asking
	sources      *nodeclass.Sources
	resolver     *nodeclass.Resolver
	offerings    *instancetype.Builder
	instances    *launch.Instances
	templates    *launchtemplate.Store
	profiles     *nodeclass.Keeper
	addresses    *launch.Addresses
	launches     *batcher.Group[string, order, *cloudprovider.Instance]
	book         *launch.Book
	soleLauncher atomic.Bool // no launch of an earlier process can still be carried out

	dryRuns   *cache.Keyed[trial]
	pools     seenPools
	available *availability.Cache
	groups    groupAvailability
	internal  launch.InternalErrors

	interruptions interruptionState
}

// placement is a placement group or a partition of one. The zero value is outside of placement
// groups.
type placement struct {
	group     string // id of the placement group
	partition int32  // from 1; zero leaves it to EC2
}

// groupAvailability has a cache for each placement group and each partition: an offering that EC2
// refuses in one may be available outside of it.
type groupAvailability struct {
	mu  sync.Mutex
	all map[placement]*availability.Cache
}

// Name returns "aws".
func (p *Provider) Name() string { return "aws" }

// Vocabulary returns the vocabulary of aws/api/v1: labels of EC2 are well-known, and the domain
// karpenter.k8s.aws is restricted.
func (p *Provider) Vocabulary() *requirements.Vocabulary { return p.vocabulary }

// SupportedNodeClasses returns EC2NodeClass of the group karpenter.k8s.aws.
func (p *Provider) SupportedNodeClasses() []schema.GroupKind {
	return []schema.GroupKind{awsv1.Kind(awsv1.EC2NodeClassKind)}
}

// Availability returns the cache of offerings that EC2 refused outside of placement groups. The
// caller may add marks.
func (p *Provider) Availability() *availability.Cache { return p.available }

// availability returns the cache of one placement. An offering that EC2 refused while it was free
// to choose the partition is marked in the cache of the group.
func (p *Provider) availability(at placement) *availability.Cache {
	if at.group == "" {
		return p.available
	}
	p.groups.mu.Lock()
	defer p.groups.mu.Unlock()
	a := p.groups.all[at]
	if a == nil {
		// New has checked the options.
		a, _ = availability.New(p.opts.Now, p.opts.Availability)
		if p.groups.all == nil {
			p.groups.all = map[placement]*availability.Cache{}
		}
		p.groups.all[at] = a
	}
	return a
}

// Refresh renews, concurrently, the prices and every other outdated answer that was used since it
// was last renewed, or whose renewal failed. It returns when AWS has answered all questions. The
// error is that of ctx if it is done first; otherwise it joins the failures. Answers that could not
// be renewed stay in force.
//
// No other method waits to renew an answer: see "Look-ups" in the comment of the package. So call
// Refresh once, with a deadline, before the first plan, to get current prices. A program that calls
// InstanceTypes less than once a minute or so calls it before each plan that needs current answers.
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

// Close sends the batches that wait, ends look-ups, and returns when all calls under way have an
// answer and every goroutine of the Provider has ended, or with the error of ctx when that is done.
// After it Get, Create, Delete and NodeClassReady fail. Methods that start no goroutine still work.
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

// The interfaces that a Provider implements.
var (
	_ cloudprovider.CloudProvider      = (*Provider)(nil)
	_ cloudprovider.Namer              = (*Provider)(nil)
	_ cloudprovider.VocabularyProvider = (*Provider)(nil)
	_ cloudprovider.NodeClassSupporter = (*Provider)(nil)
	_ cloudprovider.NodeClassChecker   = (*Provider)(nil)
	_ cloudprovider.DriftDetector      = (*Provider)(nil)
	_ cloudprovider.Repairer           = (*Provider)(nil)

	_ cloudprovider.InterruptionSource       = (*Provider)(nil)
	_ cloudprovider.InterruptionAcknowledger = (*Provider)(nil)
)

// New returns a Provider for the cluster of the options. It makes no calls: the Provider asks AWS
// when it first needs an answer. The error lists every fault of the options, and a client for EC2
// that is missing. Nil options are empty, and New names the required fields.
//
// Several Providers may work for one cluster, as in the replicas of a controller, but only one at a
// time may launch: the others list and look up. A Provider that has lost leadership must not launch
// again; make a new one for the next term.
func New(clients Clients, opts *Options) (*Provider, error) {
	opts, err := opts.complete()
	if clients.EC2 == nil {
		err = errors.Join(err, errors.New("aws: clients: EC2: nil; pass a client, such as *ec2.Client"))
	}
	if err != nil {
		return nil, err
	}
	p := &Provider{
		asking: cache.NewAsking(),
		opts:   *opts, clients: clients, vocabulary: awsv1.Vocabulary(),
		addresses: &launch.Addresses{},
		templates: launchtemplate.NewStore(clients.EC2, opts.Cluster.Name, opts.Now, opts.TemplateRetention),
	}
	p.dryRuns = newDryRuns(opts.Now, p.asking)
	if clients.IAM != nil {
		p.profiles = nodeclass.NewKeeper(clients.IAM, opts.Cluster.Name, opts.Region, opts.Now, p.asking)
	}
	var faults []error
	note := func(what string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("aws: %s: %w", what, err))
		}
	}
	p.available, err = availability.New(opts.Now, opts.Availability)
	note("options", err)
	p.launches, err = batcher.New(p.launchBatch, opts.batching())
	note("options: batch", err)
	p.instances, err = launch.NewInstances(clients.EC2, opts.Cluster.Name, opts.batching())
	note("options: batch", err)
	p.book = launch.NewBook(opts.Cluster.Name, opts.Now, p.instances, p.templates.EndTurns)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if err := p.connect(); err != nil {
		return nil, fmt.Errorf("aws: options: %w", err)
	}
	return p, nil
}

// connect makes the parts that ask EC2 and EKS.
func (p *Provider) connect() (err error) {
	o := &p.opts
	clients := p.clients
	if k := o.Cluster; k.Endpoint != "" && k.CABundle != "" && k.ServiceCIDR != "" && k.Version != "" && (k.ARN != "" || clients.ZonalShift == nil) {
		clients.EKS = nil // the options say everything
	}
	p.sources, err = nodeclass.NewSources(api.Clients(clients), nodeclass.Options{
		Region: o.Region, Now: o.Now, ClusterName: o.Cluster.Name, ClusterARN: o.Cluster.ARN, Account: o.Cluster.Account,
		KubernetesVersion: o.Cluster.Version, Endpoint: o.Cluster.Endpoint, CertificateAuthority: o.Cluster.CABundle,
		ServiceCIDR: o.Cluster.ServiceCIDR, PriceFile: o.PriceFile, ImageRefresh: o.ImageRefresh, SubnetRefresh: o.SubnetRefresh,
		SecurityGroupRefresh: o.SecurityGroupRefresh, Asking: p.asking,
	})
	if err != nil {
		return err
	}
	settings := nodeclass.ResolverOptions{
		Now: o.Now, ReservedCapacity: !o.NoReservedCapacity, MinImageAge: o.MinImageAge, DenyImages: o.DenyImages,
		Expressions: o.KubeletExpressions, Unevaluated: p.unevaluated,
	}
	if p.profiles != nil {
		settings.Profiles = p.profiles
	}
	if !o.NoDryRun {
		settings.DryRun = p.dryRun
	}
	if p.resolver, err = nodeclass.NewResolver(p.sources, settings); err != nil {
		return err
	}
	share, err := instancetype.ParseShare(o.memoryOverhead())
	if err != nil {
		return err
	}
	p.offerings = instancetype.NewBuilder(p.sources, instancetype.BuilderOptions{
		Region: o.Region, Now: o.Now,
		Catalog: &instancetype.Options{
			Expressions: o.KubeletExpressions, NVIDIADevices: o.NVIDIADevices, EFADevices: o.EFADevices, NodeRates: o.NodeRates,
			Cluster: &instancetype.Cluster{
				ReservedInterfaces: o.ReservedENIs, PrefixDelegation: o.PrefixDelegation, MemoryLost: share,
			},
		},
	})
	if o.Learned == nil {
		return nil
	}
	learned, err := instancetype.ParseLearned(o.Learned)
	if err != nil {
		return fmt.Errorf("learned: %w", err)
	}
	p.offerings.Restore(learned)
	return nil
}
