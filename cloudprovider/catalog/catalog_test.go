package catalog_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/catalog"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const (
	gpu         = "example.com/gpu-name"
	zoneID      = "example.com/zone-id"
	reservation = "example.com/reservation-id"
)

func machine() catalog.Machine {
	return catalog.Machine{
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
	m := machine()
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
	require.Equal(t, machine(), m, "the machine is as it was")
	require.Empty(t, catalog.OpenLabels(got, gpu, zoneID, reservation))
	require.Empty(t, catalog.Check("p", []*cloudprovider.InstanceType{got}, &catalog.Options{WellKnown: []string{gpu, zoneID, reservation}}))
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
	m := machine()
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
	m := machine()
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
	m := machine()
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
	require.Nil(t, catalog.OpenLabels(nil))
	bare := &cloudprovider.InstanceType{Offerings: []cloudprovider.Offering{{Zone: "a", CapacityType: "spot"}, {Zone: "b"}}}
	require.Equal(t, []string{gpu, v1.CapacityTypeLabelKey, "kubernetes.io/arch", "kubernetes.io/os",
		"node.kubernetes.io/instance-type", "node.kubernetes.io/windows-build", "topology.kubernetes.io/region"},
		catalog.OpenLabels(bare, gpu, gpu), "the zone is settled by each offering")
}

func TestCheck(t *testing.T) {
	build := func(change func(*catalog.Machine)) *cloudprovider.InstanceType {
		m := machine()
		if change != nil {
			change(&m)
		}
		got, err := m.InstanceType()
		require.NoError(t, err)
		return got
	}
	good := build(nil)
	with := func(change func(*cloudprovider.InstanceType)) *cloudprovider.InstanceType {
		c := good.Clone()
		change(c)
		return c
	}
	for _, test := range []struct {
		name  string
		types []*cloudprovider.InstanceType
		want  []string
	}{
		{"nothing", nil, nil},
		{"good", []*cloudprovider.InstanceType{good}, nil},
		{"nil", []*cloudprovider.InstanceType{nil}, []string{"Fault provider p: instance type without a name (0): nil; leave it out"}},
		{"twice", []*cloudprovider.InstanceType{good, good},
			[]string{"Fault provider p: instance type m5.large (1): name: there already at 0; list each type once, with all its offerings"}},
		{"order of types", []*cloudprovider.InstanceType{good, build(func(m *catalog.Machine) { m.Name = "c5.large" })},
			[]string{"Fault provider p: instance type c5.large (1): name: after m5.large; sort the list by name"}},
		{"order of offerings", []*cloudprovider.InstanceType{with(func(t *cloudprovider.InstanceType) {
			t.Offerings[0], t.Offerings[1] = t.Offerings[1], t.Offerings[0]
		})}, []string{"Fault provider p: instance type m5.large (0): offerings: not in order; sort them by OfferingKey.Compare"}},
		{"prices", []*cloudprovider.InstanceType{with(func(t *cloudprovider.InstanceType) {
			t.Offerings[0].Price, t.Offerings[1].Price, t.Offerings[2].Price = math.NaN(), -1, 0
		})}, []string{
			"Fault provider p: instance type m5.large (0): offering 0 (m5.large/zone-a/on-demand): price: NaN; use a price in USD per hour",
			"Fault provider p: instance type m5.large (0): offering 1 (m5.large/zone-a/reserved/cr-1): price: -1; use a price in USD per hour",
			"Fault provider p: instance type m5.large (0): offering 2 (m5.large/zone-b/spot): price: 0; use a price above zero, a tiny one for capacity already paid for, or set available to false while the price is unknown",
		}},
		{"offering twice", []*cloudprovider.InstanceType{with(func(t *cloudprovider.InstanceType) { t.Offerings[1] = t.Offerings[0] })},
			[]string{"Fault provider p: instance type m5.large (0): offering 1 (m5.large/zone-a/on-demand): offered twice; zone, capacity type and reservation must differ"}},
		{"overhead", []*cloudprovider.InstanceType{with(func(t *cloudprovider.InstanceType) {
			t.Overhead.KubeReserved = resources.MustParse("memory=8Gi, cpu=1, gpu=5")
		})}, []string{"Warning provider p: instance type m5.large (0): overhead: memory: all of the capacity or more, so that no pod fits; compare the units of both"}},
		{"labels", []*cloudprovider.InstanceType{with(func(t *cloudprovider.InstanceType) {
			t.Requirements = t.Requirements.Without("kubernetes.io/arch", "kubernetes.io/os")
		})}, []string{"Warning provider p: instance type m5.large (0): requirements: open labels, which admit any value: kubernetes.io/arch, kubernetes.io/os; name each, with DoesNotExist where it does not apply"}},
		{"no offerings", []*cloudprovider.InstanceType{with(func(t *cloudprovider.InstanceType) { t.Offerings = nil })},
			[]string{"Warning provider p: instance type m5.large (0): offerings: none; list every way to buy it, with available false for those that cannot be had"}},
		{"overflow", []*cloudprovider.InstanceType{with(func(t *cloudprovider.InstanceType) {
			t.Overhead.KubeReserved = resources.MustParse("memory=1").With("memory", math.MaxInt64)
			t.Overhead.SystemReserved = t.Overhead.KubeReserved
		})}, []string{"Fault provider p: instance type m5.large (0): overhead: memory: amount out of range"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "overflow" {
				got := catalog.Check("p", test.types, nil)
				require.Len(t, got, 1)
				require.Equal(t, "overhead", got[0].Field)
				return
			}
			var got []string
			problems := catalog.Check("p", test.types, nil)
			for _, p := range problems {
				got = append(got, string(p.Severity)+" "+p.String())
			}
			require.Equal(t, test.want, got)
			if len(problems) > 0 && problems[0].Severity == catalog.Fault {
				require.ErrorContains(t, catalog.Error(problems), problems[0].String())
			} else {
				require.NoError(t, catalog.Error(problems))
			}
		})
	}
}

// shelf is a provider with a fixed catalog.
type shelf struct {
	cloudprovider.CloudProvider
	types []*cloudprovider.InstanceType
	err   error
}

func (s shelf) InstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return s.types, s.err
}

type named struct{ shelf }

func (named) Name() string { return "shelf" }

func TestCheckProvider(t *testing.T) {
	problems, err := catalog.CheckProvider(t.Context(), named{shelf{types: []*cloudprovider.InstanceType{nil}}}, nil, nil)
	require.NoError(t, err)
	require.Equal(t, "shelf", problems[0].Provider)
	problems, err = catalog.CheckProvider(t.Context(), shelf{types: []*cloudprovider.InstanceType{nil}}, nil, nil)
	require.NoError(t, err)
	require.Equal(t, "catalog_test.shelf", problems[0].Provider)
	down := errors.New("down")
	_, err = catalog.CheckProvider(t.Context(), shelf{err: down}, nil, nil)
	require.ErrorIs(t, err, down)
}

func BenchmarkCheck(b *testing.B) {
	got, err := machine().InstanceType(gpu)
	require.NoError(b, err)
	types := []*cloudprovider.InstanceType{got}
	b.ReportAllocs()
	for b.Loop() {
		catalog.Check("p", types, nil)
	}
}
