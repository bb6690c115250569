package scenario_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenario"
)

const neighbours = `Pods that look at each other.

namespace team-a
  labels team=a
service front
  select app=web
controller web-1 app=web, hash=1
default-spread zone skew 3 soft
options Preferences=Ignore, PreferenceCost=0.2, SchedulerNames=a|b, Reserved=Strict, NodeFee=0.01, CapacityMix=2+50%, SpotFlexibility=3
pod web x2
  labels app=web, hash=1
  spread zone skew 2
  spread hostname soft min-domains 3 select app in (web, api), !old affinity ignore taints honor match-keys hash
  spread rack select nothing
  spread rack2 select all
  with hostname app=cache namespaces a,b
  with zone soft 5 namespaces-with team = a match-keys hash mismatch-keys tenant
  anti zone
  anti hostname app=web soft 100
  prefer 50 zone in (a)
  request cpu=1
  beside cpu=1
  sidecar cpu=1
  init-port 53/udp
  pod-request cpu=4
  overhead cpu=100m
  port 8080
  port 10.0.0.1:81/udp
  port [::1]:82/sctp
  priority -5
  preemption Never
  gated
  scheduler mine
  namespace team-a
  owned web-1
  nominated old
  deleting
buffer spare x3
  request cpu=1
overlay cheap
  require zone in (a), cpus > 4
  adjust -10%
  weight 5
  capacity example.com/gpu=1
overlay fixed
  price 0.5
node old
  labels zone=a
  allocatable cpu=4
  runs web x2 cpu=1; labels app=web; anti zone; port 80; priority 7
`

func TestParseNeighbours(t *testing.T) {
	f, err := scenario.Parse(neighbours)
	require.NoError(t, err)
	w := f.Cases[0].World
	require.Len(t, w.Pods, 2)
	web := w.Pods[1]
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", "hash": "1"}}
	least, honor, ignore := int32(3), corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	require.Equal(t, []corev1.TopologySpreadConstraint{
		{MaxSkew: 2, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: own},
		{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, MinDomains: &least,
			LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"api", "web"}},
				{Key: "old", Operator: metav1.LabelSelectorOpDoesNotExist},
			}},
			NodeAffinityPolicy: &ignore, NodeTaintsPolicy: &honor, MatchLabelKeys: []string{"hash"},
		},
		{MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule},
		{MaxSkew: 1, TopologyKey: "rack2", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{}},
	}, web.Spec.TopologySpreadConstraints)
	app := func(name string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	}
	require.Equal(t, &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: app("cache"), Namespaces: []string{"a", "b"}},
		},
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 5, PodAffinityTerm: corev1.PodAffinityTerm{
			TopologyKey: corev1.LabelTopologyZone, LabelSelector: own,
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}},
			MatchLabelKeys:    []string{"hash"}, MismatchLabelKeys: []string{"tenant"},
		}}},
	}, web.Spec.Affinity.PodAffinity)
	require.Equal(t, &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelTopologyZone, LabelSelector: own}},
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: app("web")}},
		},
	}, web.Spec.Affinity.PodAntiAffinity)
	require.Equal(t, []corev1.PreferredSchedulingTerm{{Weight: 50, Preference: corev1.NodeSelectorTerm{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: "In", Values: []string{"a"}}},
	}}}, web.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)

	bound := w.Nodes[0].Pods
	require.Len(t, bound, 2)
	require.Equal(t, "web-2", bound[1].Name)
	require.Equal(t, "old", bound[1].Spec.NodeName)
	require.Equal(t, int32(7), *bound[1].Spec.Priority)
	require.Equal(t, app("web"), bound[1].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector)
	require.Equal(t, "a", w.Nodes[0].Node.Labels[corev1.LabelTopologyZone])
}

