package overlay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Offerings of overlayType: on-demand in a, spot in a, on-demand in b, spot in b.
const (
	selectsOnDemandA = 1 << iota
	selectsSpotA
	selectsOnDemandB
	selectsSpotB
	selectsNone = 0
	selectsAll  = selectsOnDemandA | selectsSpotA | selectsOnDemandB | selectsSpotB
)

func TestSelection(t *testing.T) {
	tests := []struct {
		name        string
		pool, itype string // requirements
		labels      map[string]string
		overlay     string
		firstOffer  string // requirements of the first offering
		want        int
	}{
		{name: "no requirements select everything", want: selectsAll},
		{name: "by type", overlay: "node.kubernetes.io/instance-type = small", want: selectsAll},
		{name: "by another type", overlay: "node.kubernetes.io/instance-type = large", want: selectsNone},
		{name: "by zone", overlay: "topology.kubernetes.io/zone = b", want: selectsOnDemandB | selectsSpotB},
		{name: "by excluded zone", overlay: "topology.kubernetes.io/zone notin (b)", want: selectsOnDemandA | selectsSpotA},
		{name: "by alias of the zone label", overlay: "failure-domain.beta.kubernetes.io/zone = b", want: selectsOnDemandB | selectsSpotB},
		{name: "by capacity type", overlay: "karpenter.sh/capacity-type = spot", want: selectsSpotA | selectsSpotB},
		{name: "by zone and capacity type", overlay: "topology.kubernetes.io/zone = b, karpenter.sh/capacity-type = spot", want: selectsSpotB},
		{name: "by label of an offering", firstOffer: "example.com/rack = r1", overlay: "example.com/rack = r1", want: selectsOnDemandA},
		{name: "by absence of a label of an offering", firstOffer: "example.com/rack = r1", overlay: "!example.com/rack", want: selectsSpotA | selectsOnDemandB | selectsSpotB},
		{name: "by number", itype: "example.com/cpu = 8", overlay: "example.com/cpu > 7", want: selectsAll},
		{name: "by number, too small", itype: "example.com/cpu = 8", overlay: "example.com/cpu > 8", want: selectsNone},
		{name: "by pool", overlay: "karpenter.sh/nodepool = general", want: selectsAll},
		{name: "by another pool", overlay: "karpenter.sh/nodepool = batch", want: selectsNone},
		{name: "the pool is that of the pool, whatever the type says", itype: "!karpenter.sh/nodepool",
			overlay: "karpenter.sh/nodepool = general", want: selectsAll},
		{name: "by node class", overlay: "example.com/exampleclass = default", want: selectsAll},
		{name: "by another node class", overlay: "example.com/exampleclass = gpu", want: selectsNone},
		{name: "by template label", labels: map[string]string{"team": "a"}, overlay: "team = a", want: selectsAll},
		{name: "by another template label", labels: map[string]string{"team": "b"}, overlay: "team = a", want: selectsNone},
		{name: "by pool requirement", pool: "team = a", overlay: "team in (a, b)", want: selectsAll},
		{name: "a pool requirement that may come out otherwise", pool: "team in (a, c)", overlay: "team in (a, b)", want: selectsNone},
		{name: "a pool requirement with minValues", pool: "team in (a, b) minvalues 2", overlay: "team in (a, b)", want: selectsAll},
		{name: "a pool that wants any value", pool: "team", overlay: "team", want: selectsAll},
		{name: "a pool that wants any value, an overlay that wants one", pool: "team", overlay: "team = a", want: selectsNone},
		{name: "a contradictory pool", pool: "team = a, team = b", overlay: "team = a", want: selectsNone},
		{name: "an unknown label", overlay: "team = a", want: selectsNone},
		{name: "absence of an unknown label", overlay: "!team", want: selectsAll},
		{name: "exclusion of a value of an unknown label", overlay: "team notin (a)", want: selectsAll},
		{name: "a well-known label that nobody names is absent", overlay: "kubernetes.io/arch = arm64", want: selectsNone},
		{name: "a type with a choice", itype: "kubernetes.io/os in (linux, windows)", overlay: "kubernetes.io/os = linux", want: selectsAll},
		{name: "the pool narrows the choice of the type", pool: "kubernetes.io/os = windows",
			itype: "kubernetes.io/os in (linux, windows)", overlay: "kubernetes.io/os = linux", want: selectsNone},
		{name: "a type that the pool no longer allows", pool: "kubernetes.io/arch = amd64",
			itype: "kubernetes.io/arch = arm64", overlay: "kubernetes.io/arch = arm64", want: selectsAll},
		{name: "the pool narrows the zones", pool: "topology.kubernetes.io/zone = a",
			overlay: "topology.kubernetes.io/zone in (a, b)", want: selectsAll},
		{name: "an overlay that contradicts itself", overlay: "team = a, team = b", want: selectsNone},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pool := overlayPool("general", test.pool)
			pool.Spec.Template.Labels = test.labels
			small := overlayType("small", test.itype, 1)
			if test.firstOffer != "" {
				small.Offerings[0].Requirements = requirements.MustParse(test.firstOffer)
			}
			out, statuses := applyOverlays(t, []*v1.NodeOverlay{newOverlay("o", 0, test.overlay, "9", "example.com/gpu=1")}, []*v1.NodePool{pool}, small)
			got, count := 0, 0
			for i, o := range out["general"][0].Offerings {
				if o.Price == 9 {
					got |= 1 << i
					count++
					require.Equal(t, "o", o.PriceOverlay)
				} else {
					require.Empty(t, o.PriceOverlay)
				}
			}
			require.Equal(t, test.want, got)
			types := min(count, 1)
			require.Equal(t, overlay.Status{
				Name: "o", Generation: 3, InstanceTypes: types, Offerings: count, Priced: count, Resized: types,
			}, statuses["o"])
			_, hasGPU := out["general"][0].Capacity.Lookup("example.com/gpu")
			require.Equal(t, count > 0, hasGPU, "capacity is for the whole type if any offering is selected")
		})
	}
}

