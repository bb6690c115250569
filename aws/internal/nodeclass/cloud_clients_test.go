package nodeclass_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	awseks "github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
)

// ec2Client is EC2. Missing calls panic, because the embedded api.EC2 is nil.
type ec2Client struct {
	api.EC2
	c *Cloud
}

// otherClient is every other service.
type otherClient struct{ c *Cloud }

// render returns a call as Asked shows it.
func render(filters []ec2types.Filter, more ...string) string {
	var parts []string
	for _, f := range filters {
		parts = append(parts, deref(f.Name)+"="+strings.Join(f.Values, ","))
	}
	return strings.Join(append(parts, more...), " ")
}

func (e ec2Client) DescribeInstanceTypes(ctx context.Context, in *ec2.DescribeInstanceTypesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	if err := e.c.begin(ctx, "DescribeInstanceTypes", render(in.Filters)); err != nil {
		return nil, err
	}
	list, next := page(e.c, every(e.c, func(c *Cloud) []ec2types.InstanceTypeInfo { return c.Types }), in.NextToken, in.MaxResults)
	return &ec2.DescribeInstanceTypesOutput{InstanceTypes: list, NextToken: next}, nil
}

func (e ec2Client) DescribeInstanceTypeOfferings(ctx context.Context, in *ec2.DescribeInstanceTypeOfferingsInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	if err := e.c.begin(ctx, "DescribeInstanceTypeOfferings", render(in.Filters)); err != nil {
		return nil, err
	}
	list, next := page(e.c, every(e.c, func(c *Cloud) []ec2types.InstanceTypeOffering { return c.Offerings }), in.NextToken, in.MaxResults)
	return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: list, NextToken: next}, nil
}

func (e ec2Client) DescribeSpotPriceHistory(ctx context.Context, in *ec2.DescribeSpotPriceHistoryInput, _ ...func(*ec2.Options)) (*ec2.DescribeSpotPriceHistoryOutput, error) {
	if err := e.c.begin(ctx, "DescribeSpotPriceHistory", strings.Join(in.ProductDescriptions, ",")); err != nil {
		return nil, err
	}
	list, next := page(e.c, every(e.c, func(c *Cloud) []ec2types.SpotPrice { return c.Spot }), in.NextToken, in.MaxResults)
	return &ec2.DescribeSpotPriceHistoryOutput{SpotPriceHistory: list, NextToken: next}, nil
}

func (e ec2Client) DescribeSubnets(ctx context.Context, in *ec2.DescribeSubnetsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
	if err := e.c.begin(ctx, "DescribeSubnets", render(in.Filters)); err != nil {
		return nil, err
	}
	list, next := page(e.c, selected(e.c, func(c *Cloud) []ec2types.Subnet { return c.Subnets }, in.Filters, func(s ec2types.Subnet, name string) []string {
		if name == "subnet-id" {
			return []string{deref(s.SubnetId)}
		}
		return tagged(s.Tags, name)
	}), in.NextToken, in.MaxResults)
	return &ec2.DescribeSubnetsOutput{Subnets: list, NextToken: next}, nil
}

func (e ec2Client) DescribeSecurityGroups(ctx context.Context, in *ec2.DescribeSecurityGroupsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error) {
	if err := e.c.begin(ctx, "DescribeSecurityGroups", render(in.Filters)); err != nil {
		return nil, err
	}
	list, next := page(e.c, selected(e.c, func(c *Cloud) []ec2types.SecurityGroup { return c.SecurityGroups }, in.Filters, func(g ec2types.SecurityGroup, name string) []string {
		switch name {
		case "group-id":
			return []string{deref(g.GroupId)}
		case "group-name":
			return []string{deref(g.GroupName)}
		}
		return tagged(g.Tags, name)
	}), in.NextToken, in.MaxResults)
	return &ec2.DescribeSecurityGroupsOutput{SecurityGroups: list, NextToken: next}, nil
}

func (e ec2Client) DescribeCapacityReservations(ctx context.Context, in *ec2.DescribeCapacityReservationsInput, _ ...func(*ec2.Options)) (*ec2.DescribeCapacityReservationsOutput, error) {
	if err := e.c.begin(ctx, "DescribeCapacityReservations", render(in.Filters, in.CapacityReservationIds...)); err != nil {
		return nil, err
	}
	if len(in.CapacityReservationIds) > 0 && in.MaxResults != nil {
		return nil, Error("EC2", "DescribeCapacityReservations", "InvalidParameterCombination", "ids do not go with maxResults")
	}
	all := selected(e.c, func(c *Cloud) []ec2types.CapacityReservation { return c.Reservations }, in.Filters, func(r ec2types.CapacityReservation, name string) []string {
		switch name {
		case "state":
			return []string{string(r.State)}
		case "owner-id":
			return []string{deref(r.OwnerId)}
		case "instance-match-criteria":
			return []string{string(r.InstanceMatchCriteria)}
		}
		return tagged(r.Tags, name)
	})
	for _, id := range in.CapacityReservationIds {
		if !slices.ContainsFunc(all, func(r ec2types.CapacityReservation) bool { return deref(r.CapacityReservationId) == id }) {
			return nil, Error("EC2", "DescribeCapacityReservations", "InvalidCapacityReservationId.NotFound", fmt.Sprintf("the reservation %s does not exist", id))
		}
	}
	if len(in.CapacityReservationIds) > 0 {
		all = slices.DeleteFunc(all, func(r ec2types.CapacityReservation) bool {
			return !slices.Contains(in.CapacityReservationIds, deref(r.CapacityReservationId))
		})
	}
	list, next := page(e.c, all, in.NextToken, in.MaxResults)
	return &ec2.DescribeCapacityReservationsOutput{CapacityReservations: list, NextToken: next}, nil
}

