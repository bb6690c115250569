package catalog_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// everyField is a file that uses all fields there are.
const everyField = `
# A comment before the document is no document.
---
instanceTypes:
- name: b.large
  requirements:
  - {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}
  - {key: kubernetes.io/os, operator: Exists}
  - {key: example.com/cores, operator: Gt, values: ["4"]}
  capacity: {cpu: 2.5, memory: 8Gi, pods: "29", example.com/dongle: 1}
  overhead: {cpu: 70m, memory: 600Mi}
  volumeAttachmentLimits: {ebs.csi.aws.com: 26, other: 0}
  offerings:
  - zone: z2
    capacityType: reserved
    price: 1e-6
    reservationID: cr-1
    reservationCapacity: 3
  - zone: z1
    capacityType: spot
    price: 0.096
    available: false
    requirements: [{key: topology.k8s.aws/zone-id, operator: In, values: [id1]}]
    capacity: {example.com/dongle: 2}
    overhead: {cpu: 100m}
    id: o-1
- name: a.large
  requirements:
  - {key: kubernetes.io/arch, operator: In, values: [amd64]}
  - {key: kubernetes.io/os, operator: In, values: [linux]}
  capacity: {cpu: 1, pods: 1}
`

func TestReadCatalog(t *testing.T) {
	types, err := catalog.Read([]byte(everyField))
	require.NoError(t, err)
	require.Len(t, types, 2)
	a, b := types[0], types[1]

	require.Equal(t, "a.large", a.Name)
	require.Empty(t, a.Offerings)
	require.Equal(t, "b.large", b.Name)
	require.Equal(t, "cpu=2500m, example.com/dongle=1, memory=8Gi, pods=29", b.Capacity.String())
	require.Equal(t, "cpu=70m, memory=600Mi", b.Overhead.KubeReserved.String())
	require.Equal(t, map[string]int64{"ebs.csi.aws.com": 26, "other": 0}, b.VolumeAttachmentLimits)

	require.Len(t, b.Offerings, 2)
	spot, reserved := b.Offerings[0], b.Offerings[1]
	more, less := resources.MustParse("example.com/dongle=2"), resources.MustParse("cpu=100m")
	require.Equal(t, cloudprovider.Offering{
		Zone: "z1", CapacityType: v1.CapacityTypeSpot, Price: 0.096, Available: false, ID: "o-1",
		Requirements: requirements.MustParse("topology.k8s.aws/zone-id = id1"), Capacity: &more, Overhead: &less,
	}, spot)
	require.Equal(t, cloudprovider.Offering{
		Zone: "z2", CapacityType: v1.CapacityTypeReserved, Price: 1e-6, Available: true, ReservationID: "cr-1", ReservationCapacity: 3,
		Requirements: requirements.Set{},
	}, reserved)
}

func TestReadCatalogCompletesLabels(t *testing.T) {
	types, err := catalog.Read([]byte(everyField))
	require.NoError(t, err)
	b := types[1]
	require.Equal(t, []string{"b.large"}, values(t, b, corev1.LabelInstanceTypeStable))
	require.Equal(t, []string{"z1", "z2"}, values(t, b, corev1.LabelTopologyZone))
	require.Equal(t, []string{v1.CapacityTypeReserved, v1.CapacityTypeSpot}, values(t, b, v1.CapacityTypeLabelKey))
	for _, key := range []string{corev1.LabelTopologyRegion, v1.NodePoolLabelKey} {
		_, named := b.Requirements.Get(key)
		require.False(t, named, "%s is left open", key)
	}
	gpu, named := b.Requirements.Get(awsv1.LabelInstanceGPUName)
	require.True(t, named)
	require.True(t, gpu.Equal(requirements.DoesNotExist(awsv1.LabelInstanceGPUName)))
	cores, named := b.Requirements.Get("example.com/cores")
	require.True(t, named)
	require.True(t, cores.Has("5"))

	zone, named := types[0].Requirements.Get(corev1.LabelTopologyZone)
	require.True(t, named, "without offerings it is in no zone")
	require.False(t, zone.AllowsPresent())
}

