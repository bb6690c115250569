package nodeclass

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
)

// The page size for subnets and security groups.
const networkPerPage = 500

// Subnet is a subnet as EC2 describes it.
type Subnet struct {
	// ID is its id, Zone and ZoneID are name and id of its zone, and VPC is the id
	// of its network.
	ID, Zone, ZoneID, VPC string
	// Free is how many IPv4 addresses were free at the instant At.
	Free int64
	At   time.Time
}

// Subnets returns the subnets that the terms select, each once, sorted by id. It makes one call for
// all ids together, and one for each set of tags. An id that does not exist selects nothing. A term
// without an id and without tags is an error of KindDenied.
func (s *Sources) Subnets(ctx context.Context, terms []awsv1.SubnetSelectorTerm) ([]Subnet, cache.Reading, error) {
	lookups, err := subnetLookups(terms)
	if err != nil {
		return nil, cache.Reading{}, err
	}
	found, reading, err := gather(ctx, s.subnets, lookups, s.readSubnets, func(n Subnet) string { return n.ID })
	if err != nil {
		return nil, cache.Reading{}, err
	}
	return found, reading, nil
}

func subnetLookups(terms []awsv1.SubnetSelectorTerm) ([]lookup, error) {
	var ids []string
	var out []lookup
	for i, t := range terms {
		switch {
		case t.ID != "":
			ids = append(ids, t.ID)
		case len(t.Tags) > 0:
			out = append(out, lookup{tagFilters(t.Tags)})
		default:
			return nil, emptyTerm("subnetSelectorTerms", i, "an id or tags")
		}
	}
	if len(ids) > 0 {
		out = append(out, lookup{[]ec2types.Filter{oneOf("subnet-id", ids)}})
	}
	return distinct(out), nil
}

// gather asks every lookup and merges the results by id. If one lookup has no answer at all, gather
// returns no answer, because a partial list would be wrong.
func gather[T any](
	ctx context.Context, cells *cache.Keyed[[]T], lookups []lookup,
	read func(context.Context, lookup) ([]T, error), id func(T) string,
) ([]T, cache.Reading, error) {
	byID := map[string]T{}
	var reading cache.Reading
	for _, l := range lookups {
		found, r, err := cells.Get(ctx, l.key(), func(ctx context.Context) ([]T, error) { return read(ctx, l) })
		if err != nil {
			return nil, cache.Reading{}, err
		}
		reading = worst(reading, r)
		for _, one := range found {
			byID[id(one)] = one
		}
	}
	out := slices.SortedFunc(maps.Values(byID), func(a, b T) int { return cmp.Compare(id(a), id(b)) })
	return out, reading, nil
}

func (s *Sources) readSubnets(ctx context.Context, l lookup) ([]Subnet, error) {
	at := s.opts.Now()
	var out []Subnet
	pages := ec2.NewDescribeSubnetsPaginator(s.clients.EC2, &ec2.DescribeSubnetsInput{Filters: l.filters},
		func(o *ec2.DescribeSubnetsPaginatorOptions) { o.Limit = networkPerPage })
	err := api.Pages(ctx, pages, func(page *ec2.DescribeSubnetsOutput) {
		for i := range page.Subnets {
			n := &page.Subnets[i]
			if awssdk.ToString(n.SubnetId) == "" || awssdk.ToString(n.AvailabilityZone) == "" {
				continue // nothing can be launched into it
			}
			out = append(out, Subnet{ID: *n.SubnetId, Zone: *n.AvailabilityZone, ZoneID: awssdk.ToString(n.AvailabilityZoneId),
				VPC: awssdk.ToString(n.VpcId), Free: int64(awssdk.ToInt32(n.AvailableIpAddressCount)), At: at})
		}
	})
	if err != nil {
		return nil, api.Wrap("DescribeSubnets", l.key(), err)
	}
	s.rememberZones(out)
	return out, nil
}

func (s *Sources) rememberZones(subnets []Subnet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range subnets {
		if n.ZoneID != "" {
			s.zones[n.Zone] = n.ZoneID
		}
	}
}

// SecurityGroup is a security group as EC2 describes it.
type SecurityGroup struct {
	// ID and Name are its own, and VPC is the id of its network.
	ID, Name, VPC string
}

// SecurityGroups returns the security groups that the terms select, each once, sorted by id. It
// makes one call for all ids together, one for all names, and one for each set of tags. Names and
// tags select groups of every network of the region. A term without id, name and tags is an error of
// KindDenied.
func (s *Sources) SecurityGroups(ctx context.Context, terms []awsv1.SecurityGroupSelectorTerm) ([]SecurityGroup, cache.Reading, error) {
	lookups, err := groupLookups(terms)
	if err != nil {
		return nil, cache.Reading{}, err
	}
	return gather(ctx, s.groups, lookups, s.readGroups, func(g SecurityGroup) string { return g.ID })
}

func groupLookups(terms []awsv1.SecurityGroupSelectorTerm) ([]lookup, error) {
	var ids, names []string
	var out []lookup
	for i, t := range terms {
		switch {
		case t.ID != "":
			ids = append(ids, t.ID)
		case t.Name != "":
			names = append(names, t.Name)
		case len(t.Tags) > 0:
			out = append(out, lookup{tagFilters(t.Tags)})
		default:
			return nil, emptyTerm("securityGroupSelectorTerms", i, "an id, a name or tags")
		}
	}
	if len(ids) > 0 {
		out = append(out, lookup{[]ec2types.Filter{oneOf("group-id", ids)}})
	}
	if len(names) > 0 {
		out = append(out, lookup{[]ec2types.Filter{oneOf("group-name", names)}})
	}
	return distinct(out), nil
}

func (s *Sources) readGroups(ctx context.Context, l lookup) ([]SecurityGroup, error) {
	var out []SecurityGroup
	pages := ec2.NewDescribeSecurityGroupsPaginator(s.clients.EC2, &ec2.DescribeSecurityGroupsInput{Filters: l.filters},
		func(o *ec2.DescribeSecurityGroupsPaginatorOptions) { o.Limit = networkPerPage })
	err := api.Pages(ctx, pages, func(page *ec2.DescribeSecurityGroupsOutput) {
		for i := range page.SecurityGroups {
			if g := &page.SecurityGroups[i]; awssdk.ToString(g.GroupId) != "" {
				out = append(out, SecurityGroup{ID: *g.GroupId, Name: awssdk.ToString(g.GroupName), VPC: awssdk.ToString(g.VpcId)})
			}
		}
	})
	if err != nil {
		return nil, api.Wrap("DescribeSecurityGroups", l.key(), err)
	}
	return out, nil
}
