package nodeclass_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
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
		parts = append(parts, sdk.ToString(f.Name)+"="+strings.Join(f.Values, ","))
	}
	return strings.Join(append(parts, more...), " ")
}

func (e ec2Client) DescribeInstanceTypes(ctx context.Context, in *ec2.DescribeInstanceTypesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	out, next, err := list(ctx, e.c, "DescribeInstanceTypes", render(in.Filters), in.NextToken, in.MaxResults, func(c *Cloud) []ec2types.InstanceTypeInfo { return c.Types })
	return &ec2.DescribeInstanceTypesOutput{InstanceTypes: out, NextToken: next}, err
}

func (e ec2Client) DescribeInstanceTypeOfferings(ctx context.Context, in *ec2.DescribeInstanceTypeOfferingsInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	out, next, err := list(ctx, e.c, "DescribeInstanceTypeOfferings", render(in.Filters), in.NextToken, in.MaxResults, func(c *Cloud) []ec2types.InstanceTypeOffering { return c.Offerings })
	return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: out, NextToken: next}, err
}

func (e ec2Client) DescribeSpotPriceHistory(ctx context.Context, in *ec2.DescribeSpotPriceHistoryInput, _ ...func(*ec2.Options)) (*ec2.DescribeSpotPriceHistoryOutput, error) {
	out, next, err := list(ctx, e.c, "DescribeSpotPriceHistory", strings.Join(in.ProductDescriptions, ","), in.NextToken, in.MaxResults, func(c *Cloud) []ec2types.SpotPrice { return c.Spot })
	return &ec2.DescribeSpotPriceHistoryOutput{SpotPriceHistory: out, NextToken: next}, err
}

func (e ec2Client) DescribeSubnets(ctx context.Context, in *ec2.DescribeSubnetsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
	out, next, err := list(ctx, e.c, "DescribeSubnets", render(in.Filters), in.NextToken, in.MaxResults, func(c *Cloud) []ec2types.Subnet {
		return selected(c.Subnets, in.Filters, func(s ec2types.Subnet, name string) []string {
			if name == "subnet-id" {
				return []string{sdk.ToString(s.SubnetId)}
			}
			return tagged(s.Tags, name)
		})
	})
	return &ec2.DescribeSubnetsOutput{Subnets: out, NextToken: next}, err
}

func (e ec2Client) DescribeSecurityGroups(ctx context.Context, in *ec2.DescribeSecurityGroupsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error) {
	out, next, err := list(ctx, e.c, "DescribeSecurityGroups", render(in.Filters), in.NextToken, in.MaxResults, func(c *Cloud) []ec2types.SecurityGroup {
		return selected(c.SecurityGroups, in.Filters, func(g ec2types.SecurityGroup, name string) []string {
			switch name {
			case "group-id":
				return []string{sdk.ToString(g.GroupId)}
			case "group-name":
				return []string{sdk.ToString(g.GroupName)}
			}
			return tagged(g.Tags, name)
		})
	})
	return &ec2.DescribeSecurityGroupsOutput{SecurityGroups: out, NextToken: next}, err
}

func (e ec2Client) DescribeCapacityReservations(ctx context.Context, in *ec2.DescribeCapacityReservationsInput, _ ...func(*ec2.Options)) (*ec2.DescribeCapacityReservationsOutput, error) {
	const operation = "DescribeCapacityReservations"
	ids := in.CapacityReservationIds
	all, next, err := list(ctx, e.c, operation, render(in.Filters, ids...), in.NextToken, in.MaxResults, func(c *Cloud) []ec2types.CapacityReservation {
		found := selected(c.Reservations, in.Filters, func(r ec2types.CapacityReservation, name string) []string {
			switch name {
			case "state":
				return []string{string(r.State)}
			case "owner-id":
				return []string{sdk.ToString(r.OwnerId)}
			case "instance-match-criteria":
				return []string{string(r.InstanceMatchCriteria)}
			}
			return tagged(r.Tags, name)
		})
		return slices.DeleteFunc(found, func(r ec2types.CapacityReservation) bool {
			return len(ids) > 0 && !slices.Contains(ids, sdk.ToString(r.CapacityReservationId))
		})
	})
	if err == nil && len(ids) > 0 && in.MaxResults != nil {
		err = Error("EC2", operation, "InvalidParameterCombination", "ids do not go with maxResults")
	}
	for _, id := range ids {
		if err == nil && !slices.ContainsFunc(all, func(r ec2types.CapacityReservation) bool { return sdk.ToString(r.CapacityReservationId) == id }) {
			err = Error("EC2", operation, "InvalidCapacityReservationId.NotFound", fmt.Sprintf("the reservation %s does not exist", id))
		}
	}
	return &ec2.DescribeCapacityReservationsOutput{CapacityReservations: all, NextToken: next}, err
}

