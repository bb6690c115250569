package aws

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Get returns the instance as EC2 sees it now; concurrent calls share one call of EC2. id is the
// spec.providerID of a node: aws:///zone/instance. For an id of another form, and for an instance
// of another cluster, the error is KindNotFound.
func (p *Provider) Get(ctx context.Context, id string) (*cloudprovider.Instance, error) {
	k, err := p.get(ctx, "Get", id)
	if err != nil {
		return nil, err
	}
	return p.describeKnown(ctx, k, nil), nil
}

// get asks EC2 for an instance.
func (p *Provider) get(ctx context.Context, op, id string) (launch.Machine, error) {
	zone, short, ok := launch.ParseProviderID(id)
	if !ok {
		return launch.Machine{}, fault(op, id, cloudprovider.KindNotFound, "not an instance of EC2: an id has the form aws:///zone/i-0123456789abcdef0")
	}
	r, err := p.instances.Get(ctx, short)
	switch {
	case errors.Is(err, cloudprovider.ErrNotFound):
		k, gone := p.book.Lost(short)
		if !gone && k.Launched != nil && k.Launched.Zone == zone {
			return k, nil // EC2 is slow to list it
		}
		if gone && !k.Gone && k.ReservationID() != "" {
			p.sources.ReservationTerminated(k.ReservationID())
		}
		return launch.Machine{}, fault(op, id, cloudprovider.KindNotFound, "there is no such instance of cluster %s", p.opts.Cluster.Name)
	case err != nil:
		return launch.Machine{}, about(err, op, id)
	case r.Zone != zone:
		return launch.Machine{}, fault(op, id, cloudprovider.KindNotFound, "the instance is in %s", r.Zone)
	}
	k := p.book.Saw(&r)
	if _, shared := r.Roster(); shared && k.Name == "" {
		// An earlier process launched the instance. Its roster names the NodeClaim, if it can be
		// read; without it the instance is returned all the same.
		if read, err := p.book.Hydrate(ctx); read && err == nil {
			k, _ = p.book.Get(short)
		}
	}
	return k, nil
}

// about returns the error with the operation and the id set.
func about(err error, op, id string) error {
	var e *cloudprovider.Error
	if !errors.As(err, &e) {
		return api.Wrap(op, id, err)
	}
	one := *e
	one.Op, one.Object = op, id
	return &one
}