func TestParsePodDetails(t *testing.T) {
	f, err := scenario.Parse(neighbours)
	require.NoError(t, err)
	web := f.Cases[0].World.Pods[0]
	require.Equal(t, []corev1.ContainerPort{
		{ContainerPort: 8080, HostPort: 8080, Protocol: corev1.ProtocolTCP},
		{ContainerPort: 81, HostPort: 81, HostIP: "10.0.0.1", Protocol: corev1.ProtocolUDP},
		{ContainerPort: 82, HostPort: 82, HostIP: "::1", Protocol: corev1.ProtocolSCTP},
	}, web.Spec.Containers[0].Ports)
	require.Len(t, web.Spec.Containers, 2)
	sidecar := web.Spec.InitContainers[0]
	require.Equal(t, corev1.ContainerRestartPolicyAlways, *sidecar.RestartPolicy)
	require.Equal(t, []corev1.ContainerPort{{ContainerPort: 53, HostPort: 53, Protocol: corev1.ProtocolUDP}}, sidecar.Ports)
	require.Equal(t, "4", web.Spec.Resources.Requests.Cpu().String())
	require.Equal(t, "100m", web.Spec.Overhead.Cpu().String())
	require.Equal(t, int32(-5), *web.Spec.Priority)
	require.Equal(t, corev1.PreemptNever, *web.Spec.PreemptionPolicy)
	require.Len(t, web.Spec.SchedulingGates, 1)
	require.Equal(t, "mine", web.Spec.SchedulerName)
	require.Equal(t, "team-a", web.Namespace)
	require.Equal(t, "old", web.Status.NominatedNodeName)
	require.NotNil(t, web.DeletionTimestamp)
	controller := f.Cases[0].World.Controllers[0]
	require.Equal(t, controller.UID, web.OwnerReferences[0].UID)
	require.Equal(t, map[string]string{"app": "web", "hash": "1"}, controller.Selector.MatchLabels)
}

func TestParseCluster(t *testing.T) {
	f, err := scenario.Parse(neighbours)
	require.NoError(t, err)
	w := f.Cases[0].World
	require.Equal(t, map[string]string{"team": "a", corev1.LabelMetadataName: "team-a"}, w.Namespaces[0].Labels)
	require.Equal(t, map[string]string{"app": "web"}, w.Services[0].Spec.Selector)
	require.Equal(t, []corev1.TopologySpreadConstraint{
		{MaxSkew: 3, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway},
	}, w.DefaultSpread)
	w.DefaultSpread = nil
	require.Equal(t, scenario.Options{
		Preferences: "Ignore", PreferenceCost: 0.2, SchedulerNames: []string{"a", "b"}, Reserved: "Strict", NodeFee: 0.01,
		CapacityMix: &scenario.CapacityMix{OnDemandBase: 2, OnDemandPercent: 50}, SpotFlexibility: 3,
	}, w.Options)
	require.Equal(t, 3, w.Buffers[0].Replicas)
	require.Equal(t, "1", w.Buffers[0].Template.Spec.Containers[0].Resources.Requests.Cpu().String())
	require.Equal(t, []v1.NodeSelectorRequirement{
		{Key: corev1.LabelTopologyZone, Operator: "In", Values: []string{"a"}},
		{Key: "cpus", Operator: v1.NodeSelectorOpGte, Values: []string{"5"}},
	}, w.Overlays[0].Spec.Requirements)
	require.Equal(t, "-10%", *w.Overlays[0].Spec.PriceAdjustment)
	require.Equal(t, int32(5), *w.Overlays[0].Spec.Weight)
	require.Len(t, w.Overlays[0].Spec.Capacity, 1)
	require.Equal(t, "0.5", *w.Overlays[1].Spec.Price)
}

const storage = `Volumes of every kind.

type m cpu=4
  attaches csi.example.com=3, other.example.com=0
class fast
  driver fast.example.com
  immediate
  topology zone in (a, b)
  topology zone in (c), rack = r1
volume pv-1
  labels zone=a
  class fast
  driver fast.example.com
  term zone in (a)
  term zone in (b)
volume disk
  local
  free
  deleting
  term hostname = old
claim data x2
  class fast
  volume pv-*
  mode ReadWriteOncePod
claim odd
  volume pv-1
  unannotated
  deleting
  namespace other
claim gone
  lost
node old
  allocatable cpu=4
  attaches csi.example.com=2, free.example.com
  runs db cpu=1; claim data-1
pod db x2
  claim data-*, shared
  ephemeral scratch fast
`

