package instancetype_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// answers are those of EC2, as its command line prints them.
func answers(t testing.TB) (types []ec2types.InstanceTypeInfo, offerings []ec2types.InstanceTypeOffering) {
	t.Helper()
	var file struct {
		InstanceTypes         []ec2types.InstanceTypeInfo
		InstanceTypeOfferings []ec2types.InstanceTypeOffering
	}
	for _, name := range []string{"testdata/types.json", "testdata/offerings.json"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &file))
	}
	return file.InstanceTypes, file.InstanceTypeOfferings
}

func inventory(t testing.TB) *instancetype.Inventory {
	t.Helper()
	types, offerings := answers(t)
	inv, problems := instancetype.NewInventory(types, offerings)
	require.Empty(t, problems)
	return inv
}

// class has subnets in two of the three zones, and says no more than it must.
func class(family amiselect.Family, edit ...func(*awsv1.EC2NodeClass)) *awsv1.EC2NodeClass {
	c := &awsv1.EC2NodeClass{}
	c.Name = "nodes"
	c.Spec.AMIFamily = &family
	c.Status.Subnets = []awsv1.Subnet{
		{ID: "subnet-b", Zone: "us-east-1b", ZoneID: "use1-az2"},
		{ID: "subnet-a", Zone: "us-east-1a", ZoneID: "use1-az1"},
	}
	for _, e := range edit {
		e(c)
	}
	return c
}

// prices has one price for each way to buy, of all types.
func prices(t testing.TB) *pricing.Book {
	t.Helper()
	book, err := pricing.New(&pricing.Options{Layers: []pricing.Layer{{Name: "list", Entries: []pricing.Entry{
		{Scope: cloudprovider.Scope{CapacityType: karpv1.CapacityTypeOnDemand}, Price: 0.1},
		{Scope: cloudprovider.Scope{CapacityType: karpv1.CapacityTypeSpot}, Price: 0.04},
	}}}})
	require.NoError(t, err)
	return book
}

func input(t testing.TB, c *awsv1.EC2NodeClass) instancetype.Input {
	t.Helper()
	return instancetype.Input{Now: noon, Region: "us-east-1", Class: c, Prices: prices(t)}
}

func build(t testing.TB, in instancetype.Input, opts *instancetype.Options) *instancetype.Catalog {
	t.Helper()
	c, err := inventory(t).Build(in, opts)
	require.NoError(t, err)
	return c
}

func find(t testing.TB, c *instancetype.Catalog, name string) *cloudprovider.InstanceType {
	t.Helper()
	for _, it := range c.Types {
		if it.Name == name {
			return it
		}
	}
	require.Failf(t, "not in the catalog", name)
	return nil
}

// offering finds an offering by zone and capacity type.
func offering(t testing.TB, it *cloudprovider.InstanceType, zone, capacityType string) *cloudprovider.Offering {
	t.Helper()
	for i := range it.Offerings {
		if o := &it.Offerings[i]; o.Zone == zone && o.CapacityType == capacityType {
			return o
		}
	}
	require.Failf(t, "not offered", "%s in %s as %s", it.Name, zone, capacityType)
	return nil
}

func exclusions(c *instancetype.Catalog, name string) (out []string) {
	for _, e := range c.Exclusions {
		if e.InstanceType == name {
			out = append(out, e.String())
		}
	}
	return out
}

func in(key string, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

func is(key string, op corev1.NodeSelectorOperator) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op}
}

// stock is what EC2 says of reservations by id.
func stock(left map[string]int32) instancetype.Stock {
	var list []ec2types.CapacityReservation
	for id, n := range left {
		list = append(list, ec2types.CapacityReservation{CapacityReservationId: &id, AvailableInstanceCount: &n})
	}
	return instancetype.Stock{}.Observe(noon, list)
}

// requireSound holds a catalog to the contract: each type valid, types sorted by name
// and offerings by key, none twice.
func requireSound(t testing.TB, types []*cloudprovider.InstanceType) {
	t.Helper()
	for i, it := range types {
		require.NoError(t, it.Validate())
		require.True(t, i == 0 || types[i-1].Name < it.Name, "%s is twice, or not in order", it.Name)
		require.True(t, slices.IsSortedFunc(it.Offerings, func(a, b cloudprovider.Offering) int { return a.Key(it.Name).Compare(b.Key(it.Name)) }), it.Name)
	}
}
