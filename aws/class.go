package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// InstanceTypes returns the instance types of EC2 that the EC2NodeClass of the pool can boot, as
// cloudprovider.CloudProvider says. Offerings that EC2 refused recently are not Available. If the
// class has a placement group, only refusals in that group count. No offering in a zone is
// Available while every subnet of the class there is full. The labels of an instance type list only
// the partitions of the placement group in which it has an Available offering.
func (p *Provider) InstanceTypes(ctx context.Context, pool *karpv1.NodePool) ([]*cloudprovider.InstanceType, error) {
	const op = "InstanceTypes"
	if pool == nil || pool.Spec.Template.Spec.NodeClassRef == nil {
		name := ""
		if pool != nil {
			name = pool.Name
		}
		return nil, fault(op, name, cloudprovider.KindDenied, "spec.template.spec.nodeClassRef: missing; name an EC2NodeClass")
	}
	p.pools.saw(pool)
	_, c, err := p.catalogFor(ctx, op, *pool.Spec.Template.Spec.NodeClassRef)
	if err != nil {
		return nil, err
	}
	return c.Types, nil
}

// NodeClassReady returns nil if nodes can be launched from the class now. Otherwise the error is
// KindNotReady and names the field and the remedy. A class that does not exist is KindNotFound, and
// one of another group or kind KindUnsupported.
func (p *Provider) NodeClassReady(ctx context.Context, ref karpv1.NodeClassReference) error {
	const op = "NodeClassReady"
	r, err := p.resolve(ctx, op, ref)
	if err != nil {
		return err
	}
	return p.usable(op, r)
}

func reference(name string) karpv1.NodeClassReference {
	return karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.EC2NodeClassKind, Name: name}
}

// class returns the class that a reference names.
func (p *Provider) class(ctx context.Context, op string, ref karpv1.NodeClassReference) (*awsv1.EC2NodeClass, error) {
	if kind := ref.GroupKind(); kind != awsv1.Kind(awsv1.EC2NodeClassKind) {
		return nil, &cloudprovider.Error{Op: op, Kind: cloudprovider.KindUnsupported, Object: kind.String() + " " + ref.Name,
			Err: errors.New("the node class belongs to another provider; name an EC2NodeClass of karpenter.k8s.aws")}
	}
	if ref.Name == "" {
		return nil, fault(op, "EC2NodeClass", cloudprovider.KindDenied, "nodeClassRef.name: empty; name an EC2NodeClass")
	}
	class, err := p.opts.NodeClasses(ctx, ref.Name)
	switch {
	case err == nil && class != nil:
		return class, nil
	case err == nil || errors.Is(err, cloudprovider.ErrNotFound):
		return nil, &cloudprovider.Error{Op: op, Kind: cloudprovider.KindNotFound, Object: "EC2NodeClass " + ref.Name,
			Err: errors.New("there is no EC2NodeClass of this name; create it, or correct nodeClassRef")}
	}
	return nil, api.Wrap(op, "EC2NodeClass "+ref.Name, err)
}

// resolve returns the class with its status.
func (p *Provider) resolve(ctx context.Context, op string, ref karpv1.NodeClassReference) (*nodeclass.Resolution, error) {
	class, err := p.class(ctx, op, ref)
	if err != nil {
		return nil, err
	}
	r, err := p.resolver.Resolve(ctx, class)
	if err != nil {
		return nil, api.Wrap(op, "EC2NodeClass "+ref.Name, err)
	}
	return r, nil
}

// usable returns why nothing can be launched from a class, or nil.
func (p *Provider) usable(op string, r *nodeclass.Resolution) error {
	if !r.Class.DeletionTimestamp.IsZero() {
		return fault(op, "EC2NodeClass "+r.Class.Name, cloudprovider.KindNotReady, "it is being deleted; use another class")
	}
	return notReady(r.Err())
}

// notReady turns KindNotFound into KindNotReady: something that the class names is missing, but the
// class itself exists.
func notReady(err error) error {
	var e *cloudprovider.Error
	if cloudprovider.KindOf(err) != cloudprovider.KindNotFound || !errors.As(err, &e) {
		return err
	}
	one := *e
	one.Kind = cloudprovider.KindNotReady
	return &one
}

