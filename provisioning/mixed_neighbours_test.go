package provisioning_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

func onSpread(change func(c *corev1.TopologySpreadConstraint)) oddity {
	return onPod(func(p *corev1.Pod) {
		scenes.Spread(p, corev1.LabelTopologyZone, 1, scenes.Alike(p), change)
	})
}

func oddSpreads() []oddity {
	number := func(n int32) *int32 { return &n }
	return []oddity{
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = math.MaxInt32 }),
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = math.MinInt32 }),
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.MinDomains = number(math.MaxInt32) }),
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.MinDomains = number(-1) }),
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = "" }),
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = "not a label key \x00" }),
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = corev1.LabelHostname }),
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = corev1.LabelFailureDomainBetaZone }),
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = "" }),
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = nil }),
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = &metav1.LabelSelector{} }),
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = unreadable.DeepCopy() }),
		onSpread(func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = []string{"app", "", "not a key \x00"} }),
		onSpread(func(c *corev1.TopologySpreadConstraint) {
			odd := corev1.NodeInclusionPolicy("Odd")
			c.NodeAffinityPolicy, c.NodeTaintsPolicy = &odd, &odd
		}),
	}
}

// onAffinity puts one term everywhere: required and preferred, with and away
// from others.
func onAffinity(change func(t *corev1.PodAffinityTerm)) oddity {
	return onPod(func(p *corev1.Pod) {
		t := corev1.PodAffinityTerm{TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}}
		change(&t)
		a := &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{}}
		soft := corev1.WeightedPodAffinityTerm{Weight: 100, PodAffinityTerm: t}
		switch len(p.Name) % 4 {
		case 0:
			a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{t}
		case 1:
			a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{t, t}
		case 2:
			a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{soft}
		default:
			a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{soft, soft}
		}
		p.Spec.Affinity = a
	})
}

func oddAffinities() []oddity {
	return []oddity{
		onAffinity(func(t *corev1.PodAffinityTerm) {}),
		onAffinity(func(t *corev1.PodAffinityTerm) { t.TopologyKey = "" }),
		onAffinity(func(t *corev1.PodAffinityTerm) { t.TopologyKey = corev1.LabelHostname }),
		onAffinity(func(t *corev1.PodAffinityTerm) { t.TopologyKey = "nobody.example.org/has-it" }),
		onAffinity(func(t *corev1.PodAffinityTerm) { t.LabelSelector = nil }),
		onAffinity(func(t *corev1.PodAffinityTerm) { t.LabelSelector = &metav1.LabelSelector{} }),
		onAffinity(func(t *corev1.PodAffinityTerm) { t.LabelSelector = unreadable.DeepCopy() }),
		onAffinity(func(t *corev1.PodAffinityTerm) { t.Namespaces = []string{"", "nowhere"} }),
		onAffinity(func(t *corev1.PodAffinityTerm) { t.NamespaceSelector = &metav1.LabelSelector{} }),
		onAffinity(func(t *corev1.PodAffinityTerm) {
			t.MatchLabelKeys, t.MismatchLabelKeys = []string{"app"}, []string{"app"}
		}),
		onPod(func(p *corev1.Pod) { p.Spec.Affinity = &corev1.Affinity{} }),
		onPod(func(p *corev1.Pod) { p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}} }),
		onPod(func(p *corev1.Pod) { p.Labels = nil }),
	}
}

