package family

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/fake"
)

const (
	awsTypes   = "aws"
	fakePrefix = "fake"
	// mostFakes bounds the size of a synthetic catalog, in case the name is mistyped.
	mostFakes = 10_000
)

// catalog has the instance types on sale and their zones.
type catalog struct {
	zones []string
	types []scenario.InstanceType
}

// catalogByName returns the catalog that Spec.Types names.
func catalogByName(name string) (catalog, error) {
	if name == awsTypes {
		return aws()
	}
	if digits, ok := strings.CutPrefix(name, fakePrefix); ok {
		if n, err := strconv.Atoi(digits); err == nil && n >= 1 && n <= mostFakes {
			return synthetic(n), nil
		}
	}
	return catalog{}, fmt.Errorf("there is no catalog %q; use %s, or %s1 to %s%d", name, awsTypes, fakePrefix, fakePrefix, mostFakes)
}

// aws returns the library's catalog. A scenario cannot express labels that only some offerings of a
// type have, which are zone IDs; the type keeps all their values.
func aws() (catalog, error) {
	var c catalog
	for _, t := range fake.Catalog() {
		overhead, err := t.Overhead.Total()
		if err != nil {
			return catalog{}, fmt.Errorf("instance type %s: %w", t.Name, err)
		}
		out := scenario.InstanceType{Name: t.Name, Capacity: t.Capacity.ResourceList(), Overhead: overhead.ResourceList()}
		for _, r := range t.Requirements.NodeSelectorRequirements() {
			out.Requirements = append(out.Requirements, corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: r.Values})
		}
		for _, o := range t.Offerings {
			out.Offerings = append(out.Offerings, scenario.Offering{
				Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Price, Available: o.Available,
				ReservationID: o.ReservationID, ReservationCapacity: o.ReservationCapacity,
			})
			if !slices.Contains(c.zones, o.Zone) {
				c.zones = append(c.zones, o.Zone)
			}
		}
		c.types = append(c.types, out)
	}
	slices.Sort(c.zones)
	return c, nil
}

// Sizes and price of the synthetic types, per vCPU.
const (
	syntheticMemory = 2 << 30 // bytes
	syntheticPods   = 10
	// A vCPU costs as much as a gigabyte of memory.
	syntheticPrice = 0.1 // USD per hour
)

// synthetic returns the catalog of Karpenter's benchmark: types of 1 to n vCPUs with memory and
// pods in proportion, at a linear price. Each is sold on demand in three zones and as spot in the
// first two of them, all at the same price.
func synthetic(n int) catalog {
	c := catalog{zones: []string{"test-zone-1", "test-zone-2", "test-zone-3"}}
	for i := range n {
		c.types = append(c.types, syntheticType(i, c.zones))
	}
	return c
}

func syntheticType(i int, zones []string) scenario.InstanceType {
	cpus := int64(i + 1)
	memory := cpus * syntheticMemory
	t := scenario.InstanceType{
		Name: fmt.Sprintf("fake-it-%d", i),
		Capacity: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewQuantity(cpus, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
			corev1.ResourcePods:   *resource.NewQuantity(cpus*syntheticPods, resource.DecimalSI),
		},
		Overhead: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("100m"),
			corev1.ResourceMemory: resource.MustParse("10Mi"),
		},
	}
	price := syntheticPrice*float64(cpus) + syntheticPrice*float64(memory)/1e9
	for place, zone := range zones {
		t.Offerings = append(t.Offerings, scenario.Offering{Zone: zone, CapacityType: v1.CapacityTypeOnDemand, Price: price, Available: true})
		if place < 2 {
			t.Offerings = append(t.Offerings, scenario.Offering{Zone: zone, CapacityType: v1.CapacityTypeSpot, Price: price, Available: true})
		}
	}
	in := func(key string, values ...string) {
		t.Requirements = append(t.Requirements, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values})
	}
	in(corev1.LabelInstanceTypeStable, t.Name)
	in(corev1.LabelArchStable, v1.ArchitectureAmd64)
	in(corev1.LabelOSStable, "darwin", string(corev1.Linux), string(corev1.Windows))
	in(corev1.LabelTopologyZone, zones...)
	in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand, v1.CapacityTypeSpot)
	in("integer", strconv.FormatInt(cpus, 10))
	// Types with more than 4 vCPUs, and so more than 8 GiB, are large.
	if cpus > 4 {
		in("size", "large")
		in("special", "optional")
		return t
	}
	in("size", "small")
	t.Requirements = append(t.Requirements, corev1.NodeSelectorRequirement{Key: "special", Operator: corev1.NodeSelectorOpDoesNotExist})
	return t
}
