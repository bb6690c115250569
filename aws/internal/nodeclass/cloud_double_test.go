package nodeclass_test

import (
	"context"
	"slices"
	"strconv"
	"sync"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	shifttypes "github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
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