func TestParseStorage(t *testing.T) {
	f, err := scenario.Parse(storage)
	require.NoError(t, err)
	v := f.Cases[0].World.Volumes
	fast := v.Classes[0]
	require.Equal(t, "fast.example.com", fast.Provisioner)
	require.Equal(t, "Immediate", string(*fast.VolumeBindingMode))
	require.Len(t, fast.AllowedTopologies, 2)
	require.Equal(t, []corev1.TopologySelectorLabelRequirement{
		{Key: "rack", Values: []string{"r1"}}, {Key: corev1.LabelTopologyZone, Values: []string{"c"}},
	}, sorted(fast.AllowedTopologies[1].MatchLabelExpressions))
	require.Equal(t, "fast.example.com", v.Volumes[0].Spec.CSI.Driver)
	require.Len(t, v.Volumes[0].Spec.NodeAffinity.Required.NodeSelectorTerms, 2)
	require.NotNil(t, v.Volumes[1].Spec.Local)
	require.Nil(t, v.Volumes[1].Spec.CSI)
	require.Equal(t, corev1.VolumeAvailable, v.Volumes[1].Status.Phase)

	names := map[string]string{}
	for _, c := range v.Claims {
		names[c.Name] = c.Spec.VolumeName
	}
	require.Equal(t, map[string]string{"data-1": "pv-1", "data-2": "pv-2", "odd": "pv-1", "gone": ""}, names)
	require.Equal(t, corev1.ClaimBound, v.Claims[0].Status.Phase)
	require.NotEmpty(t, v.Claims[0].Annotations)
	require.Empty(t, v.Claims[2].Annotations)
	require.Equal(t, "other", v.Claims[2].Namespace)
	require.Equal(t, corev1.ClaimLost, v.Claims[3].Status.Phase)

	drivers := v.CSINodes[0].Spec.Drivers
	require.Equal(t, "old", v.CSINodes[0].Name)
	require.Equal(t, int32(2), *drivers[0].Allocatable.Count)
	require.Nil(t, drivers[1].Allocatable)
	w := f.Cases[0].World
	require.Equal(t, "data-2", w.Pods[1].Spec.Volumes[0].PersistentVolumeClaim.ClaimName)
	require.Equal(t, "shared", w.Pods[1].Spec.Volumes[1].PersistentVolumeClaim.ClaimName)
	require.Equal(t, "fast", *w.Pods[1].Spec.Volumes[2].Ephemeral.VolumeClaimTemplate.Spec.StorageClassName)
	require.Equal(t, "data-1", w.Nodes[0].Pods[0].Spec.Volumes[0].PersistentVolumeClaim.ClaimName)
}

func sorted(in []corev1.TopologySelectorLabelRequirement) []corev1.TopologySelectorLabelRequirement {
	if len(in) == 2 && in[0].Key > in[1].Key {
		in[0], in[1] = in[1], in[0]
	}
	return in
}

