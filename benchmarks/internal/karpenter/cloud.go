package karpenter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	kcloud "sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// classKind is the kind of node class that the pools of traces refer to.
var classKind = schema.GroupKind{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass"}

// soldOutFor is how long the AWS provider hides an offering that was sold out.
const soldOutFor = 3 * time.Minute

// cloud adapts the cloud of the trace to Karpenter's provider interface.
type cloud struct {
	provider cloudprovider.CloudProvider
	stock    *availability.Cache
	pools    map[string]*v1.NodePool
	now      func() time.Time
	class    *NodeClass

	fixed map[string]*kcloud.InstanceType // the parts of instance types that do not change
	asked time.Time                       // when types was computed
	types map[string][]*kcloud.InstanceType
}

func newCloud(provider cloudprovider.CloudProvider, pools []*v1.NodePool, now func() time.Time) (*cloud, error) {
	stock, err := availability.New(now, &availability.Options{TTL: soldOutFor, MaxTTL: soldOutFor})
	if err != nil {
		return nil, err
	}
	c := &cloud{provider: provider, stock: stock, pools: map[string]*v1.NodePool{}, now: now, class: NewNodeClass(classKind), fixed: map[string]*kcloud.InstanceType{}}
	for _, p := range pools {
		c.pools[p.Name] = p
	}
	return c, nil
}

// Name returns the name of the provider.
func (c *cloud) Name() string { return "benchmark" }

// GetSupportedNodeClasses returns a class of the kind that pools refer to.
func (c *cloud) GetSupportedNodeClasses() []status.Object { return []status.Object{c.class} }

// RepairPolicies returns none.
func (c *cloud) RepairPolicies() []kcloud.RepairPolicy { return nil }

// Reboot is a method of providers since Karpenter 1.15, which is called only for a repair policy. It
// returns an error.
func (c *cloud) Reboot(context.Context, *karpenterv1.NodeClaim, string) error {
	return errors.New("the cloud of a trace reboots no machine")
}

// Create launches the cheapest offering that the requirements of the NodeClaim admit.
func (c *cloud) Create(ctx context.Context, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
	ours := &v1.NodeClaim{}
	if err := Translate(claim, ours); err != nil {
		return nil, err
	}
	types, err := c.provider.InstanceTypes(ctx, c.pools[claim.Labels[karpenterv1.NodePoolLabelKey]])
	if err != nil {
		return nil, err
	}
	request, err := nodeclaim.Request(ours, c.stock.Apply(types), cloudprovider.Vocabulary(c.provider))
	if err != nil {
		return nil, c.refusal(err)
	}
	instance, err := c.provider.Create(ctx, request)
	if err != nil {
		return nil, c.refusal(err)
	}
	c.stock.Launched(instance.OfferingKey())
	return c.claimOf(nodeclaim.Launched(nil).EditClaim(c.now(), ours, instance))
}

// refusal converts an error of the cloud into Karpenter's error type, and records offerings that
// are sold out.
func (c *cloud) refusal(err error) error {
	c.stock.MarkFromError(err)
	c.types = nil // offerings have changed
	switch {
	case errors.Is(err, cloudprovider.ErrInsufficientCapacity):
		return kcloud.NewInsufficientCapacityError(err)
	case errors.Is(err, cloudprovider.ErrNotFound):
		return kcloud.NewNodeClaimNotFoundError(err)
	}
	return err
}

// claimOf converts the NodeClaim that the provider returned.
func (c *cloud) claimOf(ours *v1.NodeClaim) (*karpenterv1.NodeClaim, error) {
	out := &karpenterv1.NodeClaim{}
	if err := Translate(ours, out); err != nil {
		return nil, err
	}
	out.Status.Conditions = nil
	return out, nil
}

// Delete terminates a machine.
func (c *cloud) Delete(ctx context.Context, claim *karpenterv1.NodeClaim) error {
	if err := c.provider.Delete(ctx, claim.Status.ProviderID); err != nil {
		return c.refusal(err)
	}
	return nil
}

// Get returns the NodeClaim of a machine.
func (c *cloud) Get(ctx context.Context, id string) (*karpenterv1.NodeClaim, error) {
	instance, err := c.provider.Get(ctx, id)
	if err != nil {
		return nil, c.refusal(err)
	}
	return stub(instance), nil
}

// List returns a NodeClaim for each machine.
func (c *cloud) List(ctx context.Context) (all []*karpenterv1.NodeClaim, err error) {
	instances, err := c.provider.List(ctx)
	for _, i := range instances {
		all = append(all, stub(i))
	}
	return all, err
}

// stub returns a NodeClaim with the fields that controllers read of a listed machine.
func stub(i *cloudprovider.Instance) *karpenterv1.NodeClaim {
	out := &karpenterv1.NodeClaim{Status: karpenterv1.NodeClaimStatus{ProviderID: i.ID}}
	out.Labels = i.Labels
	out.CreationTimestamp = metav1.NewTime(i.CreatedAt)
	if i.Deleting {
		out.DeletionTimestamp = &out.CreationTimestamp
	}
	return out
}

// IsDrifted asks the cloud whether a NodeClaim has drifted, and returns the reason.
func (c *cloud) IsDrifted(ctx context.Context, claim *karpenterv1.NodeClaim) (kcloud.DriftReason, error) {
	ours := &v1.NodeClaim{}
	if err := Translate(claim, ours); err != nil {
		return "", err
	}
	drift, err := cloudprovider.IsDrifted(ctx, c.provider, ours)
	if err != nil {
		return "", c.refusal(err)
	}
	return kcloud.DriftReason(drift.Reason), nil
}

// GetInstanceTypes returns the cloud's instance types at current prices, as new objects in each
// turn.
func (c *cloud) GetInstanceTypes(ctx context.Context, pool *karpenterv1.NodePool) ([]*kcloud.InstanceType, error) {
	if c.types == nil || !c.asked.Equal(c.now()) {
		c.types, c.asked = map[string][]*kcloud.InstanceType{}, c.now()
	}
	if all := c.types[pool.Name]; all != nil {
		return all, nil
	}
	ours, ok := c.pools[pool.Name]
	if !ok {
		return nil, fmt.Errorf("there is no NodePool %q", pool.Name)
	}
	types, err := c.provider.InstanceTypes(ctx, ours)
	if err != nil {
		return nil, err
	}
	all := []*kcloud.InstanceType{}
	for _, t := range c.stock.Apply(types) {
		all = append(all, c.instanceType(t))
	}
	c.types[pool.Name] = all
	return all, nil
}

func (c *cloud) instanceType(t *cloudprovider.InstanceType) *kcloud.InstanceType {
	fixed := c.fixed[t.Name]
	if fixed == nil {
		fixed = &kcloud.InstanceType{Name: t.Name, Capacity: t.Capacity.ResourceList(), Overhead: &kcloud.InstanceTypeOverhead{
			KubeReserved:      t.Overhead.KubeReserved.ResourceList(),
			SystemReserved:    t.Overhead.SystemReserved.ResourceList(),
			EvictionThreshold: t.Overhead.EvictionThreshold.ResourceList(),
		}}
		var all []corev1.NodeSelectorRequirement
		for _, r := range t.Requirements.NodeSelectorRequirements() {
			all = append(all, corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: r.Values})
			karpenterv1.WellKnownLabels.Insert(r.Key)
		}
		fixed.Requirements = scheduling.NewNodeSelectorRequirements(all...)
		for _, o := range t.Offerings {
			fixed.Offerings = append(fixed.Offerings, &kcloud.Offering{Requirements: scheduling.NewLabelRequirements(map[string]string{
				corev1.LabelTopologyZone: o.Zone, karpenterv1.CapacityTypeLabelKey: o.CapacityType})})
		}
		c.fixed[t.Name] = fixed
	}
	out := &kcloud.InstanceType{Name: t.Name, Requirements: fixed.Requirements, Capacity: fixed.Capacity, Overhead: fixed.Overhead}
	for i, o := range t.Offerings {
		out.Offerings = append(out.Offerings, &kcloud.Offering{Requirements: fixed.Offerings[i].Requirements, Price: o.Price, Available: o.Available})
	}
	return out
}
