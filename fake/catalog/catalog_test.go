package catalog_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/machine"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func byName(t *testing.T, types []*cloudprovider.InstanceType) map[string]*cloudprovider.InstanceType {
	t.Helper()
	out := map[string]*cloudprovider.InstanceType{}
	for _, it := range types {
		out[it.Name] = it
	}
	require.Len(t, out, len(types), "names differ")
	return out
}

// The allocatable resources that nodes of these types were seen to have with
// the AMIs of Amazon Linux 2023 and nothing configured.
func TestAllocatableOfKnownNodes(t *testing.T) {
	data, err := os.ReadFile("../../aws/internal/instancetype/testdata/allocatable.json")
	require.NoError(t, err)
	var known map[string]string
	require.NoError(t, json.Unmarshal(data, &known))
	types := byName(t, catalog.All())
	for name, want := range known {
		require.Contains(t, types, name)
		got, err := types[name].Allocatable()
		require.NoError(t, err)
		require.Equal(t, resources.MustParse(want).String(), got.String(), name)
	}
	require.Equal(t, "instance-hypervisor", strings.TrimPrefix(awsv1.LabelInstanceHypervisor, awsv1.Group+"/"))
	require.Equal(t, []string{""}, values(t, types["m5.metal"], awsv1.LabelInstanceHypervisor))
	require.Equal(t, []string{"0"}, values(t, types["g6f.xlarge"], awsv1.LabelInstanceGPUCount))
	require.Equal(t, []string{"inferentia2"}, values(t, types["inf2.xlarge"], awsv1.LabelInstanceAcceleratorName))
	require.Equal(t, []string{"trainium"}, values(t, types["trn1.2xlarge"], awsv1.LabelInstanceAcceleratorName))
}

// values returns the values of a label, and nil if it does not exist.
func values(t *testing.T, it *cloudprovider.InstanceType, key string) []string {
	t.Helper()
	r, named := it.Requirements.Get(key)
	require.True(t, named, "%s has no requirement on %s", it.Name, key)
	out, finite := r.Values()
	require.True(t, finite)
	return out
}

