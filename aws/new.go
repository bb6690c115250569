package aws

import (
	"errors"
	"fmt"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/catalog"
	"github.com/dovetail-sdk/dovetail/aws/internal/classes"
	"github.com/dovetail-sdk/dovetail/aws/internal/instances"
	"github.com/dovetail-sdk/dovetail/aws/internal/offerings"
	"github.com/dovetail-sdk/dovetail/aws/internal/overhead"
	"github.com/dovetail-sdk/dovetail/aws/internal/profile"
	"github.com/dovetail-sdk/dovetail/aws/internal/source"
	"github.com/dovetail-sdk/dovetail/aws/internal/subnets"
	"github.com/dovetail-sdk/dovetail/aws/internal/template"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/coalesce"
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
		opts: opts, clients: clients, vocabulary: awsv1.Vocabulary(),
		addresses: &subnets.Ledger{}, ledger: newLedger(opts.Now),
		templates: template.NewStore(clients.EC2, opts.Cluster.Name, opts.Now, opts.TemplateRetention),
	}
	if clients.IAM != nil {
		p.profiles = profile.NewKeeper(clients.IAM, opts.Cluster.Name, opts.Region, opts.Now)
	}
	var faults []error
	note := func(what string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("aws: %s: %w", what, err))
		}
	}
	p.available, err = cloudprovider.NewAvailability(opts.Now, opts.Availability)
	note("options", err)
	p.launches, err = coalesce.New(p.launchBatch, opts.batching())
	note("options: batch", err)
	p.instances, err = instances.NewClient(clients.EC2, opts.Cluster.Name, opts.batching())
	note("options: batch", err)
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
	p.sources, err = source.New(clients, source.Options{
		Region: o.Region, Now: o.Now, ClusterName: o.Cluster.Name, ClusterARN: o.Cluster.ARN, Account: o.Cluster.Account,
		KubernetesVersion: o.Cluster.Version, Endpoint: o.Cluster.Endpoint, CertificateAuthority: o.Cluster.CABundle,
		ServiceCIDR: o.Cluster.ServiceCIDR, PriceFile: o.PriceFile, ImageRefresh: o.ImageRefresh, SubnetRefresh: o.SubnetRefresh,
		SecurityGroupRefresh: o.SecurityGroupRefresh,
	})
	if err != nil {
		return err
	}
	settings := classes.Options{
		Now: o.Now, ReservedCapacity: !o.NoReservedCapacity, MinImageAge: o.MinImageAge, DenyImages: o.DenyImages,
		Expressions: o.KubeletExpressions, Unevaluated: p.unevaluated,
	}
	if p.profiles != nil {
		settings.Profiles = p.profiles
	}
	if !o.NoDryRun {
		settings.DryRun = p.dryRun
	}
	if p.resolver, err = classes.New(p.sources, settings); err != nil {
		return err
	}
	share, err := overhead.ParseShare(o.memoryOverhead())
	if err != nil {
		return err
	}
	p.offerings, err = offerings.New(p.sources, offerings.Options{
		Region: o.Region, Now: o.Now,
		Catalog: &catalog.Options{
			Expressions: o.KubeletExpressions, NVIDIADevices: o.NVIDIADevices, EFADevices: o.EFADevices,
			Cluster: &overhead.Cluster{
				ReservedInterfaces: o.ReservedENIs, PrefixDelegation: o.PrefixDelegation, MemoryLost: share,
			},
		},
	})
	return err
}