func TestWeights(t *testing.T) {
	pools := []*v1.NodePool{overlayPool("general", "")}
	out, statuses := applyOverlays(t, []*v1.NodeOverlay{
		newOverlay("base", 0, "", "+10%", "example.com/gpu=1, example.com/nic=2"),
		newOverlay("spot", 5, "karpenter.sh/capacity-type = spot", "-50%"),
		newOverlay("big", 10, "topology.kubernetes.io/zone = b", "example.com/gpu=8"),
	}, pools, overlayType("small", "", 1))
	small := out["general"][0]
	require.Equal(t, []float64{1.1, 0.25, 1.1, 0.25}, overlayPrices(small), "the heaviest wins, and nothing adds up")
	require.Equal(t, list("cpu=4, example.com/gpu=8, example.com/nic=2, memory=16Gi, pods=58"), small.Capacity)
	require.Equal(t, map[corev1.ResourceName]string{"example.com/gpu": "big", "example.com/nic": "base"}, small.CapacityOverlays)
	require.Equal(t, []string{"base", "spot", "base", "spot"},
		[]string{small.Offerings[0].PriceOverlay, small.Offerings[1].PriceOverlay, small.Offerings[2].PriceOverlay, small.Offerings[3].PriceOverlay})
	require.Equal(t, overlay.Status{Name: "base", Generation: 3, InstanceTypes: 1, Offerings: 4, Priced: 2, Resized: 1}, statuses["base"])
	require.Equal(t, overlay.Status{Name: "spot", Generation: 3, InstanceTypes: 1, Offerings: 2, Priced: 2}, statuses["spot"])
	require.Equal(t, overlay.Status{Name: "big", Generation: 3, InstanceTypes: 1, Offerings: 2, Resized: 1}, statuses["big"])
}