// Facts that are easy to look up, one or two for each way of writing them in
// the table.
func TestFacts(t *testing.T) {
	types := byName(t, catalog.All())
	for _, want := range []struct {
		name, where string
		pods        int64
		price       float64
	}{
		{"t3.nano", "instance-cpu = 2, instance-memory = 512, instance-network-bandwidth = 32, instance-ebs-bandwidth = 2085", 4, 0.0052},
		{"t3.large", "instance-cpu = 2, instance-memory = 8192, instance-network-bandwidth = 512, instance-ebs-bandwidth = 2780", 35, 0.0832},
		{"t2.medium", "instance-hypervisor = xen, !instance-network-bandwidth, !instance-ebs-bandwidth", 17, 0.0464},
		{"m5.large", "instance-category = m, instance-generation = 5, instance-family = m5, instance-size = large", 29, 0.096},
		{"m5.24xlarge", "instance-memory = 393216, instance-cpu-manufacturer = intel, !instance-local-nvme", 737, 4.608},
		{"m5d.metal", "instance-cpu = 96, instance-local-nvme = 3600, instance-nitro-enclaves-supported = false", 737, 5.424},
		{"c5n.18xlarge", "instance-memory = 196608, instance-network-bandwidth = 100000", 737, 3.888},
		{"c4.8xlarge", "instance-cpu = 36, instance-memory = 61440", 234, 1.591},
		{"m7i-flex.large", "instance-capability-flex = true, instance-generation = 7, instance-category = m", 29, 0.09576},
		{"c7g.medium", "instance-cpu = 1, instance-memory = 2048, instance-cpu-manufacturer = aws", 8, 0.03625},
		{"r7iz.metal-16xl", "instance-cpu = 64, instance-memory = 524288, instance-cpu-sustained-clock-speed-mhz = 3900", 737, 6.5472},
		{"m8i.96xlarge", "instance-cpu = 384, instance-memory = 1572864", 1514, 20.32128},
		{"i4i.24xlarge", "instance-local-nvme = 22500", 437, 8.2368},
		{"x1e.xlarge", "instance-memory = 124928", 29, 0.834},
		{"u-6tb1.112xlarge", "instance-category = u, instance-generation = 1, instance-family = u-6tb1, instance-cpu = 448", 737, 54.6},
		{"u7in-16tb.224xlarge", "instance-category = u, instance-generation = 7", 394, 180.47558},
		{"g4dn.12xlarge", "instance-gpu-name = t4, instance-gpu-count = 4, instance-gpu-memory = 16384, instance-gpu-manufacturer = nvidia", 234, 3.912},
		{"g4dn.metal", "instance-gpu-count = 8, instance-cpu = 96", 737, 7.824},
		{"g6f.4xlarge", "instance-gpu-count = 0, instance-gpu-memory = 11444", 234, 0.95},
		{"p5.48xlarge", "instance-gpu-name = h100, instance-memory = 2097152, instance-encryption-in-transit-supported = true", 100, 55.04},
		{"dl1.24xlarge", "instance-gpu-manufacturer = habana, !instance-accelerator-name", 737, 13.10904},
		{"inf1.24xlarge", "instance-accelerator-count = 16, instance-accelerator-manufacturer = aws, !instance-gpu-name", 321, 4.721},
		{"trn1.32xlarge", "instance-category = trn, instance-generation = 1", 247, 21.5},
	} {
		require.Contains(t, types, want.name)
		it := types[want.name]
		where := strings.ReplaceAll(want.where, "instance-", awsv1.Group+"/instance-")
		require.Empty(t, it.Requirements.Conflicts(requirements.MustParse(where), catalog.Vocabulary()), want.name)
		require.Equal(t, want.pods, it.Capacity.Get(corev1.ResourcePods), want.name)
		for _, o := range it.Offerings {
			if o.CapacityType == v1.CapacityTypeOnDemand {
				require.InDelta(t, want.price, o.Price, 1e-9, want.name)
			}
		}
	}
}

func TestCatalogIsSound(t *testing.T) {
	types := catalog.All()
	require.GreaterOrEqual(t, len(types), 700)
	require.True(t, slices.IsSortedFunc(types, func(a, b *cloudprovider.InstanceType) int { return strings.Compare(a.Name, b.Name) }))
	byName(t, types)
	labels := slices.DeleteFunc(slices.Concat(v1.WellKnownLabels(), catalog.WellKnownLabels()), func(key string) bool {
		return key == v1.NodePoolLabelKey // the pool's part
	})
	require.NotContains(t, labels, awsv1.Group+"/nitro-sandbox", "which Karpenter withdrew before its release")
	for _, it := range types {
		require.NoError(t, it.Validate())
		require.Empty(t, machine.OpenLabels(it, catalog.WellKnownLabels()...), it.Name)
		require.Equal(t, len(labels), it.Requirements.Len(), it.Name)
		for _, key := range labels {
			_, named := it.Requirements.Get(key)
			require.True(t, named, "%s: %s", it.Name, key)
		}
		require.Empty(t, it.Capacity.Negative())
		allocatable, err := it.Allocatable()
		require.NoError(t, err)
		require.Empty(t, allocatable.Negative(), it.Name)
		requireSoundOfferings(t, it)
	}
}

