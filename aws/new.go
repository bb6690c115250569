package aws

import (
	"errors"
	"fmt"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/aws/internal/launchtemplate"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
)

// New returns a Provider for the cluster of the options. It calls nothing: what it
// needs to know it asks when it is first needed. The error lists every fault of the
// options, and a client for EC2 that is missing.
//
// Several Providers may work for one cluster, as processes of a controller do that
// take turns, but only one at a time may launch: the others list and look up. One
// whose turn is over does not launch again; make a new one for the next turn.
func New(clients Clients, opts Options) (*Provider, error) {
	opts, err := opts.complete()
	if clients.EC2 == nil {
		err = errors.Join(err, errors.New("aws: clients: EC2: nil; pass a client, such as *ec2.Client"))
	}
	if err != nil {
		return nil, err
	}
	p := &Provider{
		asking: cache.NewAsking(),
		opts:   opts, clients: clients, vocabulary: awsv1.Vocabulary(),
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

// connect makes what answers questions about EC2 and the cluster.
func (p *Provider) connect() (err error) {
	o := &p.opts
	clients := p.clients
	if k := o.Cluster; k.Endpoint != "" && k.CABundle != "" && k.ServiceCIDR != "" && k.Version != "" && (k.ARN != "" || clients.ZonalShift == nil) {
		clients.EKS = nil // there is nothing to ask
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
	p.offerings, err = instancetype.NewBuilder(p.sources, instancetype.BuilderOptions{
		Region: o.Region, Now: o.Now,
		Catalog: &instancetype.Options{
			Expressions: o.KubeletExpressions, NVIDIADevices: o.NVIDIADevices, EFADevices: o.EFADevices, NodeRates: o.NodeRates,
			Cluster: &instancetype.Cluster{
				ReservedInterfaces: o.ReservedENIs, PrefixDelegation: o.PrefixDelegation, MemoryLost: share,
			},
		},
	})
	if err != nil || o.Learned == nil {
		return err
	}
	learned, err := instancetype.ParseLearned(o.Learned)
	if err != nil {
		return fmt.Errorf("learned: %w", err)
	}
	p.offerings.Restore(learned)
	return nil
}
