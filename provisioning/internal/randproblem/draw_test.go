package randproblem_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const extras = randproblem.Fields | randproblem.DaemonLabels | randproblem.FreeVolumes

func TestDrawIsRepeatable(t *testing.T) {
	for seed := range uint64(testlong.Seeds(60, 200)) {
		all := randproblem.Config{With: extras}
		require.Equal(t, randproblem.Draw(seed, all), randproblem.Draw(seed, all), "seed %d", seed)
		require.Equal(t, randproblem.DrawOptions(seed, all), randproblem.DrawOptions(seed, all), "seed %d", seed)
		require.Equal(t, randproblem.New(seed), randproblem.Draw(seed, randproblem.Plain()), "seed %d", seed)
	}
	require.NotEqual(t, randproblem.New(1), randproblem.New(2))
}

// TestDrawLeavesOut: what a Config leaves out is not there.
func TestDrawLeavesOut(t *testing.T) {
	for seed := range uint64(testlong.Seeds(60, 200)) {
		in := randproblem.Draw(seed, randproblem.Config{
			Without: randproblem.Volumes | randproblem.Overlays | randproblem.Buffers | randproblem.Defaults | randproblem.Priorities,
		})
		require.Empty(t, in.Volumes, "seed %d", seed)
		require.Empty(t, in.Overlays, "seed %d", seed)
		require.Empty(t, in.Buffers, "seed %d", seed)
		require.Empty(t, in.Services, "seed %d", seed)
		require.Empty(t, in.Controllers, "seed %d", seed)
		for _, pod := range in.Pods {
			require.Nil(t, pod.Spec.Priority, "seed %d", seed)
		}
		opts := randproblem.DrawOptions(seed, randproblem.Plain())
		opts.MinValues = ""
		require.Equal(t, &provisioning.Options{}, opts, "seed %d", seed)
	}
}

func TestProblemsAreWellFormed(t *testing.T) {
	for seed := range uint64(testlong.Seeds(300, 1000)) {
		wellFormed(t, seed, randproblem.New(seed))
		wellFormed(t, seed, randproblem.Draw(seed, randproblem.Config{With: extras}))
	}
}

func wellFormed(t *testing.T, seed uint64, in provisioning.Input) {
	t.Helper()
	names := map[string]bool{}
	once := func(kind, name string) {
		require.False(t, names[kind+name], "seed %d: two %ss called %s", seed, kind, name)
		names[kind+name] = true
	}
	for _, pool := range slices.Sorted(maps.Keys(in.InstanceTypes)) {
		for _, it := range in.InstanceTypes[pool] {
			require.NoError(t, it.Validate(), "seed %d", seed)
			once("type of "+pool, it.Name)
		}
	}
	for _, pool := range in.NodePools {
		once("pool", pool.Name)
		_, err := requirements.FromNodePool(pool, in.Vocabulary)
		require.NoError(t, err, "seed %d", seed)
		_, err = resources.FromResourceList(corev1.ResourceList(pool.Spec.Limits))
		require.NoError(t, err, "seed %d", seed)
	}
	pods := append(slices.Clone(in.Pods), in.DaemonSetPods...)
	for _, node := range in.Nodes {
		once("node", node.Name())
		pods = append(pods, node.Pods...)
		if node.NodeClaim != nil {
			_, err := requirements.FromNodeClaim(node.NodeClaim, in.Vocabulary)
			require.NoError(t, err, "seed %d", seed)
		}
	}
	for _, pod := range pods {
		once("pod", pod.Namespace+"/"+pod.Name)
		_, err := requirements.FromPod(pod, in.Vocabulary)
		require.NoError(t, err, "seed %d", seed)
		_, err = resources.PodRequests(pod)
		require.NoError(t, err, "seed %d", seed)
		wellFormedPod(t, seed, pod)
	}
	for _, o := range in.Overlays {
		once("overlay", o.Name)
		require.Empty(t, o.Validate(), "seed %d", seed)
	}
	for _, b := range in.Buffers {
		once("buffer", b.Namespace+"/"+b.Name)
	}
	for _, c := range in.Volumes.Claims {
		once("claim", c.Namespace+"/"+c.Name)
	}
	for _, v := range in.Volumes.Volumes {
		once("volume", v.Name)
	}
	for _, n := range in.Volumes.CSINodes {
		once("CSINode", n.Name)
	}
}

