package cloudprovider_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func TestLaunchable(t *testing.T) {
	tests := []struct {
		capacityType string
		available    bool
		capacity     int
		want         bool
	}{
		{v1.CapacityTypeReserved, true, 1, true},
		{v1.CapacityTypeReserved, true, 0, false}, // full, and not ill
		{v1.CapacityTypeReserved, false, 1, false},
		{v1.CapacityTypeReserved, false, 0, false},
		{v1.CapacityTypeOnDemand, true, 1, true},
		{v1.CapacityTypeOnDemand, true, 0, true},
		{v1.CapacityTypeOnDemand, false, 1, false},
		{v1.CapacityTypeOnDemand, false, 0, false},
		{"", true, 1, true},
		{"", true, 0, true},
		{"", false, 1, false},
		{"", false, 0, false},
	}
	for _, tt := range tests {
		o := &cloudprovider.Offering{CapacityType: tt.capacityType, Available: tt.available, ReservationCapacity: tt.capacity}
		require.Equal(t, tt.want, o.Launchable(), "%+v", tt)
	}
}

func TestOfferingLabels(t *testing.T) {
	tests := []struct {
		name     string
		offering cloudprovider.Offering
		want     string
	}{
		{"none", cloudprovider.Offering{}, ""},
		{"plain", cloudprovider.Offering{Zone: "zone-a", CapacityType: "spot"},
			"karpenter.sh/capacity-type = spot, topology.kubernetes.io/zone = zone-a"},
		{"with a label more", cloudprovider.Offering{Zone: "zone-a", CapacityType: "spot", Requirements: requirements.MustParse("example.com/zone-id = z1")},
			"example.com/zone-id = z1, karpenter.sh/capacity-type = spot, topology.kubernetes.io/zone = zone-a"},
		{"zone repeated", cloudprovider.Offering{Zone: "zone-a", Requirements: requirements.MustParse("topology.kubernetes.io/zone = zone-a")},
			"topology.kubernetes.io/zone = zone-a"},
	}
	for _, tt := range tests {
		require.Equal(t, requirements.MustParse(tt.want).String(), tt.offering.Labels().String(), tt.name)
	}
	contradiction := cloudprovider.Offering{Zone: "zone-a", Requirements: requirements.MustParse("topology.kubernetes.io/zone = zone-b")}
	require.True(t, contradiction.Labels().Impossible())
}

func TestOfferingKeyText(t *testing.T) {
	tests := map[string]cloudprovider.OfferingKey{
		"m5.large/zone-a/spot":          {InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"},
		"m5.large/zone-a/reserved/cr-1": {InstanceType: "m5.large", Zone: "zone-a", CapacityType: "reserved", ReservationID: "cr-1"},
		"m5.large/?/?":                  {InstanceType: "m5.large"},
		"?/?/?":                         {},
	}
	for want, key := range tests {
		require.Equal(t, want, key.String())
	}
}

// allKeys is every key over two values for each part.
func allKeys() (keys []cloudprovider.OfferingKey) {
	for i := range 16 {
		part := func(name string, bit int) string { return fmt.Sprint(name, i>>bit&1) }
		keys = append(keys, cloudprovider.OfferingKey{InstanceType: part("t", 0), Zone: part("z", 1), CapacityType: part("c", 2), ReservationID: part("r", 3)})
	}
	return keys
}

func TestOfferingKeyOrder(t *testing.T) {
	keys := allKeys()
	slices.SortFunc(keys, cloudprovider.OfferingKey.Compare)
	for i := 1; i < len(keys); i++ {
		require.Less(t, keys[i-1].String(), keys[i].String())
		require.Equal(t, 1, keys[i].Compare(keys[i-1]))
		require.Zero(t, keys[i].Compare(keys[i]))
	}
}

func TestScopes(t *testing.T) {
	key := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "reserved", ReservationID: "cr-1"}
	tests := []struct {
		scope  cloudprovider.Scope
		covers bool
		text   string
	}{
		{cloudprovider.Scope{}, true, "every offering"},
		{cloudprovider.Scope{InstanceType: "m5.large"}, true, "instance-type=m5.large"},
		{cloudprovider.Scope{InstanceType: "m5.xlarge"}, false, "instance-type=m5.xlarge"},
		{cloudprovider.Scope{Zone: "zone-a", CapacityType: "reserved"}, true, "zone=zone-a, capacity-type=reserved"},
		{cloudprovider.Scope{Zone: "zone-a", CapacityType: "spot"}, false, "zone=zone-a, capacity-type=spot"},
		{cloudprovider.Scope{ReservationID: "cr-1"}, true, "reservation=cr-1"},
		{cloudprovider.Scope{ReservationID: "cr-2"}, false, "reservation=cr-2"},
		{key.Scope(), true, "m5.large/zone-a/reserved/cr-1"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.covers, tt.scope.Covers(key), tt.text)
		require.Equal(t, tt.text, tt.scope.String())
	}
	// The scope of an offering covers that and nothing else.
	for _, a := range allKeys() {
		for _, b := range allKeys() {
			require.Equal(t, a == b, a.Scope().Covers(b))
			require.Equal(t, a.Compare(b), a.Scope().Compare(b.Scope()))
		}
	}
}
