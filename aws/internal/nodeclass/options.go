package nodeclass

import (
	"context"
	"time"

	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
)

// Options configure Sources. Region and Now are required; zero for anything else means its default.
// Package aws checks them.
type Options struct {
	// Region is the region that the clients ask.
	Region string
	// Now gives the time. It must be safe for concurrent use.
	Now func() time.Time

	// Asking runs the questions, and is closed by Sources.Close. Nil makes a new one.
	Asking *cache.Asking

	// ClusterName is the name of the cluster, for DescribeCluster.
	ClusterName string
	// ClusterARN, Account, KubernetesVersion, Endpoint, CertificateAuthority and ServiceCIDR
	// describe the cluster. Empty fields are taken from DescribeCluster, if there is a client for
	// it. Account is the number of the account that images of owner self belong to.
	ClusterARN, Account, KubernetesVersion, Endpoint, CertificateAuthority, ServiceCIDR string

	// PriceFile returns the text of a price file for pricing.ParseFile, or nothing if the file is
	// gone. It is called in a goroutine, and must return soon after its ctx is done. Nil means no
	// file.
	PriceFile func(ctx context.Context) ([]byte, error)

	// SubnetRefresh, SecurityGroupRefresh and ImageRefresh are how long subnets, security groups and
	// images are used before they are read again. The default is a minute.
	SubnetRefresh, SecurityGroupRefresh, ImageRefresh time.Duration
}

// The periods that users cannot set.
const (
	inventoryRefresh = 12 * time.Hour
	onDemandRefresh  = 12 * time.Hour
	spotRefresh      = time.Hour
	// parameterRefresh is for parameters whose value changes, and for those that do not exist.
	parameterRefresh       = 5 * time.Minute
	staticParameterRefresh = 24 * time.Hour
	fileRefresh            = 10 * time.Minute
	clusterRefresh         = 5 * time.Minute
	lookupRefresh          = time.Minute
	shiftRefresh           = 30 * time.Second

	// priceBound is how long reading the price list and the history of spot prices may take: they
	// are long, and no caller waits for them.
	priceBound = 10 * time.Minute
	// patience is how long callers wait for two answers that arrive quickly or not at all: the
	// zones that are shifted away from, and the price file.
	patience = 2 * time.Second
)