// wellFormedPod checks what the API server would.
func wellFormedPod(t *testing.T, seed uint64, pod *corev1.Pod) {
	t.Helper()
	spreads := map[string]bool{}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		name := c.TopologyKey + string(c.WhenUnsatisfiable)
		require.False(t, spreads[name], "seed %d: %s twice on %s", seed, name, pod.Name)
		spreads[name] = true
		require.Positive(t, c.MaxSkew)
		_, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		require.NoError(t, err, "seed %d", seed)
		require.True(t, c.MinDomains == nil || c.WhenUnsatisfiable == corev1.DoNotSchedule, "seed %d", seed)
		require.True(t, len(c.MatchLabelKeys) == 0 || c.LabelSelector != nil, "seed %d", seed)
	}
	for _, term := range requiredTerms(pod) {
		require.NotEmpty(t, term.TopologyKey)
		_, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		require.NoError(t, err, "seed %d", seed)
	}
	ports := map[corev1.ContainerPort]bool{}
	for _, c := range append(slices.Clone(pod.Spec.InitContainers), pod.Spec.Containers...) {
		for _, port := range c.Ports {
			require.False(t, ports[port], "seed %d: port twice on %s", seed, pod.Name)
			ports[port] = true
		}
	}
}

func requiredTerms(pod *corev1.Pod) []corev1.PodAffinityTerm {
	var out []corev1.PodAffinityTerm
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		out = append(out, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		out = append(out, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
	}
	return out
}

func TestDrawCoversEdges(t *testing.T) {
	covered(t, func(seed uint64, note func(string, bool)) {
		in := randproblem.Draw(seed, randproblem.Config{})
		spreadEdges(note, in)
		affinityEdges(note, in)
		volumeEdges(note, in)
		marketEdges(note, in)
		optionEdges(note, randproblem.DrawOptions(seed, randproblem.Config{}))
	},
		"spread zone", "spread hostname", "spread rack", "spread capacity type", "spread of an old key", "spread of an unknown key",
		"spread soft", "spread minDomains", "spread matchLabelKeys", "spread ignores affinity", "spread honors taints",
		"spread one key twice", "spread three keys", "spread selects nothing", "spread selects all", "spread without itself",
		"zone on nodes only", "zone without a sale", "rack of a pool", "bound pod counted", "bound pod deleted",
		"affinity", "anti-affinity", "affinity to itself", "affinity to others", "bound affinity", "bound anti-affinity",
		"affinity across namespaces", "affinity by namespace labels", "affinity in all namespaces", "affinity matchLabelKeys",
		"preferred node", "preferred pod affinity", "preferred pod anti-affinity",
		"host port", "host port with address", "host port of an init container", "host port bound", "host port of a DaemonSet",
		"claim bound", "claim unbound", "claim missing", "claim lost", "claim shared", "claim of one pod", "volume in a zone",
		"volume of a node", "volume with alternatives", "ephemeral volume", "disk of several pods", "disk that is read", "disk of Ceph", "attach limit of a type", "attach limit of a node",
		"reservation", "reservation full", "reservation in two pools", "reservation of two types", "reservation in two zones",
		"two reservations of a type", "two reservations of a type in a zone", "overlay price", "overlay capacity", "overlays of equal weight",
		"buffer", "buffer of none", "static pool", "priority", "gated", "other scheduler", "pod deleted", "service", "owner",
		"option DefaultSpread", "option SchedulerNames", "option Reserved", "option CapacityMix", "option SpotFlexibility",
		"option NodeFee", "option Preferences", "option PreferenceCost",
	)
}

func spreadEdges(note func(string, bool), in provisioning.Input) {
	for _, pod := range in.Pods {
		keys := map[string]int{}
		for _, c := range pod.Spec.TopologySpreadConstraints {
			keys[c.TopologyKey]++
			note("spread zone", c.TopologyKey == corev1.LabelTopologyZone)
			note("spread hostname", c.TopologyKey == corev1.LabelHostname)
			note("spread rack", c.TopologyKey == "example.org/rack")
			note("spread capacity type", c.TopologyKey == v1.CapacityTypeLabelKey)
			note("spread of an old key", c.TopologyKey == corev1.LabelFailureDomainBetaZone)
			note("spread of an unknown key", c.TopologyKey == "nobody.example.org/knows")
			note("spread soft", c.WhenUnsatisfiable == corev1.ScheduleAnyway)
			note("spread minDomains", c.MinDomains != nil)
			note("spread matchLabelKeys", len(c.MatchLabelKeys) > 0)
			note("spread ignores affinity", c.NodeAffinityPolicy != nil)
			note("spread honors taints", c.NodeTaintsPolicy != nil)
			note("spread one key twice", keys[c.TopologyKey] > 1)
			note("spread three keys", len(keys) > 2)
			note("spread selects nothing", c.LabelSelector == nil)
			note("spread selects all", c.LabelSelector != nil && len(c.LabelSelector.MatchLabels)+len(c.LabelSelector.MatchExpressions) == 0)
			note("spread without itself", !selects(c.LabelSelector, pod))
		}
	}
	sold := map[string]bool{}
	for _, types := range in.InstanceTypes {
		for _, it := range types {
			for i := range it.Offerings {
				sold[it.Offerings[i].Zone] = sold[it.Offerings[i].Zone] || it.Offerings[i].Available
			}
		}
	}
	for _, available := range sold {
		note("zone without a sale", !available)
	}
	for _, pool := range in.NodePools {
		note("rack of a pool", pool.Spec.Template.Labels["example.org/rack"] != "")
	}
	for _, n := range in.Nodes {
		note("zone on nodes only", n.Node != nil && n.Node.Labels[corev1.LabelTopologyZone] == "zone-d")
		for _, pod := range n.Pods {
			note("bound pod counted", pod.Labels["app"] != "")
			note("bound pod deleted", pod.DeletionTimestamp != nil)
		}
	}
}

func selects(s *metav1.LabelSelector, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

func affinityEdges(note func(string, bool), in provisioning.Input) {
	for _, pod := range in.Pods {
		if a := pod.Spec.Affinity; a != nil {
			note("affinity", a.PodAffinity != nil)
			note("anti-affinity", a.PodAntiAffinity != nil)
			note("preferred node", a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0)
			note("preferred pod affinity", a.PodAffinity != nil && len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0)
			note("preferred pod anti-affinity", a.PodAntiAffinity != nil && len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0)
		}
		for _, term := range requiredTerms(pod) {
			note("affinity to itself", selects(term.LabelSelector, pod))
			note("affinity to others", !selects(term.LabelSelector, pod))
			note("affinity across namespaces", len(term.Namespaces) > 0)
			note("affinity by namespace labels", term.NamespaceSelector != nil && len(term.NamespaceSelector.MatchLabels) > 0)
			note("affinity in all namespaces", term.NamespaceSelector != nil && len(term.NamespaceSelector.MatchLabels) == 0)
			note("affinity matchLabelKeys", len(term.MatchLabelKeys) > 0)
		}
		portEdges(note, "host port", pod)
		note("priority", pod.Spec.Priority != nil)
		note("gated", len(pod.Spec.SchedulingGates) > 0)
		note("other scheduler", pod.Spec.SchedulerName == "other")
		note("pod deleted", pod.DeletionTimestamp != nil)
		note("owner", len(pod.OwnerReferences) > 0)
	}
	for _, n := range in.Nodes {
		for _, pod := range n.Pods {
			a := pod.Spec.Affinity
			note("bound affinity", a != nil && a.PodAffinity != nil)
			note("bound anti-affinity", a != nil && a.PodAntiAffinity != nil)
			portEdges(note, "host port bound", pod)
		}
	}
	for _, pod := range in.DaemonSetPods {
		portEdges(note, "host port of a DaemonSet", pod)
	}
}

func portEdges(note func(string, bool), name string, pod *corev1.Pod) {
	for _, c := range pod.Spec.Containers {
		for _, port := range c.Ports {
			note(name, port.HostPort > 0)
			note("host port with address", port.HostIP != "")
		}
	}
	for _, c := range pod.Spec.InitContainers {
		note("host port of an init container", len(c.Ports) > 0)
	}
}

func volumeEdges(note func(string, bool), in provisioning.Input) {
	claims := map[string]*corev1.PersistentVolumeClaim{}
	for _, c := range in.Volumes.Claims {
		claims[c.Namespace+"/"+c.Name] = c
		note("claim bound", c.Status.Phase == corev1.ClaimBound)
		note("claim unbound", c.Status.Phase == corev1.ClaimPending)
		note("claim lost", c.Status.Phase == corev1.ClaimLost)
		note("claim of one pod", c.Spec.AccessModes[0] == corev1.ReadWriteOncePod)
	}
	users, disks := map[string]int{}, map[string]int{}
	for _, pod := range in.Pods {
		for _, v := range pod.Spec.Volumes {
			note("ephemeral volume", v.Ephemeral != nil)
			if disk := v.GCEPersistentDisk; disk != nil {
				note("disk of several pods", disks[disk.PDName] > 0)
				note("disk that is read", disk.ReadOnly)
				disks[disk.PDName]++
			}
			note("disk of Ceph", v.RBD != nil)
			if v.PersistentVolumeClaim != nil {
				name := pod.Namespace + "/" + v.PersistentVolumeClaim.ClaimName
				users[name]++
				note("claim missing", claims[name] == nil)
				note("claim shared", users[name] > 1)
			}
		}
	}
	for _, v := range in.Volumes.Volumes {
		note("volume of a node", v.Spec.Local != nil)
		note("volume in a zone", v.Spec.NodeAffinity != nil && v.Spec.Local == nil)
		note("volume with alternatives", v.Spec.NodeAffinity != nil && len(v.Spec.NodeAffinity.Required.NodeSelectorTerms) > 1)
	}
	for _, n := range in.Volumes.CSINodes {
		note("attach limit of a node", len(n.Spec.Drivers) > 0)
	}
}

func marketEdges(note func(string, bool), in provisioning.Input) {
	pools, types, zones := map[string]map[string]bool{}, map[string]map[string]bool{}, map[string]map[string]bool{}
	add := func(to map[string]map[string]bool, id, what string) int {
		if to[id] == nil {
			to[id] = map[string]bool{}
		}
		to[id][what] = true
		return len(to[id])
	}
	for pool, list := range in.InstanceTypes {
		for _, it := range list {
			note("attach limit of a type", len(it.VolumeAttachmentLimits) > 0)
			inZone := map[string]bool{}
			ids := map[string]bool{}
			for i := range it.Offerings {
				o := &it.Offerings[i]
				if o.ReservationID == "" {
					continue
				}
				note("reservation", o.ReservationCapacity > 0)
				note("reservation full", o.ReservationCapacity == 0)
				note("reservation in two pools", add(pools, o.ReservationID, pool) > 1)
				note("reservation of two types", add(types, o.ReservationID, it.Name) > 1)
				note("reservation in two zones", add(zones, o.ReservationID, o.Zone) > 1)
				ids[o.ReservationID] = true
				note("two reservations of a type", len(ids) > 1)
				note("two reservations of a type in a zone", inZone[o.Zone])
				inZone[o.Zone] = true
			}
		}
	}
	weights := map[int32]bool{}
	for _, o := range in.Overlays {
		note("overlay price", o.Spec.Price != nil || o.Spec.PriceAdjustment != nil)
		note("overlay capacity", len(o.Spec.Capacity) > 0)
		if o.Spec.Weight != nil {
			note("overlays of equal weight", weights[*o.Spec.Weight])
			weights[*o.Spec.Weight] = true
		}
	}
	for _, b := range in.Buffers {
		note("buffer", b.Replicas > 0)
		note("buffer of none", b.Replicas == 0)
	}
	for _, pool := range in.NodePools {
		note("static pool", pool.Spec.Replicas != nil)
	}
	note("service", len(in.Services) > 0)
}

func optionEdges(note func(string, bool), o *provisioning.Options) {
	note("option DefaultSpread", len(o.DefaultSpread) > 0)
	note("option SchedulerNames", len(o.SchedulerNames) > 0)
	note("option Reserved", o.Reserved != "")
	note("option CapacityMix", o.CapacityMix != nil)
	note("option SpotFlexibility", o.SpotFlexibility > 0)
	note("option NodeFee", o.NodeFee > 0)
	note("option Preferences", o.Preferences != "")
	note("option PreferenceCost", o.PreferenceCost > 0)
}