func TestReadCatalogShapes(t *testing.T) {
	for name, text := range map[string]string{
		"list":        `[]`,
		"object":      `{"instanceTypes": []}`,
		"YAML":        "instanceTypes: []",
		"nulls":       `[{"name":"a","requirements":[{"key":"kubernetes.io/arch","operator":"Exists","values":null},{"key":"kubernetes.io/os","operator":"Exists"}],"capacity":{"pods":1},"overhead":null,"offerings":null,"volumeAttachmentLimits":null}]`,
		"end marker":  "---\n[]\n...",
		"flow YAML":   "{instanceTypes: [ ]}",
		"white space": " \n [] \n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := catalog.Read([]byte(text))
			require.NoError(t, err)
		})
	}
}

func TestReadCatalogFaults(t *testing.T) {
	const labels = `"requirements":[{"key":"kubernetes.io/arch","operator":"In","values":["amd64"]},{"key":"kubernetes.io/os","operator":"Exists"}]`
	const head = `{"name":"m5.large",` + labels + `,"capacity":{"cpu":2,"pods":9}`
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":            {"", []string{"catalog: empty; write a list"}},
		"null":               {"null", []string{"catalog: empty"}},
		"text":               {`"m5.large"`, []string{`catalog: found string; write a list`}},
		"broken":             {"a: [", []string{"catalog: neither YAML nor JSON"}},
		"same key in YAML":   {"instanceTypes: []\ninstanceTypes: []", []string{"instanceTypes"}},
		"two documents":      {"[]\n---\n[]", []string{"catalog: line 3: a second document begins; keep everything in one"}},
		"not the field":      {`{"types": []}`, []string{`catalog: unknown field "types"; use the fields in the comment of catalog.Read`}},
		"not a list":         {`{"instanceTypes": {}}`, []string{"catalog: instanceTypes: found object; write a list"}},
		"no types":           {"[null, 3, {}]", []string{"instance type 1 of the list: empty; remove it", "instance type 2 of the list: found number; write an object", "instance type without a name: name: empty", "capacity: no pods"}},
		"name not text":      {`[{"name": 5}]`, []string{"instance type 1 of the list: name: found number; write text in quotes"}},
		"name twice":         {"[" + head + "}," + head + "}]", []string{"instance type m5.large: there is another one of that name"}},
		"unknown field":      {"[" + head + `,"price":3}]`, []string{`instance type m5.large: unknown field "price"; use the fields`}},
		"field twice":        {"[" + head + `,"overhead":{},"overhead":{}}]`, []string{`instance type m5.large: duplicate field "overhead"`}},
		"arch and os":        {`[{"name":"a","capacity":{"pods":1}}]`, []string{"instance type a: requirements: kubernetes.io/arch is not named; add {key: kubernetes.io/arch, operator: In, values: [amd64]}", "kubernetes.io/os is not named"}},
		"quantity":           {"[" + head + `,"overhead":{"cpu":"lots","memory":true,"pods":"1,cpu=2","x y":1}}]`, []string{`overhead: resource cpu: "lots" is not a quantity`, `overhead: resource memory: "true" is not a quantity`, `overhead: resource pods: "1,cpu=2" is not a quantity`, `overhead: resource "x y"`}},
		"capacity":           {`[{"name":"m5.large",` + labels + `,"capacity":{"cpu":"1e999999999","memory":"99Ei"}}]`, []string{"capacity: resource cpu", "capacity: resource memory"}},
		"limit":              {"[" + head + `,"volumeAttachmentLimits":{"a":1.5,"b":"x"}}]`, []string{"instance type m5.large: volumeAttachmentLimits: found number 1.5; write a whole number"}},
		"negative limit":     {"[" + head + `,"volumeAttachmentLimits":{"a":-1}}]`, []string{"volumeAttachmentLimits: a: -1; use zero or more"}},
		"requirement":        {`[{"name":"a","requirements":[{"key":"k","operator":"Is","values":[1]}]},{"name":"b","requirements":[{"ky":"k"}]},{"name":"c","requirements":[3]}]`, []string{"instance type a: requirements.values: found number; write text in quotes", `instance type b: unknown field "requirements[0].ky"; use the fields`, "instance type c: requirements: found number; write an object"}},
		"operator":           {`[{"name":"a","requirements":[{"key":"k","operator":"Is"},{"key":"k","operator":"Gt","values":["x"]}]}]`, []string{`instance type a: requirements[0]: label "k": operator "Is" is not known`, `instance type a: requirements[1]: label "k": operator Gt needs exactly one integer`}},
		"labels":             {`[{"name":"a","requirements":[{"key":"a b","operator":"Exists"},{"operator":"In","values":["dark blue"]}]}]`, []string{`requirements[0].key: "a b": name part must consist of`, `requirements[1].key: ""`, `requirements[1].values[0]: "dark blue": a valid label`}},
		"contradiction":      {`[{"name":"a",` + strings.Replace(labels, `[{`, `[{"key":"node.kubernetes.io/instance-type","operator":"In","values":["b"]},{`, 1) + `,"capacity":{"pods":1}}]`, []string{"instance type a: requirements:", "does not admit the name"}},
		"offering":           {"[" + head + `,"offerings":[{"zone":1},{"price":"cheap"},{"available":"yes"},{"reservationCapacity":0.5},{"cost":1},null,[]]}]`, []string{"offerings[0].zone: found number; write text in quotes", `offerings[1].price: found string; write a number as in 0.096`, `offerings[2].available: found string; write true or false`, "offerings[3].reservationCapacity: found number 0.5; write a whole number", `unknown field "offerings[4].cost"`, "offerings[5]: empty; remove it", "offerings[6]: found array; write an object"}},
		"names":              {`[{"name":"m5 large","offerings":[{"zone":"a b","capacityType":"sp[t","price":1}]}]`, []string{`instance type m5 large: name: "m5 large": a valid label`, `offerings[0].zone: "a b": a valid label`, `offerings[0].capacityType: "sp[t": a valid label`}},
		"price":              {"[" + head + `,"offerings":[{"zone":"a","capacityType":"spot","price":1e999}]}]`, []string{"offerings[0].price: found number 1e999; write a number as in 0.096"}},
		"no price":           {"[" + head + `,"offerings":[{"zone":"a","capacityType":"spot"}]}]`, []string{"instance type m5.large: offering 0 (m5.large/a/spot): price: 0"}},
		"no zone":            {"[" + head + `,"offerings":[{"price":1}]}]`, []string{"zone: empty", "capacityType: empty"}},
		"offering twice":     {"[" + head + `,"offerings":[{"zone":"a","capacityType":"spot","price":1},{"zone":"a","capacityType":"spot","price":2}]}]`, []string{"offered twice"}},
		"reservation":        {"[" + head + `,"offerings":[{"zone":"a","capacityType":"reserved","price":1}]}]`, []string{"reservationID: empty"}},
		"faults of two":      {`[{"name":"a","colour":1},{"name":"b","colour":1}]`, []string{`instance type a: unknown field "colour"`, `instance type b: unknown field "colour"`}},
		"overhead in offers": {"[" + head + `,"offerings":[{"zone":"a","capacityType":"spot","price":1,"overhead":{"cpu":"-1"},"capacity":[]}]}]`, []string{"offerings[0].capacity: found array; write an object"}},
	} {
		t.Run(name, func(t *testing.T) {
			types, err := catalog.Read([]byte(c.text))
			require.Error(t, err)
			require.Nil(t, types)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestSortedFaults(t *testing.T) {
	types, err := catalog.New(&catalog.Options{Types: []string{"m5.large"}})
	require.NoError(t, err)
	broken := types[0].Clone()
	broken.Offerings[0].Price = math.NaN()
	_, err = catalog.Sorted([]*cloudprovider.InstanceType{broken, nil, types[0]})
	require.ErrorContains(t, err, "price: NaN")
	require.ErrorContains(t, err, "instance type 2 of the list: nil")
	require.ErrorContains(t, err, "there is another one of that name")
}

// Whatever the input, reading ends with types that are sound and in order, or with an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(everyField))
	f.Add([]byte(`[{"name":"a","requirements":[{"key":"kubernetes.io/arch","operator":"In","values":["amd64"]},{"key":"kubernetes.io/os","operator":"NotIn","values":["x"]}],"capacity":{"cpu":"2","pods":9}}]`))
	f.Add([]byte(`[{"name":"a","name":"b"}]`))
	f.Add([]byte("{instanceTypes: [{name: a, capacity: &c {pods: 1}, overhead: *c}]}"))
	f.Add([]byte("---\n- 1\n...\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		types, err := catalog.Read(data)
		if err != nil {
			require.Nil(t, types)
			require.NotEmpty(t, err.Error())
			return
		}
		for _, it := range types {
			require.NoError(t, it.Validate())
		}
		sorted, err := catalog.Sorted(types)
		require.NoError(t, err)
		require.Equal(t, sorted, types)
		again, err := catalog.Read(data)
		require.NoError(t, err)
		require.Equal(t, types, again)
	})
}
