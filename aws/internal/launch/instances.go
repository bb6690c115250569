package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
)

const (
	// maxFilterValues is how many values EC2 takes in one filter.
	maxFilterValues = 200
	// maxTerminated is how many instances one call terminates.
	maxTerminated = 500
	pageSize      = 1000
)

// Instances ask EC2 for the instances of one cluster. Create them with NewInstances.
type Instances struct {
	client    api.EC2
	cluster   string
	describes *batcher.Group[struct{}, string, Record]
	ends      *batcher.Group[struct{}, string, struct{}]
}

// NewInstances returns Instances. opts say how calls are combined; MaxItems is lowered to EC2's
// limits.
func NewInstances(client api.EC2, cluster string, opts *batcher.Options) (*Instances, error) {
	c := &Instances{client: client, cluster: cluster}
	limit := cmp.Or(opts.MaxItems, maxTerminated)
	opts.MaxItems = min(limit, maxFilterValues)
	var err, err2 error
	c.describes, err = batcher.New(batcher.Distinct(c.describe, c.missing), opts)
	opts.MaxItems = min(limit, maxTerminated)
	c.ends, err2 = batcher.New(c.terminate, opts)
	return c, errors.Join(err, err2)
}

// Get returns the instance with this id as EC2 sees it now. The error is
// KindNotFound if there is none of the cluster, or it is terminated.
func (c *Instances) Get(ctx context.Context, id string) (Record, error) {
	r, err := c.describes.Do(ctx, struct{}{}, id)
	return r, api.Wrap("DescribeInstances", id, err)
}

// Terminate asks EC2 to terminate an instance. The caller has made sure that it is
// of the cluster.
func (c *Instances) Terminate(ctx context.Context, id string) error {
	_, err := c.ends.Do(ctx, struct{}{}, id)
	return api.Wrap("TerminateInstances", id, err)
}

// Close waits for what is under way.
func (c *Instances) Close(ctx context.Context) error {
	return errors.Join(c.describes.Close(ctx), c.ends.Close(ctx))
}

// States says which instances Each visits.
type States int

const (
	// Present are all that are not terminated.
	Present States = iota
	// Remembered also includes terminated instances, which EC2 lists for about an hour.
	Remembered
)

// Each calls visit for each instance of the cluster, in the order of EC2's answer,
// holding one page of it at a time.
func (c *Instances) Each(ctx context.Context, states States, visit func(Record)) error {
	in := &ec2.DescribeInstancesInput{Filters: c.filters(states), MaxResults: new(int32(pageSize))}
	return api.Wrap("DescribeInstances", c.cluster, c.pages(ctx, in, visit))
}

func (c *Instances) pages(ctx context.Context, in *ec2.DescribeInstancesInput, visit func(Record)) error {
	p := ec2.NewDescribeInstancesPaginator(c.client, in)
	return api.Pages(ctx, p, func(page *ec2.DescribeInstancesOutput) {
		for i := range page.Reservations {
			for j := range page.Reservations[i].Instances {
				if r, ok := ReadInstance(&page.Reservations[i].Instances[j]); ok {
					visit(r)
				}
			}
		}
	})
}

// filters select the instances of the cluster by the tags that Karpenter sets.
func (c *Instances) filters(states States) []ec2types.Filter {
	filter := func(name string, values ...string) ec2types.Filter {
		return ec2types.Filter{Name: &name, Values: values}
	}
	filters := []ec2types.Filter{
		filter("tag-key", karpv1.NodePoolLabelKey),
		filter("tag-key", awsv1.NodeClassTagKey),
		filter("tag:"+awsv1.ClusterNameTagKey, c.cluster),
	}
	if states == Remembered {
		return filters
	}
	return append(filters, filter("instance-state-name", "pending", "running", "stopping", "stopped", "shutting-down"))
}

// describe makes one call for many ids. It uses a filter, so that an unknown id does not fail the
// call.
func (c *Instances) describe(ctx context.Context, _ struct{}, ids []string) (map[string]Record, error) {
	out := make(map[string]Record, len(ids))
	sorted := slices.Sorted(slices.Values(ids))
	in := &ec2.DescribeInstancesInput{
		Filters:    append([]ec2types.Filter{{Name: new("instance-id"), Values: sorted}}, c.filters(Present)...),
		MaxResults: new(int32(pageSize)),
	}
	err := c.pages(ctx, in, func(r Record) { out[r.ID] = r })
	return out, err
}

func (c *Instances) missing(_ struct{}, id string) error {
	return &cloudprovider.Error{Op: "DescribeInstances", Kind: cloudprovider.KindNotFound, Object: id}
}

// terminate makes one call for many ids. One id that EC2 does not know fails the call for all, so
// it is then repeated for each half.
func (c *Instances) terminate(ctx context.Context, _ struct{}, ids []string) ([]batcher.Outcome[struct{}], error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
	results := c.end(ctx, sorted)
	outcomes := make([]batcher.Outcome[struct{}], len(ids))
	for i, id := range ids {
		outcomes[i].Err = results[id]
	}
	return outcomes, nil
}

// end terminates instances and returns the error of each, nil if EC2 terminates it.
func (c *Instances) end(ctx context.Context, ids []string) map[string]error {
	results := make(map[string]error, len(ids))
	for _, id := range ids {
		results[id] = fmt.Errorf("%s: EC2 did not confirm the termination", id)
	}
	out, err := c.client.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids})
	switch {
	case err == nil && out != nil:
		for _, change := range out.TerminatingInstances {
			if s := change.CurrentState; s == nil || s.Name == ec2types.InstanceStateNameShuttingDown || s.Name == ec2types.InstanceStateNameTerminated {
				results[awssdk.ToString(change.InstanceId)] = nil
			}
		}
	case err != nil && len(ids) > 1 && api.NotFound(err):
		maps.Copy(results, c.end(ctx, ids[:len(ids)/2]))
		maps.Copy(results, c.end(ctx, ids[len(ids)/2:]))
		return results
	case err != nil:
		for _, id := range ids {
			results[id] = err
		}
		return results
	}
	if len(ids) == 1 {
		return results
	}
	for _, id := range ids {
		if results[id] != nil {
			results[id] = c.end(ctx, []string{id})[id]
		}
	}
	return results
}