func TestConflicts(t *testing.T) {
	pools := []*v1.NodePool{overlayPool("general", "")}
	at := func(zone, capacityType string) cloudprovider.OfferingKey {
		return cloudprovider.OfferingKey{InstanceType: "small", Zone: zone, CapacityType: capacityType}
	}
	gpu := func(with ...string) overlay.Conflict {
		return overlay.Conflict{NodePool: "general", Offering: at("", ""), Resource: "example.com/gpu", With: with}
	}
	price := func(zone, capacityType string, with ...string) overlay.Conflict {
		return overlay.Conflict{NodePool: "general", Offering: at(zone, capacityType), With: with}
	}
	tests := []struct {
		name     string
		overlays []*v1.NodeOverlay
		prices   []float64
		gpu      int64
		want     map[string][]overlay.Conflict
	}{
		{
			name: "only where they meet, and the first by name counts",
			overlays: []*v1.NodeOverlay{
				newOverlay("a", 1, "karpenter.sh/capacity-type = spot", "3"),
				newOverlay("b", 1, "topology.kubernetes.io/zone = b", "4"),
			},
			prices: []float64{1, 3, 4, 3},
			want:   map[string][]overlay.Conflict{"b": {price("b", "spot", "a")}},
		},
		{
			name:     "equal values conflict too",
			overlays: []*v1.NodeOverlay{newOverlay("a", 0, "topology.kubernetes.io/zone = a, karpenter.sh/capacity-type = spot", "3"), newOverlay("b", 0, "", "3")},
			prices:   []float64{3, 3, 3, 3},
			want:     map[string][]overlay.Conflict{"b": {price("a", "spot", "a")}},
		},
		{
			name: "no conflict among the outweighed",
			overlays: []*v1.NodeOverlay{
				newOverlay("top", 9, "", "7"), newOverlay("a", 1, "", "3"), newOverlay("b", 1, "", "4"),
			},
			prices: []float64{7, 7, 7, 7},
			want:   map[string][]overlay.Conflict{},
		},
		{
			name: "price and capacity are apart",
			overlays: []*v1.NodeOverlay{
				newOverlay("a", 1, "", "3"), newOverlay("b", 1, "", "example.com/gpu=2"),
			},
			prices: []float64{3, 3, 3, 3},
			gpu:    2,
			want:   map[string][]overlay.Conflict{},
		},
		{
			name: "resources are apart, and three of one weight all show",
			overlays: []*v1.NodeOverlay{
				newOverlay("c", 1, "", "example.com/gpu=3"),
				newOverlay("b", 1, "", "example.com/nic=2"),
				newOverlay("a", 1, "", "example.com/gpu=1"),
				newOverlay("d", 1, "", "example.com/gpu=4"),
			},
			prices: []float64{1, 0.5, 1, 0.5},
			gpu:    1,
			want:   map[string][]overlay.Conflict{"c": {gpu("a", "d")}, "d": {gpu("a", "c")}},
		},
		{
			name: "capacity belongs to the type, even of different offerings",
			overlays: []*v1.NodeOverlay{
				newOverlay("a", 0, "topology.kubernetes.io/zone = a", "example.com/gpu=1"),
				newOverlay("b", 0, "topology.kubernetes.io/zone = b", "example.com/gpu=2"),
			},
			prices: []float64{1, 0.5, 1, 0.5},
			gpu:    1,
			want:   map[string][]overlay.Conflict{"b": {gpu("a")}},
		},
		{
			name: "an invalid overlay takes part in nothing",
			overlays: []*v1.NodeOverlay{
				newOverlay("a", 0, "", "1.2.3"), newOverlay("b", 0, "", "4"),
			},
			prices: []float64{4, 4, 4, 4},
			want:   map[string][]overlay.Conflict{},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, statuses := applyOverlays(t, test.overlays, pools, overlayType("small", "", 1))
			small := out["general"][0]
			require.Equal(t, test.prices, overlayPrices(small))
			require.Equal(t, test.gpu, small.Capacity.Get("example.com/gpu"))
			got := map[string][]overlay.Conflict{}
			for name, s := range statuses {
				if len(s.Conflicts) > 0 {
					got[name] = s.Conflicts
				}
			}
			require.Equal(t, test.want, got)
		})
	}
}