func (e ec2Client) DescribePlacementGroups(ctx context.Context, in *ec2.DescribePlacementGroupsInput, _ ...func(*ec2.Options)) (*ec2.DescribePlacementGroupsOutput, error) {
	asked := slices.Concat(in.GroupIds, in.GroupNames)
	found, _, err := list(ctx, e.c, "DescribePlacementGroups", render(in.Filters, asked...), nil, nil, func(c *Cloud) []ec2types.PlacementGroup {
		all := selected(c.PlacementGroups, in.Filters, func(g ec2types.PlacementGroup, _ string) []string { return []string{string(g.State)} })
		return slices.DeleteFunc(all, func(g ec2types.PlacementGroup) bool {
			return !slices.Contains(in.GroupIds, sdk.ToString(g.GroupId)) && !slices.Contains(in.GroupNames, sdk.ToString(g.GroupName))
		})
	})
	if err == nil && len(found) == 0 {
		err = Error("EC2", "DescribePlacementGroups", "InvalidPlacementGroup.Unknown", fmt.Sprintf("the placement group %v is unknown", asked))
	}
	return &ec2.DescribePlacementGroupsOutput{PlacementGroups: found}, err
}

func (e ec2Client) DescribeImages(ctx context.Context, in *ec2.DescribeImagesInput, _ ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	out, next, err := list(ctx, e.c, "DescribeImages", render(in.Filters, in.Owners...), in.NextToken, in.MaxResults, func(c *Cloud) []ec2types.Image {
		all := selected(c.Images, in.Filters, func(i ec2types.Image, name string) []string {
			switch name {
			case "image-id":
				return []string{sdk.ToString(i.ImageId)}
			case "name":
				return []string{sdk.ToString(i.Name)}
			case "state":
				return []string{string(i.State)}
			}
			return tagged(i.Tags, name)
		})
		return slices.DeleteFunc(all, func(i ec2types.Image) bool {
			return len(in.Owners) > 0 && !slices.Contains(in.Owners, sdk.ToString(i.ImageOwnerAlias)) && !slices.Contains(in.Owners, sdk.ToString(i.OwnerId)) &&
				(i.ImageOwnerAlias != nil || !slices.Contains(in.Owners, "self"))
		})
	})
	return &ec2.DescribeImagesOutput{Images: out, NextToken: next}, err
}

func (o otherClient) GetParameter(ctx context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	if err := o.c.begin(ctx, "GetParameter", sdk.ToString(in.Name)); err != nil {
		return nil, err
	}
	o.c.mu.Lock()
	defer o.c.mu.Unlock()
	value, found := o.c.Parameters[sdk.ToString(in.Name)]
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
	out, next, err := list(ctx, o.c, "GetProducts", "at "+set.Region, in.NextToken, in.MaxResults, func(c *Cloud) []string { return c.Products })
	return &pricing.GetProductsOutput{PriceList: out, NextToken: next}, err
}

func (o otherClient) DescribeCluster(ctx context.Context, in *awseks.DescribeClusterInput, _ ...func(*awseks.Options)) (*awseks.DescribeClusterOutput, error) {
	if err := o.c.begin(ctx, "DescribeCluster", sdk.ToString(in.Name)); err != nil {
		return nil, err
	}
	o.c.mu.Lock()
	defer o.c.mu.Unlock()
	if o.c.Cluster == nil {
		return nil, Error("EKS", "DescribeCluster", "ResourceNotFoundException", "No cluster found for name: "+sdk.ToString(in.Name)+".")
	}
	return &awseks.DescribeClusterOutput{Cluster: o.c.Cluster}, nil
}

func (o otherClient) GetManagedResource(ctx context.Context, in *arczonalshift.GetManagedResourceInput, _ ...func(*arczonalshift.Options)) (*arczonalshift.GetManagedResourceOutput, error) {
	if err := o.c.begin(ctx, "GetManagedResource", sdk.ToString(in.ResourceIdentifier)); err != nil {
		return nil, err
	}
	o.c.mu.Lock()
	defer o.c.mu.Unlock()
	return &arczonalshift.GetManagedResourceOutput{ZonalShifts: o.c.Shifts, Autoshifts: o.c.Autoshifts}, nil
}
