package nodeclass

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
)

// The page sizes that EC2 allows at the most.
const (
	typesPerPage     = 100
	offeringsPerPage = 1000
)

// Inventory returns the instance types of the region and the zones that have them:
// those with hardware virtualization and x86_64 or arm64 processors. It is one
// value as long as nothing of it changes, so it can be compared with ==.
func (s *Sources) Inventory(ctx context.Context) (*instancetype.Inventory, cache.Reading, error) {
	return s.inventory.Get(ctx, s.readInventory)
}

func (s *Sources) readInventory(ctx context.Context) (*instancetype.Inventory, error) {
	types, err := s.describeTypes(ctx)
	if err != nil {
		return nil, api.Wrap("DescribeInstanceTypes", s.opts.Region, err)
	}
	offerings, err := s.describeOfferings(ctx)
	if err != nil {
		return nil, api.Wrap("DescribeInstanceTypeOfferings", s.opts.Region, err)
	}
	read, _, err := instancetype.NewInventory(types, offerings, &s.opts.Inventory)
	if err != nil {
		return nil, err
	}
	// Every region has some: an answer without any would take all nodes for
	// unknown.
	if read.Len() == 0 || len(read.Zones()) == 0 {
		return nil, errors.New("EC2 lists no instance type in any zone; check the region of the client")
	}
	if last := s.inventory.Answer(); last != nil && last.Equal(read) {
		read = last
	}
	return read, nil
}

func (s *Sources) describeTypes(ctx context.Context) (out []ec2types.InstanceTypeInfo, err error) {
	pages := ec2.NewDescribeInstanceTypesPaginator(s.clients.EC2, &ec2.DescribeInstanceTypesInput{Filters: []ec2types.Filter{
		filter("processor-info.supported-architecture", "x86_64", "arm64"),
		filter("supported-virtualization-type", "hvm"),
	}}, func(o *ec2.DescribeInstanceTypesPaginatorOptions) { o.Limit = typesPerPage })
	err = api.Pages(ctx, pages, func(page *ec2.DescribeInstanceTypesOutput) { out = append(out, page.InstanceTypes...) })
	return out, err
}

func (s *Sources) describeOfferings(ctx context.Context) (out []ec2types.InstanceTypeOffering, err error) {
	pages := ec2.NewDescribeInstanceTypeOfferingsPaginator(s.clients.EC2,
		&ec2.DescribeInstanceTypeOfferingsInput{LocationType: ec2types.LocationTypeAvailabilityZone},
		func(o *ec2.DescribeInstanceTypeOfferingsPaginatorOptions) { o.Limit = offeringsPerPage })
	err = api.Pages(ctx, pages, func(page *ec2.DescribeInstanceTypeOfferingsOutput) {
		out = append(out, page.InstanceTypeOfferings...)
	})
	return out, err
}