// TestSharing: what is not changed is not copied, and what is changed
// alike is copied once.
func TestSharing(t *testing.T) {
	pools := []*v1.NodePool{overlayPool("a", ""), overlayPool("b", ""), overlayPool("c", ""), overlayPool("d", "")}
	small, large := overlayType("small", "", 1), overlayType("large", "", 2)
	types := overlayCatalogs(pools, small, nil, large)
	types["stranger"] = []*cloudprovider.InstanceType{small}
	out, _, err := overlay.Apply([]*v1.NodeOverlay{
		newOverlay("x", 0, "karpenter.sh/nodepool in (a, b, d), node.kubernetes.io/instance-type = small", "5"),
		newOverlay("y", 0, "karpenter.sh/nodepool = d, node.kubernetes.io/instance-type = small", "example.com/gpu=1"),
	}, pools, types, nil)
	require.NoError(t, err)
	require.Len(t, out, 5)
	for _, pool := range pools {
		require.Len(t, out[pool.Name], 3)
		require.Nil(t, out[pool.Name][1])
		require.Same(t, large, out[pool.Name][2])
	}
	require.NotSame(t, small, out["a"][0])
	require.Same(t, out["a"][0], out["b"][0])
	require.NotSame(t, out["a"][0], out["d"][0])
	require.Same(t, small, out["c"][0])
	require.Same(t, small, out["stranger"][0], "a catalog without a pool stays")
	require.Same(t, small, types["a"][0], "the input stays")
	require.Equal(t, []float64{5, 5, 5, 5}, overlayPrices(out["d"][0]))
	require.Equal(t, int64(1), out["d"][0].Capacity.Get("example.com/gpu"))
}

// TestCapacityFaults: what no node can have is a fault, and never rounded.
func TestCapacityFaults(t *testing.T) {
	const whole = "use a whole number: the API server takes no other of a node for this resource"
	for text, want := range map[string]string{
		"1500m":   "1.5: " + whole,
		"1n":      "1e-09: " + whole,
		"0.5":     "0.5: " + whole,
		"-1500m":  `"-2": use zero or more; -1.5: ` + whole,
		"-1":      `"-1": use zero or more`,
		"2000m":   "",
		"1.5k":    "",
		"0":       "",
		"1e18":    "",
		"1.00001": "1.00001: " + whole,
	} {
		o := newOverlay("o", 0, "", "2", "example.com/gpu=7")
		o.Spec.Capacity["example.com/gpu"] = resource.MustParse(text)
		out, statuses := applyOverlays(t, []*v1.NodeOverlay{o}, []*v1.NodePool{overlayPool("general", "")}, overlayType("small", "", 1))
		var got []string
		for _, f := range statuses["o"].Faults {
			require.Equal(t, "spec.capacity[example.com/gpu]", f.Field, text)
			got = append(got, strings.TrimPrefix(f.ErrorBody(), "Invalid value: "))
		}
		require.Equal(t, want, strings.Join(got, "; "), text)
		amount, applied := out["general"][0].Capacity.Lookup("example.com/gpu")
		require.Equal(t, want == "", applied, text)
		if applied {
			q := o.Spec.Capacity["example.com/gpu"]
			require.Zero(t, q.CmpInt64(amount), text)
		}
	}
	tiny := newOverlay("o", 0, "", "2", "example.com/gpu=7")
	small := resource.MustParse("1")
	small.AsDec().SetScale(1 << 30)
	tiny.Spec.Capacity["example.com/gpu"] = small
	_, statuses := applyOverlays(t, []*v1.NodeOverlay{tiny}, []*v1.NodePool{overlayPool("general", "")}, overlayType("small", "", 1))
	require.Len(t, statuses["o"].Faults, 1, "however close to zero")
}

