package nodeclass

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	shifttypes "github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
)

// Cluster describes the cluster. Unknown fields are empty.
type Cluster struct {
	// ARN names the cluster in AWS, and Account is the account that owns it.
	ARN, Account string
	// Version is the Kubernetes version of the control plane, such as 1.34.
	Version string
	// Endpoint is the address of the API server, and CertificateAuthority the
	// certificate to trust it by, base64.
	Endpoint, CertificateAuthority string
	// ServiceCIDR are the addresses of services.
	ServiceCIDR string
	// IPv6 says that pods have IPv6 addresses.
	IPv6 bool
}

// Cluster returns the fields that the caller has set, and the others from EKS if there is a client
// for it. Without a client the Reading is zero.
func (s *Sources) Cluster(ctx context.Context) (Cluster, cache.Reading, error) {
	if s.clients.EKS == nil {
		return s.stated(Cluster{}), cache.Reading{}, ctx.Err()
	}
	c, reading, err := s.cluster.Get(ctx, s.readCluster)
	if err != nil {
		return Cluster{}, cache.Reading{}, err
	}
	return s.stated(c), reading, nil
}

// stated returns c with the fields that the caller has set in place of what EKS reported.
func (s *Sources) stated(c Cluster) Cluster {
	c.ARN = cmp.Or(s.opts.ClusterARN, c.ARN)
	c.Account = cmp.Or(s.opts.Account, accountOf(c.ARN))
	c.Version = cmp.Or(s.opts.KubernetesVersion, c.Version)
	c.Endpoint = cmp.Or(s.opts.Endpoint, c.Endpoint)
	c.CertificateAuthority = cmp.Or(s.opts.CertificateAuthority, c.CertificateAuthority)
	c.ServiceCIDR = cmp.Or(s.opts.ServiceCIDR, c.ServiceCIDR)
	if strings.Contains(c.ServiceCIDR, ":") {
		c.IPv6 = true
	}
	return c
}

func (s *Sources) readCluster(ctx context.Context) (Cluster, error) {
	out, err := s.clients.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &s.opts.ClusterName})
	if err != nil {
		return Cluster{}, api.Wrap("DescribeCluster", s.opts.ClusterName, err)
	}
	if out == nil || out.Cluster == nil {
		return Cluster{}, api.Wrap("DescribeCluster", s.opts.ClusterName, errors.New("the answer has no cluster; check the name of the cluster"))
	}
	c := Cluster{ARN: awssdk.ToString(out.Cluster.Arn), Version: awssdk.ToString(out.Cluster.Version), Endpoint: awssdk.ToString(out.Cluster.Endpoint)}
	if authority := out.Cluster.CertificateAuthority; authority != nil {
		c.CertificateAuthority = awssdk.ToString(authority.Data)
	}
	if network := out.Cluster.KubernetesNetworkConfig; network != nil {
		c.ServiceCIDR = cmp.Or(awssdk.ToString(network.ServiceIpv4Cidr), awssdk.ToString(network.ServiceIpv6Cidr))
		c.IPv6 = network.IpFamily == ekstypes.IpFamilyIpv6
	}
	return c, nil
}

// accountOf returns the account in an ARN, which is its fifth part.
func accountOf(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" {
		return ""
	}
	return parts[4]
}

// shift is a zonal shift that is in force.
type shift struct {
	zone string    // id
	ends time.Time // zero if EKS states no end
}

// ShiftedZones returns the ids of the zones that traffic of the cluster is shifted away from now,
// sorted: by zonal shifts that are applied and have not expired, and by autoshifts that are
// applied. It is nil without a client. While they cannot be read it returns the last answer, or nil
// if there was none, because a missing answer must not prevent launches. Health has the failure.
// The only error is that of ctx.
func (s *Sources) ShiftedZones(ctx context.Context) ([]string, error) {
	if s.clients.ZonalShift == nil {
		return nil, ctx.Err()
	}
	shifts, _, err := s.shifts.Get(ctx, s.readShifts)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	now := s.opts.Now()
	var zones []string
	for _, sh := range shifts {
		if sh.ends.IsZero() || sh.ends.After(now) {
			zones = append(zones, sh.zone)
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones), nil
}

func (s *Sources) readShifts(ctx context.Context) ([]shift, error) {
	cluster, _, err := s.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	if cluster.ARN == "" {
		return nil, errors.New("the ARN of the cluster is not known; give it, or a client for EKS")
	}
	out, err := s.clients.ZonalShift.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: &cluster.ARN})
	if api.NotFound(err) { // zonal shifts are not turned on for the cluster
		return nil, nil
	}
	if err != nil || out == nil {
		return nil, api.Wrap("GetManagedResource", cluster.ARN, err)
	}
	var shifts []shift
	for _, z := range out.ZonalShifts {
		if z.AppliedStatus == shifttypes.AppliedStatusApplied && awssdk.ToString(z.AwayFrom) != "" {
			sh := shift{zone: *z.AwayFrom}
			if z.ExpiryTime != nil {
				sh.ends = *z.ExpiryTime
			}
			shifts = append(shifts, sh)
		}
	}
	for _, z := range out.Autoshifts {
		if z.AppliedStatus == shifttypes.AutoshiftAppliedStatusApplied && awssdk.ToString(z.AwayFrom) != "" {
			shifts = append(shifts, shift{zone: *z.AwayFrom})
		}
	}
	return shifts, nil
}