func (e ec2Client) DescribePlacementGroups(ctx context.Context, in *ec2.DescribePlacementGroupsInput, _ ...func(*ec2.Options)) (*ec2.DescribePlacementGroupsOutput, error) {
	asked := slices.Concat(in.GroupIds, in.GroupNames)
	if err := e.c.begin(ctx, "DescribePlacementGroups", render(in.Filters, asked...)); err != nil {
		return nil, err
	}
	found := selected(e.c, func(c *Cloud) []ec2types.PlacementGroup { return c.PlacementGroups }, in.Filters,
		func(g ec2types.PlacementGroup, _ string) []string { return []string{string(g.State)} })
	found = slices.DeleteFunc(found, func(g ec2types.PlacementGroup) bool {
		return !slices.Contains(in.GroupIds, deref(g.GroupId)) && !slices.Contains(in.GroupNames, deref(g.GroupName))
	})
	if len(found) == 0 {
		return nil, Error("EC2", "DescribePlacementGroups", "InvalidPlacementGroup.Unknown", fmt.Sprintf("the placement group %v is unknown", asked))
	}
	return &ec2.DescribePlacementGroupsOutput{PlacementGroups: found}, nil
}

func (e ec2Client) DescribeImages(ctx context.Context, in *ec2.DescribeImagesInput, _ ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	if err := e.c.begin(ctx, "DescribeImages", render(in.Filters, in.Owners...)); err != nil {
		return nil, err
	}
	all := selected(e.c, func(c *Cloud) []ec2types.Image { return c.Images }, in.Filters, func(i ec2types.Image, name string) []string {
		switch name {
		case "image-id":
			return []string{deref(i.ImageId)}
		case "name":
			return []string{deref(i.Name)}
		case "state":
			return []string{string(i.State)}
		}
		return tagged(i.Tags, name)
	})
	all = slices.DeleteFunc(all, func(i ec2types.Image) bool {
		return len(in.Owners) > 0 && !slices.Contains(in.Owners, deref(i.ImageOwnerAlias)) && !slices.Contains(in.Owners, deref(i.OwnerId)) &&
			(i.ImageOwnerAlias != nil || !slices.Contains(in.Owners, "self"))
	})
	list, next := page(e.c, all, in.NextToken, in.MaxResults)
	return &ec2.DescribeImagesOutput{Images: list, NextToken: next}, nil
}

func (o otherClient) GetParameter(ctx context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	if err := o.c.begin(ctx, "GetParameter", deref(in.Name)); err != nil {
		return nil, err
	}
	o.c.mu.Lock()
	defer o.c.mu.Unlock()
	value, found := o.c.Parameters[deref(in.Name)]
	if !found {
		return nil, Error("SSM", "GetParameter", "ParameterNotFound", "")
	}
	return &ssm.GetParameterOutput{Parameter: &ssmtypes.Parameter{Name: in.Name, Value: &value}}, nil
}

func (o otherClient) GetProducts(ctx context.Context, in *pricing.GetProductsInput, opts ...func(*pricing.Options)) (*pricing.GetProductsOutput, error) {
	var set pricing.Options
	for _, opt := range opts {
		opt(&set)
	}
	if err := o.c.begin(ctx, "GetProducts", "at "+set.Region); err != nil {
		return nil, err
	}
	list, next := page(o.c, every(o.c, func(c *Cloud) []string { return c.Products }), in.NextToken, in.MaxResults)
	return &pricing.GetProductsOutput{PriceList: list, NextToken: next}, nil
}

func (o otherClient) DescribeCluster(ctx context.Context, in *awseks.DescribeClusterInput, _ ...func(*awseks.Options)) (*awseks.DescribeClusterOutput, error) {
	if err := o.c.begin(ctx, "DescribeCluster", deref(in.Name)); err != nil {
		return nil, err
	}
	o.c.mu.Lock()
	defer o.c.mu.Unlock()
	if o.c.Cluster == nil {
		return nil, Error("EKS", "DescribeCluster", "ResourceNotFoundException", "No cluster found for name: "+deref(in.Name)+".")
	}
	return &awseks.DescribeClusterOutput{Cluster: o.c.Cluster}, nil
}

func (o otherClient) GetManagedResource(ctx context.Context, in *arczonalshift.GetManagedResourceInput, _ ...func(*arczonalshift.Options)) (*arczonalshift.GetManagedResourceOutput, error) {
	if err := o.c.begin(ctx, "GetManagedResource", deref(in.ResourceIdentifier)); err != nil {
		return nil, err
	}
	o.c.mu.Lock()
	defer o.c.mu.Unlock()
	return &arczonalshift.GetManagedResourceOutput{ZonalShifts: o.c.Shifts, Autoshifts: o.c.Autoshifts}, nil
}