// TestKeepsTheRest: price and capacity change, and nothing else.
func TestKeepsTheRest(t *testing.T) {
	small := overlayType("small", "", 1)
	small.Overhead.KubeReserved = list("cpu=100m")
	small.Offerings[0].Capacity = override("memory=8Gi, example.com/gpu=1")
	small.Offerings[1].Overhead = override("memory=1Gi")
	small.Offerings[2].ID = "id-2"
	want := overlayType("small", "", 1)
	want.Overhead.KubeReserved = list("cpu=100m")
	want.Offerings[0].Capacity = override("example.com/gpu=4, memory=8Gi")
	want.Offerings[1].Overhead = override("memory=1Gi")
	want.Offerings[2].ID = "id-2"
	want.Capacity = list("cpu=4, example.com/gpu=4, memory=16Gi, pods=58")
	want.CapacityOverlays = map[corev1.ResourceName]string{"example.com/gpu": "o"}
	for i := range want.Offerings {
		want.Offerings[i].Price, want.Offerings[i].PriceOverlay = 2, "o"
	}
	out, _ := applyOverlays(t, []*v1.NodeOverlay{newOverlay("o", 0, "", "2", "example.com/gpu=4")}, []*v1.NodePool{overlayPool("general", "")}, small)
	require.Equal(t, want, out["general"][0])
	require.Equal(t, list("example.com/gpu=1, memory=8Gi"), *small.Offerings[0].Capacity, "the override of the input stays")
	require.NoError(t, out["general"][0].Validate())
}

func TestWithoutOverlays(t *testing.T) {
	pools := []*v1.NodePool{overlayPool("general", "")}
	types := overlayCatalogs(pools, overlayType("small", "", 1))
	out, statuses, err := overlay.Apply(nil, pools, types, nil)
	require.NoError(t, err)
	require.Empty(t, statuses)
	require.Equal(t, types, out)
	require.Same(t, types["general"][0], out["general"][0])
}

// TestOddPools: a pool that cannot be read keeps its catalog.
func TestOddPools(t *testing.T) {
	broken := overlayPool("broken", "")
	broken.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "team", Operator: "Like"}}
	small := overlayType("small", "", 1)
	bare := overlayType("bare", "", 1)
	bare.Offerings = nil
	pools := []*v1.NodePool{broken, overlayPool("twice", ""), overlayPool("twice", "team = a"), overlayPool("twice", ""), overlayPool("sound", "")}
	types := overlayCatalogs(pools, small, bare)
	out, statuses, err := overlay.Apply([]*v1.NodeOverlay{newOverlay("o", 0, "", "9")}, append(pools, nil), types, nil)
	require.NoError(t, err)
	require.Equal(t, types["broken"], out["broken"])
	require.Same(t, small, out["twice"][0])
	require.Equal(t, 9.0, out["sound"][0].Offerings[0].Price)
	require.Same(t, bare, out["sound"][1], "a type without offerings is not selected")
	require.Equal(t, 1, statuses[0].InstanceTypes)
}

func TestListFaults(t *testing.T) {
	out, statuses, err := overlay.Apply([]*v1.NodeOverlay{
		newOverlay("b", 0, "", "1"), nil, newOverlay("", 0, "", "1"), newOverlay("a", 0, ""), newOverlay("b", 5, ""),
	}, nil, nil, nil)
	require.Nil(t, out)
	require.Nil(t, statuses)
	require.Equal(t, []string{
		"overlay 1 is nil; leave it out",
		"overlay 2: metadata.name is empty; overlays are identified by name",
		`NodeOverlay "b" is listed twice; list each overlay once`,
	}, strings.Split(err.Error(), "\n"))
}

