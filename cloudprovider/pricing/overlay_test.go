package pricing_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

func overlay(name, price string, weight int32, types ...string) *v1.NodeOverlay {
	return &v1.NodeOverlay{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.NodeOverlaySpec{
			Price: &price, Weight: &weight,
			Requirements: []v1.NodeSelectorRequirement{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: types}},
		},
	}
}

func TestOverlayLayer(t *testing.T) {
	entry := func(name string, price float64) pricing.Entry {
		return pricing.Entry{Scope: scope{InstanceType: name}, Price: price}
	}
	adjusted := overlay("adjusted", "1", 1, "p9.large")
	adjusted.Spec.Price, adjusted.Spec.PriceAdjustment = nil, adjusted.Spec.Price
	narrower := overlay("narrower", "1", 1, "p9.large")
	narrower.Spec.Requirements = append(narrower.Spec.Requirements,
		v1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"zone-a"}})
	others := overlay("others", "1", 1, "p9.large")
	others.Spec.Requirements[0].Operator = corev1.NodeSelectorOpNotIn
	family := overlay("family", "1", 1, "p9")
	family.Spec.Requirements[0].Key = "family"
	beta := overlay("beta", "1.5", 1, "p9.large")
	beta.Spec.Requirements[0].Key = "beta.kubernetes.io/instance-type"
	unweighted := overlay("unweighted", "9", 1, "p9.large")
	unweighted.Spec.Weight = nil
	for _, test := range []struct {
		name     string
		overlays []*v1.NodeOverlay
		want     []pricing.Entry
	}{
		{"none", nil, nil},
		{"several types", []*v1.NodeOverlay{nil, overlay("a", "2.5", 1, "p9.xlarge", "p9.large")},
			[]pricing.Entry{entry("p9.large", 2.5), entry("p9.xlarge", 2.5)}},
		{"the heaviest", []*v1.NodeOverlay{overlay("a", "1", 1, "p9.large"), overlay("b", "2", 5, "p9.large"), unweighted},
			[]pricing.Entry{entry("p9.large", 2)}},
		{"of one weight the first name", []*v1.NodeOverlay{overlay("b", "2", 1, "p9.large"), overlay("a", "1", 1, "p9.large")},
			[]pricing.Entry{entry("p9.large", 1)}},
		{"an older name of the label", []*v1.NodeOverlay{beta}, []pricing.Entry{entry("p9.large", 1.5)}},
		{"what does not price whole types", []*v1.NodeOverlay{adjusted, narrower, others, family,
			overlay("zero", "0", 1, "p9.large"), overlay("invalid", "cheap", 1, "p9.large")}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, pricing.Layer{Name: "overlays", Entries: test.want}, pricing.OverlayLayer("overlays", test.overlays))
			slices.Reverse(test.overlays)
			require.Equal(t, test.want, pricing.OverlayLayer("overlays", test.overlays).Entries, "order does not count")
		})
	}
}

func ExampleOverlayLayer() {
	preview := overlay("preview", "4.2", 10, "p9.large")
	book, err := pricing.New(pricing.Options{Layers: []pricing.Layer{
		{Name: "list"},
		pricing.OverlayLayer("overlays", []*v1.NodeOverlay{preview}),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(book.Quote(now, cloudprovider.OfferingKey{InstanceType: "p9.large", Zone: "zone-a", CapacityType: "on-demand"}))
	// Output:
	// p9.large/zone-a/on-demand: 4.2 USD/h (overlays 4.2)
}