func oddExtras() []oddity {
	ports := func(ports ...corev1.ContainerPort) oddity {
		return onPod(func(p *corev1.Pod) {
			if len(p.Spec.Containers) > 0 {
				p.Spec.Containers[0].Ports = ports
			}
		})
	}
	priority := func(n int32) oddity { return onPod(func(p *corev1.Pod) { p.Spec.Priority = &n }) }
	return []oddity{
		ports(corev1.ContainerPort{HostPort: -1}, corev1.ContainerPort{HostPort: math.MaxInt32, Protocol: "Odd"}),
		ports(corev1.ContainerPort{HostPort: 80, HostIP: "no address"}, corev1.ContainerPort{HostPort: 80}, corev1.ContainerPort{HostPort: 80}),
		ports(corev1.ContainerPort{HostPort: 80, HostIP: "::"}, corev1.ContainerPort{HostPort: 81, HostIP: "10.0.0.1", Protocol: "SCTP"}),
		priority(math.MinInt32), priority(math.MaxInt32),
		onPod(func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{}} }),
		onPod(func(p *corev1.Pod) { p.Spec.SchedulerName = "another" }),
		onPod(func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "a"}, {Name: "b", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{},
			}}}
		}),
		onPod(func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "a", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
		}),
		onPod(func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }),
		onType(func(r *shuffler, t *cloudprovider.InstanceType) {
			if len(t.Offerings) > 0 {
				o := &t.Offerings[r.below(len(t.Offerings))]
				o.CapacityType, o.ReservationID, o.ReservationCapacity = "reserved", "odd", math.MaxInt32
			}
		}),
		func(_ *shuffler, in *provisioning.Input) {
			in.Volumes.Claims = append(in.Volumes.Claims, &corev1.PersistentVolumeClaim{})
			in.Volumes.Volumes = append(in.Volumes.Volumes, &corev1.PersistentVolume{})
		},
		func(_ *shuffler, in *provisioning.Input) {
			in.Services = append(in.Services, &corev1.Service{})
			in.Controllers = append(in.Controllers, provisioning.Controller{})
			in.Namespaces = append(in.Namespaces, &corev1.Namespace{})
		},
		func(_ *shuffler, in *provisioning.Input) {
			in.Buffers = append(in.Buffers, provisioning.Buffer{Namespace: "odd", Name: "odd", Replicas: 3})
		},
		onNode(func(n *provisioning.Node) {
			if n.Node != nil && len(n.Node.Labels) > 0 {
				n.Node.Labels[corev1.LabelTopologyZone] = "not a zone \x00"
			}
		}),
		onNode(func(n *provisioning.Node) {
			if n.Node != nil {
				n.Node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi"), "pods": resource.MustParse("0")}
			}
		}),
	}
}

// TestOddNeighbours: whatever pods say of each other, the engine gives faults or
// a plan that keeps to the rules, and every reason is fit to be shown.
func TestOddNeighbours(t *testing.T) {
	t.Parallel()
	for seed := range lawSeeds(3_000, 120) {
		checkOddNeighbours(t, seed, []byte{byte(seed * 31), byte(seed * 17 >> 2), byte(seed * 7 >> 4)}[:1+seed%3])
	}
}

func FuzzOddNeighbours(f *testing.F) {
	f.Add(uint64(1), []byte{0, 1})
	f.Add(uint64(7), []byte{17, 30, 44})
	f.Fuzz(func(t *testing.T, seed uint64, choices []byte) { checkOddNeighbours(t, seed, choices) })
}

func checkOddNeighbours(t *testing.T, seed uint64, choices []byte) {
	t.Helper()
	in, opts := richProblem(seed, everything)
	r := &shuffler{state: seed}
	all := slices.Concat(oddSpreads(), oddAffinities(), oddExtras(), oddities())
	for _, c := range choices[:min(len(choices), 8)] {
		all[int(c)%len(all)](r, &in)
	}
	var plan *provisioning.Plan
	var err error
	require.NotPanics(t, func() { plan, err = provisioning.Solve(context.Background(), in, opts) }, "seed %d, choices %v", seed, choices)
	if err != nil {
		require.NotEmpty(t, provisioning.Faults(err), "seed %d, choices %v", seed, choices)
		for _, fault := range provisioning.Faults(err) {
			require.NotEmpty(t, fault.Object, "seed %d, choices %v", seed, choices)
			checkWords(t, fault.Error(), seed)
		}
		return
	}
	require.Empty(t, verify.Plan(in, plan, opts), "seed %d, choices %v", seed, choices)
	verify.Unplaced(in, plan, opts) // it may not fail either
	for _, u := range plan.Unplaced {
		checkWords(t, u.Explanation.String(), seed)
	}
}
