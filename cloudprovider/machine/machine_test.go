package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider/machine"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const (
	gpu         = "example.com/gpu-name"
	zoneID      = "example.com/zone-id"
	reservation = "example.com/reservation-id"
)

func large() machine.Machine {
	return machine.Machine{
		Name: "m5.large", Arch: v1.ArchitectureAmd64, Region: "eu",
		Labels:   map[string]string{"example.com/cpu": "2"},
		Capacity: resources.MustParse("cpu=2, memory=8Gi, pods=29"),
		Overhead: cloudprovider.Overhead{KubeReserved: resources.MustParse("cpu=70m")},
		Offerings: []cloudprovider.Offering{
			{Zone: "zone-b", CapacityType: v1.CapacityTypeSpot, Price: 0.03, Available: true,
				Requirements: requirements.MustParse(zoneID + " = id2")},
			{Zone: "zone-a", CapacityType: v1.CapacityTypeReserved, ReservationID: "cr-1", Price: 1e-8, Available: true, ReservationCapacity: 2,
				Requirements: requirements.MustParse(zoneID + " = id1, " + reservation + " = cr-1")},
			{Zone: "zone-a", CapacityType: v1.CapacityTypeOnDemand, Price: 0.1, Available: true,
				Requirements: requirements.MustParse(zoneID + " = id1")},
		},
		VolumeAttachmentLimits: map[string]int64{"disk": 25},
	}
}

func TestInstanceType(t *testing.T) {
	m := large()
	got, err := m.InstanceType(gpu, zoneID, reservation, "")
	require.NoError(t, err)
	require.Equal(t, `!example.com/gpu-name, example.com/cpu = 2, example.com/zone-id in (id1, id2), `+
		`karpenter.sh/capacity-type in (on-demand, reserved, spot), kubernetes.io/arch = amd64, kubernetes.io/os = linux, `+
		`node.kubernetes.io/instance-type = m5.large, !node.kubernetes.io/windows-build, `+
		`topology.kubernetes.io/region = eu, topology.kubernetes.io/zone in (zone-a, zone-b)`,
		requirementsText(got.Requirements))
	var offerings []string
	for i := range got.Offerings {
		offerings = append(offerings, got.Offerings[i].Requirements.String())
	}
	require.Equal(t, []string{
		"!example.com/reservation-id, example.com/zone-id = id1",
		"example.com/reservation-id = cr-1, example.com/zone-id = id1",
		"!example.com/reservation-id, example.com/zone-id = id2",
	}, offerings, "sorted, and the label of a reservation is settled in each")
	require.Equal(t, large(), m, "the machine is as it was")
	require.Empty(t, machine.OpenLabels(got, gpu, zoneID, reservation))
	for _, o := range launch.Compatible([]*cloudprovider.InstanceType{got}, requirements.Set{}) {
		require.False(t, o.Requirements().Impossible(), "%s can be launched", o.Key())
	}
	got.VolumeAttachmentLimits["disk"] = 1
	require.Equal(t, int64(25), m.VolumeAttachmentLimits["disk"])
}

// requirementsText puts the label that sorts by its key first in the order of
// the text above.
func requirementsText(s requirements.Set) string {
	r, _ := s.Get(gpu)
	return r.String() + ", " + s.Without(gpu).String()
}

func TestPricesMayComeLater(t *testing.T) {
	m := large()
	m.Offerings[0].Price = 0
	got, err := m.InstanceType()
	require.NoError(t, err)
	require.Zero(t, got.Offerings[2].Price)
	require.True(t, got.Offerings[2].Available)
	m.Offerings[0].Price = -1
	_, err = m.InstanceType()
	require.ErrorContains(t, err, "price: -1")
}

func TestMachineVariants(t *testing.T) {
	m := large()
	m.OS = []string{"windows", "linux"}
	m.Region = ""
	m.Offerings = nil
	m.Requirements = requirements.MustParse(gpu + " in (a, b), node.kubernetes.io/windows-build")
	got, err := m.InstanceType(gpu)
	require.NoError(t, err)
	require.Equal(t, `example.com/cpu = 2, example.com/gpu-name in (a, b), !karpenter.sh/capacity-type, kubernetes.io/arch = amd64, `+
		`kubernetes.io/os in (linux, windows), node.kubernetes.io/instance-type = m5.large, node.kubernetes.io/windows-build, `+
		`!topology.kubernetes.io/region, !topology.kubernetes.io/zone`, got.Requirements.String())
}

func TestMachineFaults(t *testing.T) {
	m := large()
	m.Arch = ""
	m.Labels = map[string]string{gpu: "a", "kubernetes.io/os": "linux"}
	m.Requirements = requirements.MustParse(gpu + " = b, topology.kubernetes.io/region = eu")
	m.Capacity = resources.MustParse("cpu=2")
	got, err := m.InstanceType()
	require.Nil(t, got)
	require.EqualError(t, err, `machine m5.large: label kubernetes.io/os follows from the other fields; leave it out of labels and requirements
machine m5.large: label topology.kubernetes.io/region follows from the other fields; leave it out of labels and requirements
machine m5.large: label example.com/gpu-name is in labels and in requirements; keep one
machine m5.large: arch: empty; use amd64 or arm64
instance type m5.large: requirements: example.com/gpu-name in () contradicts itself; no node can have such a label
instance type m5.large: capacity: no pods, so that nothing fits; set pods to the number of pods a node can run`)
}

func TestOpenLabels(t *testing.T) {
	require.Nil(t, machine.OpenLabels(nil))
	bare := &cloudprovider.InstanceType{Offerings: []cloudprovider.Offering{{Zone: "a", CapacityType: "spot"}, {Zone: "b"}}}
	require.Equal(t, []string{gpu, v1.CapacityTypeLabelKey, "kubernetes.io/arch", "kubernetes.io/os",
		"node.kubernetes.io/instance-type", "node.kubernetes.io/windows-build", "topology.kubernetes.io/region"},
		machine.OpenLabels(bare, gpu, gpu), "the zone is settled by each offering")
}