func TestParseNeighbourFaults(t *testing.T) {
	for _, tc := range []struct{ name, text, says string }{
		{"pod word", "A.\n\npod p\n  size 3\n", `line 4: pod p: size: is not known here; use one of request, init, `},
		{"node word", "A.\n\nnode p\n  size 3\n", `line 4: node p: size: is not known here; use one of of, stage, `},
		{"spread key", "A.\n\npod p\n  spread zone zone\n", `"zone zone" is not one KEY; write KEY, then any of skew N`},
		{"spread twice", "A.\n\npod p\n  spread zone skew 1 skew 2\n", `"skew" stands there twice; leave one out`},
		{"spread skew", "A.\n\npod p\n  spread zone skew 0\n", `skew: "0" is not a whole number from 1 on`},
		{"spread domains", "A.\n\npod p\n  spread zone min-domains x\n", `min-domains: "x" is not a whole number from 1 on`},
		{"spread soft", "A.\n\npod p\n  spread zone soft 5\n", `"5" stands behind soft, which takes nothing on a spread`},
		{"spread policy", "A.\n\npod p\n  spread zone taints maybe\n", `taints: "maybe" is not a policy; use honor or ignore`},
		{"spread selector", "A.\n\npod p\n  spread zone select\n", `a selector is missing; write CLAUSES`},
		{"selector bounds", "A.\n\npod p\n  anti zone size > 3\n", `label selectors know no bounds on numbers, as on "size"`},
		{"own labels", "A.\n\npod p\n  anti zone\n", `line 3: pod p: a constraint without a selector selects the labels of its pod, which has none`},
		{"term key", "A.\n\npod p\n  with\n", `the KEY is missing; write KEY, then any of SELECTOR`},
		{"term weight", "A.\n\npod p\n  with zone a=b soft\n", `soft: "" is not a whole number from 1 on`},
		{"namespaces", "A.\n\npod p\n  with zone a=b namespaces-with\n", `namespaces-with: a selector is missing`},
		{"preference", "A.\n\npod p\n  prefer zone = a\n", `"zone" is not a whole number from 1 on; write WEIGHT CLAUSES`},
		{"port", "A.\n\npod p\n  port http\n", `"http" is not a whole number from 1 on; write [IP:]PORT[/PROTOCOL]`},
		{"init port", "A.\n\npod p\n  init-port 53\n", `there is no init container yet; write a line init or sidecar above`},
		{"ephemeral", "A.\n\npod p\n  ephemeral scratch\n", `"scratch" is not NAME CLASS`},
		{"disk", "A.\n\npod p\n  disk d writable\n", `"d writable" is not NAME or NAME read-only`},
		{"runs nobody", "A.\n\nnode n\n  runs\n", `line 4: node n: runs: the name is missing; write NAME AMOUNTS`},
		{"runs line", "A.\n\nnode n\n  runs p cpu=1; port x\n", `line 4: node n: runs: port: "x" is not`},
		{"runs own", "A.\n\nnode n\n  runs p cpu=1; anti zone\n", `a constraint without a selector`},
		{"runs count", "A.\n\nnode n\n  runs p x0 cpu=1\n", `"0" is not a count`},
		{"drivers", "A.\n\nnode n\n  attaches d=-1\n", `d: "-1" is not a whole number from 0 on`},
		{"type drivers", "A.\n\ntype n cpu=1\n  attaches d\n", `d: "" is not a whole number from 0 on; write DRIVER=N`},
		{"type word", "A.\n\ntype n cpu=1\n  size 3\n", `size: is not known here; use one of offer, keeps, labels, attaches`},
		{"pool word", "A.\n\npool n\n  size 3\n", `size: is not known here; use one of types, require`},
		{"namespace", "A.\n\nnamespace n\n  size 3\n", `line 4: namespace n: size: is not known here; use one of labels`},
		{"class", "A.\n\nclass n\n  topology !zone\n", `allowedTopologies list values; "topology.kubernetes.io/zone" has none`},
		{"class word", "A.\n\nclass n\n  size 3\n", `is not known here; use one of driver, immediate, default, topology`},
		{"volume", "A.\n\nvolume n\n  local\n  driver d\n", `line 5: volume n: driver: a local volume has no driver; leave out one of the two`},
		{"volume word", "A.\n\nvolume n\n  size 3\n", `is not known here; use one of driver, local`},
		{"claim", "A.\n\nclaim n\n  mode Once\n", `"Once" is not an access mode; use one of ReadWriteOnce, `},
		{"claim word", "A.\n\nclaim n\n  weigh 3\n", `is not known here; use one of class, volume`},
		{"claim count", "A.\n\nclaim n xx\n", `line 3: claim n: "x" is not a count`},
		{"overlay", "A.\n\noverlay n\n  weight much\n", `"much" is not a whole number from 0 on`},
		{"overlay word", "A.\n\noverlay n\n  size 3\n", `is not known here; use one of require, price`},
		{"buffer", "A.\n\nbuffer n x0\n", `line 3: buffer n: "0" is not a count; write x and a number from 1 to 100000`},
		{"service", "A.\n\nservice n\n  size 3\n", `is not known here; use one of select, namespace`},
		{"controller", "A.\n\ncontroller n\n", `line 3: controller n: a selector is missing`},
		{"controller lines", "A.\n\ncontroller n all\n  size 3\n", `line 4: "controller" takes no lines below it`},
		{"default spread", "A.\n\ndefault-spread zone skew x\n", `line 3: default-spread: skew: "x" is not`},
		{"mix", "A.\n\noptions CapacityMix=50\n", `line 3: CapacityMix: "50" is not BASE+PERCENT%, as in 2+50%`},
		{"kind", "A.\n\nthing n\n", `line 3: "thing" is not known; declare one of type, pool, pod`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := scenario.Parse(tc.text)
			require.Nil(t, f)
			require.ErrorContains(t, err, tc.says)
		})
	}
}

