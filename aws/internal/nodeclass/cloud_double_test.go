package nodeclass_test

import (
	"context"
	"maps"
	"strconv"
	"sync"

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

// page returns the page of a list that the token names, and the token of the next
// one.
func page[T any](c *Cloud, all []T, token *string, limit *int32) (out []T, next *string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := 0
	if token != nil {
		from, _ = strconv.Atoi(*token)
	}
	size := c.PageSize
	if limit != nil && (size == 0 || int(*limit) < size) {
		size = int(*limit)
	}
	from = min(from, len(all))
	to := len(all)
	if size > 0 && from+size < to {
		to = from + size
		text := strconv.Itoa(to)
		next = &text
	}
	return all[from:to:to], next
}

// every returns a list.
func every[T any](c *Cloud, list func(*Cloud) []T) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return list(c)
}

// selected returns the items of a list that pass all filters. values returns the values of an item
// for the name of a filter.
func selected[T any](c *Cloud, list func(*Cloud) []T, filters []ec2types.Filter, values func(T, string) []string) (out []T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range list(c) {
		if passes(filters, func(name string) []string { return values(one, name) }) {
			out = append(out, one)
		}
	}
	return out
}

func passes(filters []ec2types.Filter, values func(string) []string) bool {
	for _, f := range filters {
		if !anyMatch(f.Values, values(deref(f.Name))) {
			return false
		}
	}
	return true
}

func anyMatch(patterns, values []string) bool {
	for _, text := range patterns {
		p, err := amiselect.ParsePattern(text)
		for _, v := range values {
			if err == nil && p.Match(v) {
				return true
			}
		}
	}
	return false
}

// tagged gives the values of the filters for tags.
func tagged(tags []ec2types.Tag, name string) (out []string) {
	all := map[string]string{}
	for _, t := range tags {
		all[deref(t.Key)] = deref(t.Value)
	}
	if name == "tag-key" {
		for key := range maps.Keys(all) {
			out = append(out, key)
		}
		return out
	}
	if len(name) > 4 && name[:4] == "tag:" {
		if v, found := all[name[4:]]; found {
			return []string{v}
		}
	}
	return nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
