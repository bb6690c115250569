package nodeclass

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
)

// Options are what sources go by. Region and Now are required; zero for anything
// else means its default.
type Options struct {
	// Region is the region that the clients ask.
	Region string
	// Now gives the time. It must be safe for concurrent use.
	Now func() time.Time

	// Asking runs what is asked, and is closed by Sources.Close. Nil is one of its
	// own.
	Asking *cache.Asking

	// ClusterName is the name of the cluster, for DescribeCluster.
	ClusterName string
	// ClusterARN, Account, KubernetesVersion, Endpoint, CertificateAuthority and
	// ServiceCIDR are what the caller knows of the cluster. What is empty is taken
	// from DescribeCluster, if there is a client for it. Account is the number of
	// the account that images of owner self belong to.
	ClusterARN, Account, KubernetesVersion, Endpoint, CertificateAuthority, ServiceCIDR string

	// PriceFile returns the text of a price file, as prices.ParseFile reads it, and
	// nothing if there is none any more. It is called in a goroutine, and is to
	// return soon after its ctx is done. Nil is no file.
	PriceFile func(ctx context.Context) ([]byte, error)

	// SubnetRefresh is that of subnets. Default a minute, which is also the least.
	SubnetRefresh time.Duration
	// SecurityGroupRefresh is that of security groups. Default a minute, which is
	// also the least.
	SecurityGroupRefresh time.Duration
	// ImageRefresh is that of images. Default a minute, which is also the least.
	ImageRefresh time.Duration
}

// The periods that users cannot set.
const (
	inventoryRefresh = 12 * time.Hour
	onDemandRefresh  = 12 * time.Hour
	spotRefresh      = time.Hour
	// parameterRefresh is that of parameters whose value changes, and of those that do
	// not exist.
	parameterRefresh       = 5 * time.Minute
	staticParameterRefresh = 24 * time.Hour
	fileRefresh            = 10 * time.Minute
	clusterRefresh         = 5 * time.Minute
	lookupRefresh          = time.Minute
	shiftRefresh           = 30 * time.Second
	leastRefresh           = time.Minute

	// priceBound is how long the price list and the history of spot prices may
	// take: they are long, and nobody waits for them.
	priceBound = 10 * time.Minute
	// patience is how long callers wait for an answer that comes within a moment or
	// not at all, and is much better than none: which zones are shifted away from,
	// and what the price file has.
	patience = 2 * time.Second
)

func (o Options) withDefaults() Options {
	o.SubnetRefresh = cmp.Or(o.SubnetRefresh, lookupRefresh)
	o.SecurityGroupRefresh = cmp.Or(o.SecurityGroupRefresh, lookupRefresh)
	o.ImageRefresh = cmp.Or(o.ImageRefresh, lookupRefresh)
	return o
}

// validate returns nil, or an error that lists every fault.
func (o Options) validate() error {
	var faults []error
	if o.Region == "" {
		faults = append(faults, errors.New("region: empty; name the region, such as eu-central-1"))
	}
	if o.Now == nil {
		faults = append(faults, errors.New("now: nil; give a clock, such as time.Now"))
	}
	o = o.withDefaults()
	for _, p := range []struct {
		name  string
		value time.Duration
	}{
		{"subnetRefresh", o.SubnetRefresh},
		{"securityGroupRefresh", o.SecurityGroupRefresh},
		{"imageRefresh", o.ImageRefresh},
	} {
		if p.value < leastRefresh {
			faults = append(faults, fmt.Errorf("%s: %v; set %v or more, to spare the quotas of the API", p.name, p.value, leastRefresh))
		}
	}
	return errors.Join(faults...)
}
