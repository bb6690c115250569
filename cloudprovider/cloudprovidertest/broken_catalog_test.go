package cloudprovidertest_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// recatalog has InstanceTypes return copies with a change.
func recatalog(change func([]*cloudprovider.InstanceType) []*cloudprovider.InstanceType) func(*twist) {
	return func(t *twist) {
		t.types = func(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
			types, err := t.Cloud.InstanceTypes(ctx, pool)
			if err != nil {
				return nil, err
			}
			for i := range types {
				types[i] = types[i].Clone()
			}
			return change(types), nil
		}
	}
}

// retype changes the last type of the catalog, which is none that the suite
// launches.
func retype(change func(*cloudprovider.InstanceType)) func(*twist) {
	return recatalog(func(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
		change(types[len(types)-1])
		return types
	})
}

// repriced changes the prices of the catalog and of all instances alike.
func repriced(change func(price *float64)) func(*twist) {
	return func(t *twist) {
		recatalog(func(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
			for _, i := range types {
				for j := range i.Offerings {
					change(&i.Offerings[j].Price)
				}
			}
			return types
		})(t)
		dearer := func(i *cloudprovider.Instance) { change(&i.Price) }
		recreate(dearer)(t)
		reget(dearer)(t)
		t.list = relist(t, dearer)
	}
}

// refusals makes Create remember for a time which offerings it was refused, and says of one
// whether it was.
func refusals(t *twist, lasting time.Duration) func(cloudprovider.OfferingKey) bool {
	var refused sync.Map
	t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
		instance, err := t.Cloud.Create(ctx, req)
		var e *cloudprovider.Error
		if errors.As(err, &e) {
			for _, key := range e.Offerings {
				refused.Store(key, t.Now())
			}
		}
		return instance, err
	}
	return func(key cloudprovider.OfferingKey) bool {
		at, found := refused.Load(key)
		return found && t.Now().Sub(at.(time.Time)) < lasting
	}
}

func brokenCatalogs() []broken {
	return slices.Concat(brokenTypes(), []broken{
		{"catalog/stable", "the order of a map", func(t *twist) {
			var turn atomic.Int64
			recatalog(func(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
				last := types[len(types)-1]
				last.Requirements = last.Requirements.With(requirements.In("example.com/turn", strconv.FormatInt(turn.Add(1), 10)))
				return types
			})(t)
		}},
		{"catalog/prices", "in cents", repriced(func(price *float64) { *price *= 100 })},
		{"catalog/prices", "for a month", repriced(func(price *float64) { *price *= 730 })},
		{"stock/listed", "what is sold out leaves the catalog", func(t *twist) {
			refused := refusals(t, 10*time.Minute)
			t.types = func(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				types, err := t.Cloud.InstanceTypes(ctx, pool)
				for i := range types {
					types[i] = types[i].Clone()
					types[i].Offerings = slices.DeleteFunc(types[i].Offerings, func(o cloudprovider.Offering) bool {
						return refused(o.Key(types[i].Name))
					})
				}
				return slices.DeleteFunc(types, func(i *cloudprovider.InstanceType) bool { return len(i.Offerings) == 0 }), err
			}
		}},
		{"stock/restored", "what was sold out once is so for ever", func(t *twist) {
			refused := refusals(t, math.MaxInt64)
			t.types = func(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				types, err := t.Cloud.InstanceTypes(ctx, pool)
				for i := range types {
					types[i] = types[i].Clone()
					for j := range types[i].Offerings {
						o := &types[i].Offerings[j]
						o.Available = o.Available && !refused(o.Key(types[i].Name))
					}
				}
				return types, err
			}
		}},
		{"catalog/unfiltered", "filters by the pool", func(t *twist) {
			t.types = func(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				types, err := t.Cloud.InstanceTypes(ctx, pool)
				reqs, _ := requirements.FromNodePool(pool, t.Vocabulary())
				return slices.DeleteFunc(types, func(i *cloudprovider.InstanceType) bool {
					r, found := reqs.Get(corev1.LabelInstanceTypeStable)
					return found && !r.Has(i.Name)
				}), err
			}
		}},
		{"catalog/unfiltered", "writes to the pool", func(t *twist) {
			t.types = func(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				if pool != nil && len(pool.Spec.Template.Spec.Requirements) > 0 {
					pool.Spec.Template.Spec.Requirements[0].Values = nil
				}
				return t.Cloud.InstanceTypes(ctx, pool)
			}
		}},
		{"class/ready", "never ready", func(t *twist) {
			t.ready = func(ctx context.Context, ref v1.NodeClassReference) error {
				if err := t.Cloud.NodeClassReady(ctx, ref); err != nil {
					return err
				}
				return cloudprovider.ErrNotReady
			}
		}},
		{"class/none", "a default in place of none", func(t *twist) {
			t.types = func(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				if pool != nil && pool.Spec.Template.Spec.NodeClassRef == nil {
					pool = pool.DeepCopy()
					pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "FakeNodeClass", Name: "default"}
				}
				return t.Cloud.InstanceTypes(ctx, pool)
			}
		}},
		{"class/none", "panics", func(t *twist) {
			t.types = func(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				_ = pool.Spec.Template.Spec.NodeClassRef.Name
				return t.Cloud.InstanceTypes(ctx, pool)
			}
		}},
		{"class/missing", "a default in place of what is missing", func(t *twist) {
			t.types = func(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				types, err := t.Cloud.InstanceTypes(ctx, pool)
				if cloudprovider.KindOf(err) == cloudprovider.KindNotFound {
					pool = pool.DeepCopy()
					pool.Spec.Template.Spec.NodeClassRef.Name = "default"
					return t.Cloud.InstanceTypes(ctx, pool)
				}
				return types, err
			}
		}},
		{"class/foreign", "takes every kind for its own", func(t *twist) {
			foreign := schema.GroupKind{Group: "conformance.example.com", Kind: "ForeignNodeClass"}
			t.supported = func() []schema.GroupKind { return append(t.Cloud.SupportedNodeClasses(), foreign) }
		}},
		{"class/launched", "looks at the class first", func(t *twist) {
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				if err := t.NodeClassReady(ctx, req.NodeClassRef); req.Validate() == nil && err != nil {
					return nil, err
				}
				return t.Cloud.Create(ctx, req)
			}
		}},
		{"class/unready", "says so only when asked", func(t *twist) {
			t.types = func(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				types, err := t.Cloud.InstanceTypes(ctx, pool)
				if cloudprovider.KindOf(err) == cloudprovider.KindNotReady {
					return nil, nil
				}
				return types, err
			}
		}},
	})
}