const devices = `Devices.

type gpu cpu=4
  device gpu.example.com x2 model=l4, memory=24
  device nic.example.com
device-class gpu
  driver gpu.example.com
device-class large
  driver gpu.example.com
  where model=h100
device-claim one x2
  want gpu x2 where model=l4, memory=24
  want gpu all
  holds old gpu.example.com device-1, device-2
device-template pair
  want gpu
node old
  allocatable cpu=4
  device gpu.example.com x2 model=l4
  runs train cpu=1; device-claim one-1
pod train x2
  device-claim one-*
  device-template pair
`

func TestParseDevices(t *testing.T) {
	f, err := scenario.Parse(devices)
	require.NoError(t, err)
	w := f.Cases[0].World
	d := w.Devices
	require.Len(t, d.Classes[1].Spec.Selectors, 2)
	require.Len(t, d.Claims, 2)
	requests := d.Claims[1].Spec.Devices.Requests
	require.Equal(t, int64(2), requests[0].Exactly.Count)
	require.Len(t, requests[0].Exactly.Selectors, 2)
	require.Equal(t, "All", string(requests[1].Exactly.AllocationMode))
	require.Len(t, d.Claims[0].Status.Allocation.Devices.Results, 2)
	require.Equal(t, "gpu", d.Templates[0].Spec.Spec.Devices.Requests[0].Exactly.DeviceClassName)
	slice := d.Slices[0]
	require.Equal(t, d.Claims[0].Status.Allocation.Devices.Results[1].Pool, slice.Spec.Pool.Name)
	require.Equal(t, d.Claims[0].Status.Allocation.Devices.Results[1].Device, slice.Spec.Devices[1].Name)
	require.Equal(t, "one-2", *w.Pods[1].Spec.ResourceClaims[0].ResourceClaimName)
	require.Equal(t, "one-1", *w.Pods[0].Spec.ResourceClaims[0].ResourceClaimName)
	require.Equal(t, "pair", *w.Pods[1].Spec.ResourceClaims[1].ResourceClaimTemplateName)

	matches := func(i int) []bool {
		var out []bool
		for _, s := range d.Classes[i].Spec.Selectors {
			ok, err := scenario.Matcher{}.Matches(s, slice.Spec.Driver, &slice.Spec.Devices[0])
			require.NoError(t, err)
			out = append(out, ok)
		}
		return out
	}
	require.Equal(t, []bool{true}, matches(0))
	require.Equal(t, []bool{true, false}, matches(1))
	l4, err := scenario.Matcher{}.Matches(requests[0].Exactly.Selectors[0], slice.Spec.Driver, &slice.Spec.Devices[0])
	require.NoError(t, err)
	require.True(t, l4)
	_, err = scenario.Matcher{}.Matches(resourcev1.DeviceSelector{}, "", &slice.Spec.Devices[0])
	require.ErrorContains(t, err, "the selector is empty; set cel.expression")

	for text, says := range map[string]string{
		"type t cpu=1\n  device\n":                   "the driver is missing; write DRIVER",
		"type t cpu=1\n  device d x0\n":              `"0" is not a whole number from 1 on`,
		"node n\n  device d red\n":                   `"red" is not key=value`,
		"device-class c\n  size 3\n":                 "is not known here; use one of driver, where",
		"device-class c\n  where red\n":              `"red" is not ATTRIBUTE=VALUE`,
		"device-claim c\n  size 3\n":                 "is not known here; use one of want, holds",
		"device-claim c x\n  size 3\n":               `"" is not a count`,
		"device-claim c\n  want\n":                   `"" is not CLASS [xCOUNT|all]`,
		"device-claim c\n  want a b\n":               `"a b" is not CLASS [xCOUNT|all]`,
		"device-claim c\n  want a xx\n":              `"x" is not a whole number from 1 on`,
		"device-claim c\n  holds n d e\n":            `is not NODE DRIVER DEVICES below a line want`,
		"device-template c\n  size 3\n":              "is not known here; use one of want",
		"device-claim c\n  want a where red\n":       `"red" is not ATTRIBUTE=VALUE`,
		"device-claim c\n  want a where where b=c\n": `"where" stands there twice`,
	} {
		_, err := scenario.Parse("A.\n\n" + text)
		require.ErrorContains(t, err, says, text)
	}
}