// catalogFor returns a class and its catalog, in which refused offerings are not Available.
func (p *Provider) catalogFor(ctx context.Context, op string, ref karpv1.NodeClassReference) (*nodeclass.Resolution, *instancetype.Catalog, error) {
	r, err := p.resolve(ctx, op, ref)
	if err != nil {
		return nil, nil, err
	}
	if err := notReady(r.Err()); err != nil {
		return nil, nil, err
	}
	c, err := p.offerings.Build(ctx, r.Class)
	if err != nil {
		return nil, nil, api.Wrap(op, "EC2NodeClass "+ref.Name, err)
	}
	out := *c
	group := groupID(r)
	out.Types = p.withoutFull(subnetsOf(r.Subnets), p.availability(placement{group: group}).Apply(c.Types))
	out.Types = p.openPartitions(group, partitionCount(r.PlacementGroup), out.Types)
	return r, &out, nil
}

// openPartitions returns the catalog for a placement group with partitions. An offering is
// Available if it is so in at least one partition; the labels of an instance type list only the
// partitions in which one of its offerings is Available. Changed objects are copies. Labels of
// offerings stay, because running nodes are compared with them.
func (p *Provider) openPartitions(group string, count int32, types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	var caches []*availability.Cache
	marked := false
	for n := range count {
		c := p.availability(placement{group, n + 1})
		caches, marked = append(caches, c), marked || len(c.Marks()) > 0
	}
	if !marked {
		return types
	}
	out := slices.Clone(types)
	for i, t := range out {
		one := *t
		one.Offerings = slices.Clone(t.Offerings)
		open := map[string]bool{}
		for j := range one.Offerings {
			o := &one.Offerings[j]
			if !o.Available {
				continue
			}
			o.Available = false
			for n, c := range caches {
				if _, closed := c.Unavailable(o.Key(t.Name)); !closed {
					o.Available, open[strconv.Itoa(n+1)] = true, true
				}
			}
		}
		if len(open) > 0 {
			one.Requirements = t.Requirements.With(requirements.In(awsv1.LabelPlacementGroupPartition, slices.Sorted(maps.Keys(open))...))
		}
		out[i] = &one
	}
	return out
}

// withoutFull returns a catalog whose offerings are not Available in zones where all subnets are
// full. Changed objects are copies.
func (p *Provider) withoutFull(subnets []launch.Subnet, types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	full := map[string]bool{}
	for _, s := range subnets {
		if p.addresses.AllFull(s.Zone, subnets) {
			full[s.Zone] = true
		}
	}
	if len(full) == 0 {
		return types
	}
	out := slices.Clone(types)
	for i, t := range out {
		if !slices.ContainsFunc(t.Offerings, func(o cloudprovider.Offering) bool { return o.Available && full[o.Zone] }) {
			continue
		}
		one := *t
		one.Offerings = slices.Clone(t.Offerings)
		for j := range one.Offerings {
			o := &one.Offerings[j]
			o.Available = o.Available && !full[o.Zone]
		}
		out[i] = &one
	}
	return out
}

// unevaluated says for which instance types an expression of a class has no value.
// The text is empty if there are none.
func (p *Provider) unevaluated(ctx context.Context, class *awsv1.EC2NodeClass) (string, error) {
	c, err := p.offerings.Build(ctx, class)
	if err != nil || len(c.Unevaluated) == 0 {
		return "", err
	}
	const told = 3
	var lines []string
	for _, problem := range c.Unevaluated[:min(told, len(c.Unevaluated))] {
		lines = append(lines, problem.Detail)
	}
	if more := len(c.Unevaluated) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and so for %d more instance types", more))
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), "\n", "; "), nil
}

// partitionCount returns the number of partitions of a placement group: zero if it has none, or is
// nil.
func partitionCount(g *ec2types.PlacementGroup) int32 {
	if g == nil || g.PartitionCount == nil || g.Strategy != ec2types.PlacementStrategyPartition {
		return 0
	}
	return min(max(*g.PartitionCount, 0), instancetype.MaxPartitions)
}

// groupID returns the id of the placement group of a class, or "".
func groupID(r *nodeclass.Resolution) string {
	if r.PlacementGroup == nil || r.PlacementGroup.GroupId == nil {
		return ""
	}
	return *r.PlacementGroup.GroupId
}
