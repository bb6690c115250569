package nodeclass_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	shifttypes "github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	awseks "github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
)

// Cloud has the content of a fake AWS. Set its fields before the first call, or within Change. The
// zero Cloud is empty.
type Cloud struct {
	// Types, Offerings, Spot, Subnets, SecurityGroups, Reservations, PlacementGroups and Images are
	// the content of EC2.
	Types           []ec2types.InstanceTypeInfo
	Offerings       []ec2types.InstanceTypeOffering
	Spot            []ec2types.SpotPrice
	Subnets         []ec2types.Subnet
	SecurityGroups  []ec2types.SecurityGroup
	Reservations    []ec2types.CapacityReservation
	PlacementGroups []ec2types.PlacementGroup
	Images          []ec2types.Image
	// Products are the texts of the price list. Every question gets all of them.
	Products []string
	// Parameters are the parameters of Systems Manager by name.
	Parameters map[string]string
	// Cluster is the EKS cluster. Nil is none.
	Cluster *ekstypes.Cluster
	// Shifts and Autoshifts are in force for the cluster.
	Shifts     []shifttypes.ZonalShiftInResource
	Autoshifts []shifttypes.AutoshiftInResource

	// PageSize is how many items are on a page. Zero means the size that is asked for.
	PageSize int
	// Fail has errors to return, by the name of the operation, such as DescribeSubnets.
	Fail map[string]error
	// Before, if not nil, is called at the beginning of each call. If it returns an error, the call
	// fails with it.
	Before func(ctx context.Context, operation string) error

	mu    sync.Mutex
	calls map[string]int
	asked []string
}

// Clients returns clients that reach the cloud. There is none for SQS and IAM.
func (c *Cloud) Clients() api.Clients {
	return api.Clients{EC2: ec2Client{nil, c}, SSM: otherClient{c}, Pricing: otherClient{c}, EKS: otherClient{c}, ZonalShift: otherClient{c}}
}

// Change changes the cloud while it is in use.
func (c *Cloud) Change(change func(c *Cloud)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// Calls returns how often each operation was called since the last time, and begins
// to count anew.
func (c *Cloud) Calls() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.calls
	c.calls, c.asked = nil, nil
	if out == nil {
		out = map[string]int{}
	}
	return out
}

// Asked returns the calls since Calls was last called, in order, each with its parameters.
func (c *Cloud) Asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.asked...)
}

// Error returns an error as the SDK returns it for an operation of a service.
func Error(service, operation, code, message string) error {
	return &smithy.OperationError{ServiceID: service, OperationName: operation,
		Err: &smithy.GenericAPIError{Code: code, Message: message}}
}

// begin counts a call and says whether it fails.
func (c *Cloud) begin(ctx context.Context, operation, asked string) error {
	c.mu.Lock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[operation]++
	c.asked = append(c.asked, operation+" "+asked)
	err, before := c.Fail[operation], c.Before
	c.mu.Unlock()
	if before != nil {
		if err := before(ctx, operation); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// list begins a call and returns a page of all: the one that the token names, and the token of the next
// one. It locks the cloud for all.
func list[T any](ctx context.Context, c *Cloud, operation, asked string, token *string, limit *int32, all func(*Cloud) []T) (out []T, next *string, err error) {
	if err := c.begin(ctx, operation, asked); err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out = all(c)
	from, _ := strconv.Atoi(sdk.ToString(token))
	size := c.PageSize
	if limit != nil && (size == 0 || int(*limit) < size) {
		size = int(*limit)
	}
	from = min(from, len(out))
	to := len(out)
	if size > 0 && from+size < to {
		to = from + size
		next = new(strconv.Itoa(to))
	}
	return out[from:to:to], next, nil
}

// selected returns the items of a list that pass all filters. values returns the values of an item
// for the name of a filter.
func selected[T any](all []T, filters []ec2types.Filter, values func(T, string) []string) (out []T) {
	for _, one := range all {
		fails := func(f ec2types.Filter) bool { return !anyMatch(f.Values, values(one, sdk.ToString(f.Name))) }
		if !slices.ContainsFunc(filters, fails) {
			out = append(out, one)
		}
	}
	return out
}

func anyMatch(patterns, values []string) bool {
	for _, text := range patterns {
		if p, err := amiselect.ParsePattern(text); err == nil && slices.ContainsFunc(values, p.Match) {
			return true
		}
	}
	return false
}

// tagged gives the values of the filters for tags.
func tagged(tags []ec2types.Tag, name string) (out []string) {
	for _, t := range tags {
		switch key := sdk.ToString(t.Key); name {
		case "tag-key":
			out = append(out, key)
		case "tag:" + key:
			out = append(out, sdk.ToString(t.Value))
		}
	}
	return out
}

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