func brokenTypes() []broken {
	return []broken{
		{"catalog/sound", "a price of zero", retype(func(t *cloudprovider.InstanceType) { t.Offerings[0].Price = 0 })},
		{"catalog/sound", "a nil entry", recatalog(func(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
			return append(types, nil)
		})},
		{"catalog/sorted", "by price", recatalog(func(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
			price := func(t *cloudprovider.InstanceType) float64 {
				return launch.Compatible([]*cloudprovider.InstanceType{t}, requirements.Set{})[0].Offering.Price
			}
			return slices.SortedFunc(slices.Values(types), func(a, b *cloudprovider.InstanceType) int { return cmp.Compare(price(a), price(b)) })
		})},
		{"catalog/sorted", "offerings from the last", retype(func(t *cloudprovider.InstanceType) { slices.Reverse(t.Offerings) })},
		{"catalog/labels", "no word of GPUs", retype(func(t *cloudprovider.InstanceType) {
			t.Requirements = t.Requirements.Without(awsv1.LabelInstanceGPUName)
		})},
		{"catalog/offerings", "a zone that nothing is offered in", retype(func(t *cloudprovider.InstanceType) {
			t.Requirements = t.Requirements.Without(corev1.LabelTopologyZone).With(
				requirements.In(corev1.LabelTopologyZone, "zone-a", "zone-b", "zone-c"))
		})},
		{"catalog/reservations", "each offering for itself", retype(func(t *cloudprovider.InstanceType) {
			for i, zone := range []string{"zone-a", "zone-b"} {
				t.Offerings = append(t.Offerings, cloudprovider.Offering{
					Zone: zone, CapacityType: v1.CapacityTypeReserved, ReservationID: "cr-1",
					Requirements: t.Offerings[i*2].Requirements, Price: 1000, Available: true, ReservationCapacity: i + 1,
				})
			}
			slices.SortFunc(t.Offerings, func(a, b cloudprovider.Offering) int { return a.Key(t.Name).Compare(b.Key(t.Name)) })
			t.Requirements = t.Requirements.Without(v1.CapacityTypeLabelKey).With(
				requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypes()...))
		})},
		{"catalog/capacity", "memory in MiB", retype(func(t *cloudprovider.InstanceType) {
			t.Capacity = t.Capacity.With(corev1.ResourceMemory, t.Capacity.Get(corev1.ResourceMemory)>>20)
		})},
		{"catalog/capacity", "overhead of a larger machine", retype(func(t *cloudprovider.InstanceType) {
			t.Overhead.SystemReserved = resources.MustParse("cpu=64")
		})},
	}
}
