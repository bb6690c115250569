package overlay_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// newOverlay makes an overlay of requirements in text form. change is a price
// ("0.5"), an adjustment ("+10%"), amounts of resources ("example.com/gpu=1"),
// or empty.
func newOverlay(name string, weight int32, reqs string, changes ...string) *v1.NodeOverlay {
	o := &v1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 3}}
	o.Spec.Requirements = []v1.NodeSelectorRequirement{}
	for _, r := range requirements.MustParse(reqs).NodeSelectorRequirements() {
		o.Spec.Requirements = append(o.Spec.Requirements, v1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: r.Values})
	}
	if weight != 0 {
		o.Spec.Weight = &weight
	}
	for _, change := range changes {
		switch {
		case change[0] == '+' || change[0] == '-':
			o.Spec.PriceAdjustment = &change
		case change[0] >= '0' && change[0] <= '9':
			o.Spec.Price = &change
		default:
			o.Spec.Capacity = list(change).ResourceList()
		}
	}
	return o
}

// overlayPool makes a pool with template requirements in text form.
func overlayPool(name, reqs string) *v1.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Template.Spec.Requirements = requirements.MustParse(reqs).NodeSelectorRequirements()
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "ExampleClass", Name: "default"}
	return p
}

// overlayType makes a type with an on-demand offering at the price given, and a
// spot offering at half of it, in zones a and b.
func overlayType(name, reqs string, price float64) *cloudprovider.InstanceType {
	t := &cloudprovider.InstanceType{
		Name:     name,
		Capacity: list("cpu=4, memory=16Gi, pods=58"),
		Requirements: requirements.MustParse(reqs).With(
			requirements.In("node.kubernetes.io/instance-type", name),
			requirements.In("topology.kubernetes.io/zone", "a", "b"),
			requirements.In("karpenter.sh/capacity-type", "on-demand", "spot"),
		),
		VolumeAttachmentLimits: map[string]int64{"disk.example.com": 7},
		Devices:                []cloudprovider.InstanceDevice{{Driver: "gpu.example.com", Count: 1}},
	}
	for _, zone := range []string{"a", "b"} {
		t.Offerings = append(t.Offerings,
			cloudprovider.Offering{Zone: zone, CapacityType: "on-demand", Price: price, Available: true},
			cloudprovider.Offering{Zone: zone, CapacityType: "spot", Price: price / 2, Available: true})
	}
	return t
}

// overlayCatalogs gives every pool the same catalog.
func overlayCatalogs(pools []*v1.NodePool, types ...*cloudprovider.InstanceType) map[string][]*cloudprovider.InstanceType {
	out := map[string][]*cloudprovider.InstanceType{}
	for _, p := range pools {
		out[p.Name] = types
	}
	return out
}

// applyOverlays applies overlays that must not fail.
func applyOverlays(t *testing.T, overlays []*v1.NodeOverlay, pools []*v1.NodePool, types ...*cloudprovider.InstanceType) (map[string][]*cloudprovider.InstanceType, map[string]overlay.Status) {
	t.Helper()
	out, statuses, err := overlay.Apply(overlays, pools, overlayCatalogs(pools, types...), nil)
	require.NoError(t, err)
	byName := map[string]overlay.Status{}
	for _, s := range statuses {
		byName[s.Name] = s
	}
	require.Len(t, byName, len(statuses))
	return out, byName
}

// overlayPrices lists the prices of a type in the order of its offerings.
func overlayPrices(t *cloudprovider.InstanceType) []float64 {
	var out []float64
	for i := range t.Offerings {
		out = append(out, t.Offerings[i].Price)
	}
	return out
}

func list(text string) resources.List { return resources.MustParse(text) }

func override(text string) *resources.List {
	l := list(text)
	return &l
}