func TestFaults(t *testing.T) {
	huge := strings.Repeat("9", 400)
	tests := []struct {
		name    string
		overlay *v1.NodeOverlay
		want    []string // fields
	}{
		{"price and adjustment", newOverlay("o", 0, "", "1", "+1"), []string{"spec.price"}},
		{"a price of other form", newOverlay("o", 0, "", "1e3"), []string{"spec.price"}},
		{"a price beyond float64", newOverlay("o", 0, "", huge), []string{"spec.price"}},
		{"an adjustment beyond float64", newOverlay("o", 0, "", "+"+huge+"%"), []string{"spec.priceAdjustment"}},
		{"more than all of the price", newOverlay("o", 0, "", "-101%"), []string{"spec.priceAdjustment"}},
		{"a resource of the provider", newOverlay("o", 0, "", "cpu=4"), []string{"spec.capacity[cpu]"}},
		{"less than nothing", newOverlay("o", 0, "", "example.com/gpu=-1"), []string{"spec.capacity[example.com/gpu]"}},
		{"too much, and a price beyond float64", func() *v1.NodeOverlay {
			o := newOverlay("o", 0, "", huge, "example.com/gpu=1")
			q := o.Spec.Capacity["example.com/gpu"]
			q.SetScaled(9, 30)
			o.Spec.Capacity["example.com/gpu"] = q
			return o
		}(), []string{"spec.price", "spec.capacity"}},
		{"a reserved label", newOverlay("o", 0, "kubernetes.io/hostname = x", "1"), []string{"spec.requirements[0].key"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			small := overlayType("small", "", 1)
			out, statuses := applyOverlays(t, []*v1.NodeOverlay{test.overlay}, []*v1.NodePool{overlayPool("general", "")}, small)
			require.Same(t, small, out["general"][0])
			status := statuses["o"]
			var fields []string
			for _, fault := range status.Faults {
				fields = append(fields, fault.Field)
			}
			require.Equal(t, test.want, fields)
			require.False(t, status.Valid())
			require.Zero(t, status.Offerings)
		})
	}
}

func TestAnnotations(t *testing.T) {
	option := func(priced, resized bool) cloudprovider.LaunchOption {
		o := cloudprovider.LaunchOption{InstanceType: &cloudprovider.InstanceType{}, Offering: &cloudprovider.Offering{}}
		if priced {
			o.Offering.PriceOverlay = "o"
		}
		if resized {
			o.InstanceType.CapacityOverlays = map[corev1.ResourceName]string{"example.com/gpu": "o"}
		}
		return o
	}
	require.Nil(t, overlay.Annotations(nil))
	require.Nil(t, overlay.Annotations([]cloudprovider.LaunchOption{{}, option(false, false)}))
	require.Equal(t, map[string]string{"karpenter.sh/price-overlay-applied": "true"},
		overlay.Annotations([]cloudprovider.LaunchOption{option(false, false), option(true, false)}))
	require.Equal(t, map[string]string{"karpenter.sh/price-overlay-applied": "true", "karpenter.sh/capacity-overlay-applied": "true"},
		overlay.Annotations([]cloudprovider.LaunchOption{option(true, false), option(false, true)}))
}

// An overlay is about the price of the instance: what a node costs beside it stays.
func TestNodeCostStays(t *testing.T) {
	for adjustment, want := range map[string]float64{"9": 9.25, "-50%": 0.75, "+1": 2.25, "-2": 0.25} {
		small := overlayType("small", "", 1)
		small = pricing.AddNodeCost([]*cloudprovider.InstanceType{small}, func(*cloudprovider.InstanceType) float64 { return 0.25 })[0]
		out, _ := applyOverlays(t, []*v1.NodeOverlay{newOverlay("o", 0, "", adjustment)}, []*v1.NodePool{overlayPool("general", "")}, small)
		o := out["general"][0].Offerings[0]
		require.InDelta(t, want, o.Price, 1e-6, adjustment) // an instance keeps a tiny price
		require.Equal(t, 0.25, o.NodeCost)
	}
}