func requireSoundOfferings(t *testing.T, it *cloudprovider.InstanceType) {
	t.Helper()
	require.NotEmpty(t, it.Offerings)
	keys := make([]cloudprovider.OfferingKey, len(it.Offerings))
	onDemand := 0.0
	zones, types := map[string]bool{}, map[string]bool{}
	for i, o := range it.Offerings {
		keys[i] = o.Key(it.Name)
		zones[o.Zone], types[o.CapacityType] = true, true
		require.True(t, o.Launchable())
		require.Equal(t, keys[i].String(), o.ID)
		require.Equal(t, 1, o.Requirements.Len())
		if o.CapacityType == v1.CapacityTypeOnDemand {
			if onDemand == 0 {
				onDemand = o.Price
			}
			require.InDelta(t, onDemand, o.Price, 0, "on-demand prices are the same in all zones")
		}
	}
	require.True(t, slices.IsSortedFunc(keys, cloudprovider.OfferingKey.Compare))
	require.Len(t, it.Offerings, len(zones)*len(types))
	require.Len(t, values(t, it, corev1.LabelTopologyZone), len(zones))
	require.Len(t, values(t, it, awsv1.LabelTopologyZoneID), len(zones))
	require.Len(t, values(t, it, v1.CapacityTypeLabelKey), len(types))
	for _, o := range it.Offerings {
		if o.CapacityType == v1.CapacityTypeSpot {
			require.GreaterOrEqual(t, o.Price/onDemand, 0.25, o.ID)
			require.LessOrEqual(t, o.Price/onDemand, 0.70, o.ID)
		}
	}
}

// Zones of one type have different spot prices, and types have different
// discounts: a catalog in which they all were the same would test nothing.
func TestSpotPricesDiffer(t *testing.T) {
	discounts := map[int]bool{}
	for _, it := range catalog.All() {
		spot := map[float64]bool{}
		var onDemand float64
		for _, o := range it.Offerings {
			if o.CapacityType == v1.CapacityTypeSpot {
				spot[o.Price] = true
			} else {
				onDemand = o.Price
			}
		}
		for price := range spot {
			discounts[int(100*price/onDemand)] = true
		}
		if onDemand > 1 && len(spot) > 0 {
			require.Greater(t, len(spot), len(it.Offerings)/4, it.Name)
		}
	}
	require.Greater(t, len(discounts), 35, "discounts are spread over the range")
}

func TestRareFamiliesAreNotEverywhere(t *testing.T) {
	types := byName(t, catalog.All())
	require.Equal(t, []string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d"}, values(t, types["m5.large"], corev1.LabelTopologyZone))
	require.Equal(t, []string{"us-east-1c", "us-east-1d"}, values(t, types["p3dn.24xlarge"], corev1.LabelTopologyZone))
	require.Equal(t, []string{"use1-az3", "use1-az4"}, values(t, types["p3dn.24xlarge"], awsv1.LabelTopologyZoneID))
	require.Equal(t, []string{v1.CapacityTypeOnDemand}, values(t, types["u-3tb1.56xlarge"], v1.CapacityTypeLabelKey))
	everywhere := 0
	for _, it := range types {
		if len(values(t, it, corev1.LabelTopologyZone)) == 4 {
			everywhere++
		}
	}
	require.Less(t, everywhere, len(types)*9/10)
	require.Greater(t, everywhere, len(types)/2)
}

// Two catalogs are equal, and share nothing that could be written to.
func TestCatalogBelongsToTheCaller(t *testing.T) {
	a, b := catalog.All(), catalog.All()
	require.Equal(t, a, b)
	a[0].Offerings[0].Available = false
	require.True(t, b[0].Offerings[0].Available)
}

// The rest is as in awsv1.Vocabulary, whose tests hold it.
func TestVocabulary(t *testing.T) {
	v := catalog.Vocabulary()
	for _, key := range catalog.WellKnownLabels() {
		require.True(t, v.WellKnown(key), key)
		require.NoError(t, v.CheckKey(key))
	}
	require.True(t, slices.IsSorted(catalog.WellKnownLabels()))
	require.Error(t, v.CheckKey(awsv1.Group+"/instance-colour"), "the rest of the domain is restricted")
}

// The number of pods follows from the network interfaces, for every type.
func TestNetworkInterfacesArePods(t *testing.T) {
	interfaces := catalog.AllNetworkInterfaces()
	for _, it := range catalog.All() {
		n, found := interfaces[it.Name]
		require.True(t, found, it.Name)
		require.EqualValues(t, n.Count*(n.Addresses-1)+2, it.Capacity.Get(corev1.ResourcePods), it.Name)
	}
}
