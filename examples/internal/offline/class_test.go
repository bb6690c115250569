package offline_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/examples/internal/place"
)

// world reads a NodePool with its class: a spec and a status in flow style, and more
// documents.
func world(t *testing.T, spec, status string, more ...string) *offline.World {
	t.Helper()
	text := `
{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: web}, spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}}}}}
---
{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: other}, spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: other}}}}}
---
{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: web}, spec: {role: R, amiSelectorTerms: [{alias: al2023@latest}], ` + spec + `}, status: {` + status + `}}
`
	for _, doc := range more {
		text += "---\n" + doc + "\n"
	}
	w := worldOf(t, offline.Files{InstancePrices: true}, text)
	return w
}

const (
	terms   = "subnetSelectorTerms: [{tags: {a: b}}], securityGroupSelectorTerms: [{tags: {a: b}}]"
	subnets = "subnets: [{id: s-1, zone: us-east-1a, zoneID: use1-az1}, {id: s-2, zone: us-east-1b, zoneID: use1-az2}]"
)

func named(t *testing.T, types []*cloudprovider.InstanceType, name string) *cloudprovider.InstanceType {
	t.Helper()
	i := slices.IndexFunc(types, func(it *cloudprovider.InstanceType) bool { return it.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return types[i]
}

// The catalog of a class that says nothing is that of the fake cloud, which is of such a
// class: what the facts are made of is in it without loss.
func TestFactsAreThoseOfTheFakeCloud(t *testing.T) {
	w := world(t, terms, "")
	in := w.Input()
	require.Len(t, in.InstanceTypes["web"], len(in.InstanceTypes["other"]))
	for i, it := range in.InstanceTypes["web"] {
		want := in.InstanceTypes["other"][i]
		require.Equal(t, want.Name, it.Name)
		for r := range want.Requirements.All() {
			got, _ := it.Requirements.Get(r.Key())
			if !r.Equal(got) {
				t.Errorf("%s: %s, want %s", it.Name, got, r)
			}
		}
		a, err := want.Allocatable()
		require.NoError(t, err)
		b, err := it.Allocatable()
		require.NoError(t, err)
		for name, amount := range b.All() {
			if name != awsv1.ResourcePodENI { // of which the provider has a table of its own
				require.Equal(t, a.Get(name), amount, "%s: %s", it.Name, name)
			}
		}
		require.Len(t, it.Offerings, len(want.Offerings))
		for j, o := range it.Offerings {
			require.Equal(t, want.Offerings[j].Key(it.Name), o.Key(it.Name))
			require.Equal(t, want.Offerings[j].Price, o.Price)
			require.Equal(t, !strings.HasPrefix(it.Name, "a1."), o.Available, it.Name)
			require.Equal(t, want.Offerings[j].Requirements.String(), o.Requirements.String())
		}
	}
	require.Equal(t, []string{"EC2NodeClass web: no subnets in its status; it is taken to launch in every zone of the cluster"}, w.Remarks())
}

// Zones are those of the subnets of the class, and those of the pool beside it its own.
func TestZonesByClass(t *testing.T) {
	w := world(t, terms, "subnets: [{id: s-1, zone: us-east-1b, zoneID: use1-az2}]",
		"{apiVersion: v1, kind: Node, metadata: {name: node, labels: {'topology.kubernetes.io/zone': us-east-1a}}, status: {allocatable: {cpu: 1}}}")
	zones := func(pool string) (out []string) {
		for _, o := range named(t, w.Input().InstanceTypes[pool], "m5.large").Offerings {
			if o.Launchable() && !slices.Contains(out, o.Zone) {
				out = append(out, o.Zone)
			}
		}
		return out
	}
	require.Equal(t, []string{"us-east-1b"}, zones("web"))
	require.Equal(t, []string{"us-east-1a", "us-east-1b"}, zones("other"))
	require.Empty(t, w.Remarks())
}

// Where nodes of a class run and it has no subnet any more nothing takes their place.
func TestNodesWhereThereIsNoSubnet(t *testing.T) {
	node := func(name, zone string) string {
		return "{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {topology.kubernetes.io/zone: " + zone + ", karpenter.sh/nodepool: web}}, spec: {providerID: 'aws:///" + zone + "/i-" + name + "'}, status: {allocatable: {cpu: 1}}}\n---\n" +
			"{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: " + name + ", labels: {topology.kubernetes.io/zone: " + zone + ", karpenter.sh/nodepool: web}}, spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}}, status: {nodeName: " + name + ", providerID: 'aws:///" + zone + "/i-" + name + "'}}"
	}
	w := world(t, terms, subnets, node("one", "us-east-1a"), node("two", "us-east-1c"))
	require.Equal(t, []string{"EC2NodeClass web: no subnet of its status is in us-east-1c, where nodes of it run (1): it launches nothing there"}, w.Remarks())
}

func TestStorageByClass(t *testing.T) {
	w := world(t, terms+", instanceStorePolicy: RAID0, blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 100Gi}}]", subnets)
	storage := func(pool, name string) string {
		q := named(t, w.Input().InstanceTypes[pool], name).Capacity.ResourceList()[corev1.ResourceEphemeralStorage]
		return q.String()
	}
	require.Equal(t, "100Gi", storage("web", "m5.large"))
	require.Equal(t, "75000000000", storage("web", "m5d.large"))
	require.Equal(t, "20Gi", storage("other", "m5d.large"))
}

// Types that no image of the class boots are not launched.
func TestImagesOfAClass(t *testing.T) {
	w := world(t, terms, subnets+", amis: [{id: ami-1, requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]")
	types := w.Input().InstanceTypes["web"]
	require.True(t, slices.ContainsFunc(named(t, types, "m5.large").Offerings, func(o cloudprovider.Offering) bool { return o.Launchable() }))
	for _, o := range named(t, types, "m6g.large").Offerings {
		require.False(t, o.Launchable())
	}
	require.Len(t, w.Remarks(), 1)
	require.Regexp(t, `^EC2NodeClass web: status.amis rules out \d+ of \d+ instance types$`, w.Remarks()[0])
}

func TestExpressionsOfAClass(t *testing.T) {
	w := world(t, terms+`, kubelet: {maxPods: "default_enis * (ips_per_eni - 1) + 1"}`, subnets)
	require.Empty(t, w.Remarks())
	require.EqualValues(t, 28, named(t, w.Input().InstanceTypes["web"], "m5.large").Capacity.Get(corev1.ResourcePods))
}

// What only EC2 knows is said to have no say, and the rest of the class has.
func TestWhatOnlyEC2Knows(t *testing.T) {
	w := world(t, terms+", placementGroupSelector: {name: g}, kubelet: {maxPods: 9}", subnets+
		", capacityReservations: [{id: cr-1, availabilityZone: us-east-1a, instanceMatchCriteria: targeted, instanceType: m5.large, ownerID: '1', reservationType: default, state: active}]")
	require.Equal(t, []string{
		"EC2NodeClass web: 1 capacity reservations are taken to be full, as only EC2 knows what they hold",
		"EC2NodeClass web: spec.placementGroupSelector has no say, as only EC2 knows the group",
	}, w.Remarks())
	m5 := named(t, w.Input().InstanceTypes["web"], "m5.large")
	require.EqualValues(t, 9, m5.Capacity.Get(corev1.ResourcePods))
	reserved := m5.Offerings[slices.IndexFunc(m5.Offerings, func(o cloudprovider.Offering) bool { return o.ReservationID == "cr-1" })]
	require.False(t, reserved.Launchable())
	require.Positive(t, reserved.Price)
}

// Zones that were asked for overrule those of the class.
func TestZonesAskedFor(t *testing.T) {
	text := "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: web}, spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}}}}}\n---\n" +
		"{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: web}, spec: {role: R, amiSelectorTerms: [{alias: al2023@latest}], " + terms + "}, status: {" + subnets + "}}\n"
	w := worldOf(t, offline.Files{Place: place.Asked{Zones: []string{"us-east-1d"}}, InstancePrices: true}, text)
	require.Empty(t, w.Remarks())
	for _, o := range named(t, w.Input().InstanceTypes["web"], "m5.large").Offerings {
		require.Equal(t, "us-east-1d", o.Zone)
		require.True(t, o.Launchable())
	}
	w = worldOf(t, offline.Files{Place: place.Asked{Region: "eu-west-1"}}, text)
	require.Contains(t, w.Remarks(), "EC2NodeClass web: none of its subnets is where the cluster is; it is taken to launch in every zone")
}

// The price of an offering includes the volumes and the address of its class. A pool without a
// class has a volume of 20 GiB where another pool has a class. InstancePrices leaves both out.
func TestBill(t *testing.T) {
	read := func(bill bool) *offline.World {
		text := `
{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: web}, spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}}}}}
---
{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: other}, spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: other}}}}}
---
{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: web}, spec: {role: R, amiSelectorTerms: [{alias: al2023@latest}], associatePublicIPAddress: true, ` +
			"blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 50Gi, volumeType: gp3}}], " + terms + "}, status: {" + subnets + "}}"
		w := worldOf(t, offline.Files{InstancePrices: !bill}, text)
		return w
	}
	w := read(true)
	plain, billed := read(false).Input(), w.Input()
	for pool, more := range map[string]float64{"web": 50*0.08/730 + 0.005, "other": 20 * 0.08 / 730} {
		before := named(t, plain.InstanceTypes[pool], "m6i.large").Offerings[0]
		after := named(t, billed.InstanceTypes[pool], "m6i.large").Offerings[0]
		require.InDelta(t, before.Price+more, after.Price, 1e-9, pool)
		require.InDelta(t, more, after.NodeCost, 1e-9, pool)
		require.Zero(t, before.NodeCost)
	}
	require.Contains(t, w.Remarks(), "prices include what a node costs in addition to its instance, in us-east-1: "+
		"0.0105 USD/h (volumes 0.0055, public address 0.0050) with EC2NodeClass web, 0.0022 USD/h (volumes 0.0022) without a class that is read; -bill=false leaves it out")
	require.Empty(t, read(false).Remarks())
}
