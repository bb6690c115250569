package cloudprovider_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider/machine"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// kitProvider is a provider made of the parts below this package. Left out are
// Delete, Get and List, and that Create is idempotent on its token.
type kitProvider struct {
	cloudprovider.CloudProvider
	now          func() time.Time
	book         *pricing.Book
	availability *availability.Cache
	launches     *batcher.Group[cloudprovider.OfferingKey, string, *cloudprovider.Instance]
}

func newKitProvider(now func() time.Time, machines map[string]int) (*kitProvider, error) {
	book, err := pricing.New(&pricing.Options{Layers: []pricing.Layer{{Name: "list", Entries: []pricing.Entry{
		{Scope: cloudprovider.Scope{InstanceType: "m5.large"}, Price: 0.1},
		{Scope: cloudprovider.Scope{InstanceType: "m5.xlarge"}, Price: 0.2},
	}}}})
	if err != nil {
		return nil, err
	}
	stock, err := availability.New(now, &availability.Options{MaxTTL: time.Hour})
	if err != nil {
		return nil, err
	}
	// One call of the cloud launches as many machines as are waiting. All of
	// them may be had, or some, or none.
	call := func(_ context.Context, key cloudprovider.OfferingKey, names []string) ([]batcher.Outcome[*cloudprovider.Instance], error) {
		outcomes := make([]batcher.Outcome[*cloudprovider.Instance], len(names))
		for i, name := range names {
			if machines[key.InstanceType] == 0 {
				outcomes[i].Err = &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindInsufficientCapacity,
					Reason: "NoStock", Offerings: []cloudprovider.OfferingKey{key}}
				continue
			}
			machines[key.InstanceType]--
			outcomes[i].Result = &cloudprovider.Instance{ID: "i-" + name, Name: name, Type: key.InstanceType, Zone: key.Zone, CapacityType: key.CapacityType}
		}
		return outcomes, nil
	}
	launches, err := batcher.New(call, &batcher.Options{
		AfterFunc: func(d time.Duration, f func()) batcher.Timer { return time.AfterFunc(d, f) },
		Idle:      time.Millisecond,
	})
	return &kitProvider{now: now, book: book, availability: stock, launches: launches}, err
}

func (p *kitProvider) Name() string { return "kit" }

func (p *kitProvider) InstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	var types []*cloudprovider.InstanceType
	for _, m := range []struct{ name, size string }{{"m5.large", "cpu=2, memory=8Gi, pods=29"}, {"m5.xlarge", "cpu=4, memory=16Gi, pods=58"}} {
		capacity := resources.MustParse(m.size)
		t, err := machine.Machine{
			Name: m.name, Arch: v1.ArchitectureAmd64,
			Capacity:  capacity,
			Overhead:  kubelet.EKS().Overhead(capacity, nil),
			Offerings: []cloudprovider.Offering{{Zone: "zone-a", CapacityType: v1.CapacityTypeOnDemand, Available: true}},
		}.InstanceType()
		if err != nil {
			return nil, err
		}
		types = append(types, t)
	}
	types, _ = p.book.Apply(p.now(), types)
	return p.availability.Apply(types), nil
}

func (p *kitProvider) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	req.Options = p.availability.Admit(req.Options)
	selection := launch.Select(&req, nil)
	if len(selection.Options) == 0 {
		return nil, &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindInsufficientCapacity, Object: req.Name,
			Err: errors.New("all options were refused lately")}
	}
	instance, err := p.launches.Do(ctx, selection.Options[0].Key(), req.Name)
	if err != nil {
		p.availability.MarkFromError(err)
		return nil, err
	}
	p.availability.Launched(instance.OfferingKey())
	return instance, nil
}

// A provider made of the kit, of which only the calls of the cloud are its own.
func Example_providerKit() {
	now := func() time.Time { return time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC) }
	kit, err := newKitProvider(now, map[string]int{"m5.large": 1, "m5.xlarge": 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 3 {
		types, err := kit.InstanceTypes(context.Background(), nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		name := fmt.Sprint("web-", i)
		instance, err := kit.Create(context.Background(), cloudprovider.LaunchRequest{
			Token: name, Name: name, NodeClassRef: v1.NodeClassReference{Name: "default"},
			Options: launch.Compatible(types, requirements.Set{}),
		})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(instance.OfferingKey())
	}
	// Output:
	// m5.large/zone-a/on-demand
	// Create: insufficient capacity: NoStock: m5.large/zone-a/on-demand
	// m5.xlarge/zone-a/on-demand
}