// List returns the instances of the cluster, sorted by ID. Instances that are going down are
// included. List makes one call of EC2 per thousand instances. With an error the list is nil.
func (p *Provider) List(ctx context.Context) ([]*cloudprovider.Instance, error) {
	// The owner of an instance is known for sure only while EC2 still lists the terminated
	// instances of the same call.
	if _, err := p.book.Hydrate(ctx); err != nil {
		return nil, about(err, "List", p.opts.Cluster.Name)
	}
	var all []launch.Record
	if err := p.instances.Each(ctx, launch.Present, func(r launch.Record) { all = append(all, r) }); err != nil {
		return nil, about(err, "List", p.opts.Cluster.Name)
	}
	by := p.book.Listed(all)
	catalogs := map[string]*instancetype.Catalog{}
	out := make([]*cloudprovider.Instance, 0, len(all))
	for _, k := range by {
		out = append(out, p.describeKnown(ctx, k, catalogs))
	}
	slices.SortFunc(out, func(a, b *cloudprovider.Instance) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// Delete asks EC2 to terminate the instance; concurrent calls share one call of EC2. In a zone that
// traffic was shifted away from, the error is KindNotReady, unless Options.DeleteInShiftedZones is
// set.
func (p *Provider) Delete(ctx context.Context, id string) error {
	const op = "Delete"
	k, err := p.get(ctx, op, id)
	if err != nil {
		return err
	}
	if k.Record != nil && k.Record.Terminating || k.Record == nil && !k.Ended.IsZero() {
		return nil
	}
	zone, short, _ := launch.ParseProviderID(id)
	if !p.opts.DeleteInShiftedZones {
		if err := p.shifted(ctx, op, id, zone); err != nil {
			return err
		}
	}
	err = p.instances.Terminate(ctx, short)
	if errors.Is(err, cloudprovider.ErrNotFound) && k.Record == nil {
		// The instance is too new: not every part of EC2 knows it yet.
		return fault(op, id, cloudprovider.KindUnknown, "EC2 has launched the instance but does not know it yet; repeat")
	}
	if err != nil {
		return about(err, op, id)
	}
	p.book.Ended(short)
	return nil
}

// shifted returns an error if traffic was shifted away from a zone.
func (p *Provider) shifted(ctx context.Context, op, id, zone string) error {
	away, err := p.sources.ShiftedZones(ctx)
	if err != nil {
		return api.Wrap(op, id, err)
	}
	if len(away) == 0 {
		return nil
	}
	zoneID := ""
	for _, z := range p.sources.Zones() {
		if z.Name == zone {
			zoneID = z.ID
		}
	}
	if slices.Contains(away, zone) || zoneID != "" && slices.Contains(away, zoneID) {
		return fault(op, id, cloudprovider.KindNotReady,
			"traffic was shifted away from %s, and nothing is terminated there; wait for the end of the zonal shift, or set Options.DeleteInShiftedZones", zone)
	}
	return nil
}

// describeKnown returns the last description of an instance by EC2. catalogs caches catalogs by
// class, and may be nil.
func (p *Provider) describeKnown(ctx context.Context, k launch.Machine, catalogs map[string]*instancetype.Catalog) *cloudprovider.Instance {
	if k.Record == nil {
		i := *k.Launched
		i.Deleting = !k.Ended.IsZero()
		return &i
	}
	r, i := k.Record, recorded(k)
	i.Deleting = i.Deleting || !k.Ended.IsZero()
	if o, found := optionOf(p.catalogOf(ctx, r.NodeClass(), catalogs), i.OfferingKey()); found {
		describe(i, o)
	}
	if k.Launched != nil {
		// The labels of the launch are certain; those of the catalog may have changed.
		labels := maps.Clone(k.Launched.Labels)
		maps.Copy(labels, i.Labels)
		i.Labels = labels
		if i.Capacity.Len() == 0 {
			i.Capacity, i.Allocatable, i.Price = k.Launched.Capacity, k.Launched.Allocatable, k.Launched.Price
		}
		i.OfferingID = k.Launched.OfferingID
	}
	p.label(i, r.NodeClass(), r.Tenancy, placement{r.GroupID, r.Partition})
	return i
}

// recorded returns an instance as EC2 described it, without labels, capacity and price.
func recorded(k launch.Machine) *cloudprovider.Instance {
	r := k.Record
	return &cloudprovider.Instance{
		ID: r.ProviderID(), Name: k.Name, NodePool: r.NodePool(), Type: r.Type, Zone: r.Zone,
		CapacityType: r.CapacityType, ReservationID: r.ReservationID, ImageID: r.ImageID,
		CreatedAt: r.LaunchedAt, Deleting: r.Terminating,
	}
}

// catalogOf returns the catalog of a class by name, or nil if it cannot be built now: the instance
// is then described without it.
func (p *Provider) catalogOf(ctx context.Context, class string, built map[string]*instancetype.Catalog) *instancetype.Catalog {
	if c, found := built[class]; found {
		return c
	}
	_, c, err := p.catalogFor(ctx, "Get", reference(class))
	if err != nil {
		c = nil
	}
	if built != nil {
		built[class] = c
	}
	return c
}

// optionOf finds an offering in a catalog. If the catalog has the type but not the offering, it
// returns an offering that has only the key: the class may no longer select the zone.
func optionOf(c *instancetype.Catalog, key cloudprovider.OfferingKey) (cloudprovider.LaunchOption, bool) {
	if c == nil {
		return cloudprovider.LaunchOption{}, false
	}
	n, found := slices.BinarySearchFunc(c.Types, key.InstanceType, func(t *cloudprovider.InstanceType, name string) int {
		return strings.Compare(t.Name, name)
	})
	if !found {
		return cloudprovider.LaunchOption{}, false
	}
	t := c.Types[n]
	for j := range t.Offerings {
		if t.Offerings[j].Key(t.Name) == key {
			return cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[j]}, true
		}
	}
	return cloudprovider.LaunchOption{InstanceType: t, Offering: &cloudprovider.Offering{
		Zone: key.Zone, CapacityType: key.CapacityType, ReservationID: key.ReservationID,
	}}, true
}

// describe fills in the capacity and labels of the option by which an instance was launched.
func describe(i *cloudprovider.Instance, o cloudprovider.LaunchOption) {
	i.Labels = o.NodeLabels()
	i.OfferingID, i.Price = o.Offering.ID, o.Offering.Price
	i.Capacity = o.InstanceType.Capacity
	if c := o.Offering.Capacity; c != nil {
		i.Capacity = i.Capacity.Merge(*c)
	}
	if a, err := o.InstanceType.AllocatableFor(o.Offering); err == nil {
		i.Allocatable = a
	}
}

// label sets the labels that every instance has.
func (p *Provider) label(i *cloudprovider.Instance, class, tenancy string, at placement) {
	if i.Labels == nil {
		i.Labels = map[string]string{}
	}
	set := func(key, value string) {
		if value != "" {
			i.Labels[key] = value
		}
	}
	set(corev1.LabelInstanceTypeStable, i.Type)
	set(corev1.LabelTopologyZone, i.Zone)
	set(corev1.LabelTopologyRegion, p.opts.Region)
	set(karpv1.CapacityTypeLabelKey, i.CapacityType)
	set(karpv1.NodePoolLabelKey, i.NodePool)
	set(awsv1.LabelNodeClass, class)
	set(awsv1.LabelInstanceTenancy, tenancy)
	set(awsv1.LabelPlacementGroupID, at.group)
	if at.partition > 0 {
		set(awsv1.LabelPlacementGroupPartition, strconv.Itoa(int(at.partition)))
	}
}
