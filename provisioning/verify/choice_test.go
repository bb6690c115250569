package verify_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// keep leaves a new node the options of one capacity type.
func (s *scene) keep(n *provisioning.NewNode, capacityType string) {
	n.Options = slices.DeleteFunc(n.Options, func(o cloudprovider.LaunchOption) bool { return o.Offering.CapacityType != capacityType })
	s.Plan.Cost = s.First().Price() + s.Second().Price()
	s.Plan.LowerBound = s.Plan.Cost / 2
}

// several makes the first pool ask for several values of a label.
func (s *scene) several(key string, values int) {
	s.demand(key, values)
	s.First().Requirements = s.First().Requirements.With(requirements.Exists(key))
}

// The new nodes of the scene may all be launched as spot or on demand, and name two
// instance types for the pods web-1 and web-2, one for night-1.

func TestSpotFlexibility(t *testing.T) {
	need := func(n int) func(*scene) {
		return func(s *scene) { s.Opts = &provisioning.Options{SpotFlexibility: n} }
	}
	broken := rules(verify.RuleSpotFlexibility)
	judge(t, []verdict{
		{"nothing is asked", need(0), nil, ""},
		{"one type will do", need(1), nil, ""},
		{"two types, and a node names one", need(2), broken, "node batch-1: it may be launched as spot and names 1 instance types for that, of the 2"},
		{"more than any node names", need(3), broken, "node general-1"},
		{"that node is on demand", func(s *scene) { need(2)(s); s.keep(s.Second(), v1.CapacityTypeOnDemand) }, nil, ""},
		{"that node has nothing but spot", func(s *scene) { need(2)(s); s.keep(s.Second(), v1.CapacityTypeSpot) }, nil, ""},
		{"a minValues that is met without spot", func(s *scene) {
			s.several(corev1.LabelInstanceTypeStable, 2)
			need(3)(s)
			s.keep(s.Second(), v1.CapacityTypeOnDemand)
		}, broken, "node general-1"},
		{"a minValues that is not", func(s *scene) {
			s.several(v1.CapacityTypeLabelKey, 2)
			need(3)(s)
			s.keep(s.Second(), v1.CapacityTypeOnDemand)
		}, nil, ""},
	})
}

func TestCapacityMix(t *testing.T) {
	mix := func(base, percent int) func(*scene) {
		return func(s *scene) {
			s.Opts = &provisioning.Options{CapacityMix: &provisioning.CapacityMix{OnDemandBase: base, OnDemandPercent: percent}}
			s.keep(s.Second(), v1.CapacityTypeOnDemand)
		}
	}
	broken := rules(verify.RuleCapacityMix)
	judge(t, []verdict{
		{"nobody has to", mix(0, 0), nil, ""},
		{"one of two has to", mix(1, 0), broken, "node general-1: pod default/web-1: of the 2 pods like it 0 are kept off spot capacity, CapacityMix demands 1"},
		{"a share is rounded up", mix(0, 1), broken, "CapacityMix demands 1"},
		{"base and share", mix(1, 50), broken, "CapacityMix demands 2"},
		{"there is only spot", func(s *scene) { mix(1, 0)(s); s.keep(s.First(), v1.CapacityTypeSpot) }, nil, ""},
		{"all are on demand", func(s *scene) { mix(0, 100)(s); s.keep(s.First(), v1.CapacityTypeOnDemand) }, nil, ""},
		{"who minds others is divided with those that mind the same", func(s *scene) {
			mix(1, 0)(s)
			for _, pod := range s.Webs {
				pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 8000, ContainerPort: 80}}
			}
		}, rules(verify.RuleCapacityMix, verify.RuleHostPorts), "of the 2 pods like it 0 are kept off spot"},
		{"who minds something else is divided by itself", func(s *scene) {
			mix(1, 0)(s)
			for i, pod := range s.Webs {
				pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: int32(8000 + i), ContainerPort: 80}}
			}
		}, broken, "of the 1 pods like it 0 are kept off spot"},
		{"scratch space tells nobody apart", func(s *scene) {
			mix(1, 0)(s)
			s.Webs[0].Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}, broken, "of the 2 pods like it 0 are kept off spot"},
		{"who has volumes is judged", func(s *scene) {
			mix(1, 50)(s)
			s.Class("fast", "disk.example.com", waits)
			s.Claim("data-1", "fast", "", s.Webs[0])
			s.Claim("data-2", "fast", "", s.Webs[1])
		}, broken, "of the 2 pods like it 0 are kept off spot capacity, CapacityMix demands 2"},
		{"who has volumes comes on demand", func(s *scene) {
			mix(1, 50)(s)
			s.Class("fast", "disk.example.com", waits)
			s.Claim("data-1", "fast", "", s.Webs[0])
			s.keep(s.First(), v1.CapacityTypeOnDemand)
		}, nil, ""},
		{"who has a disk is judged", func(s *scene) {
			mix(1, 0)(s)
			s.Webs[0].Spec.Volumes = []corev1.Volume{{Name: "disk", VolumeSource: corev1.VolumeSource{
				GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"},
			}}}
		}, broken, "of the 2 pods like it 0 are kept off spot capacity, CapacityMix demands 1"},
		{"who has devices is judged", func(s *scene) {
			mix(1, 0)(s)
			name := "spare-device"
			s.Webs[0].Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device", ResourceClaimName: &name}}
			s.In.Devices.Claims = []*resourcev1.ResourceClaim{{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
				Status:     resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{}},
			}}
		}, broken, "of the 2 pods like it 0 are kept off spot capacity, CapacityMix demands 1"},
		{"a minValues that is met without spot", func(s *scene) { s.several(corev1.LabelInstanceTypeStable, 2); mix(1, 0)(s) }, broken, "CapacityMix demands 1"},
		{"a minValues that is not", func(s *scene) { s.several(v1.CapacityTypeLabelKey, 2); mix(1, 0)(s) }, nil, ""},
	})
}

// replicas returns the pods of a StatefulSet, each with a volume of its own, in the
// zones a and b by turns.
func replicas(n int) *scene {
	s := newScene()
	s.In.Nodes, s.In.Pods = nil, nil
	for i := range n {
		pod, name := scenes.Pod("db", "500m", "1Gi"), fmt.Sprint("data-", i)
		pod.Name = fmt.Sprint("db-", i)
		s.Volume(name, "", []string{"a", "b"}[i%2], "1Gi")
		s.Claim(name, "", name, pod)
		s.In.Pods = append(s.In.Pods, pod)
	}
	return s
}

// offSpot says whether a new node is never launched as spot.
func offSpot(n *provisioning.NewNode) bool {
	return !slices.ContainsFunc(n.Options, func(o cloudprovider.LaunchOption) bool { return o.Offering.CapacityType == v1.CapacityTypeSpot })
}

// offerSpot adds the spot offerings that the options of a new node have beside them
// in the catalog, and says whether there are any.
func (m *mutant) offerSpot(n *provisioning.NewNode) bool {
	had := slices.Clone(n.Options)
	for _, o := range had {
		for i := range o.InstanceType.Offerings {
			spot := cloudprovider.LaunchOption{InstanceType: o.InstanceType, Offering: &o.InstanceType.Offerings[i]}
			if spot.Offering.CapacityType == v1.CapacityTypeSpot && spot.Offering.Zone == o.Offering.Zone && spot.Offering.Launchable() {
				n.Options = append(n.Options, spot)
			}
		}
	}
	if len(n.Options) == len(had) {
		return false
	}
	n.Requirements = n.Requirements.Without(v1.CapacityTypeLabelKey)
	m.settle()
	return true
}

// TestFindsBrokenMix solves for a StatefulSet and then lets one node after the
// other be launched as spot again. the referee must find it from the node on that leaves
// too few pods on demand, and not before.
func TestFindsBrokenMix(t *testing.T) {
	for n := range 10 {
		for base := range 4 {
			for _, percent := range []int{0, 25, 50, 100} {
				s := replicas(n)
				mix := provisioning.CapacityMix{OnDemandBase: base, OnDemandPercent: percent}
				opts := &provisioning.Options{CapacityMix: &mix}
				where := fmt.Sprintf("%d replicas, %d+%d%%", n, base, percent)
				plan := solved(t, s.In, opts, where)
				require.Empty(t, plan.Unplaced, where)
				least := min(base, n)
				least += ((n-least)*percent + 99) / 100
				m := &mutant{in: s.In, plan: clonePlan(plan)}
				kept, nodes := 0, 0
				for i := range m.plan.Create {
					if offSpot(&m.plan.Create[i]) {
						kept += len(m.plan.Create[i].Pods)
						nodes++
					}
				}
				require.GreaterOrEqual(t, kept, least, where)
				require.LessOrEqual(t, nodes, least, "%s: a node on demand for no pod that has to be there", where)
				require.Empty(t, verify.Plan(s.In, m.plan, opts), where)
				for {
					i := slices.IndexFunc(m.plan.Create, func(n provisioning.NewNode) bool { return offSpot(&n) })
					if i < 0 {
						break
					}
					kept -= len(m.plan.Create[i].Pods)
					require.True(t, m.offerSpot(&m.plan.Create[i]), where)
					found := verify.Plan(s.In, m.plan, opts)
					if kept >= least {
						require.Empty(t, found, where)
						continue
					}
					require.Len(t, found, 1, where)
					require.Equal(t, verify.RuleCapacityMix, found[0].Rule, where)
				}
			}
		}
	}
}

// TestFindsSpotInRandomPlans: where all pods are to be kept off spot, no node
// with a real pod may name it beside other capacity.
func TestFindsSpotInRandomPlans(t *testing.T) {
	t.Parallel()
	tried, extras := 0, 0
	for seed := range lawSeeds(600, 150) {
		c := randproblem.Config{Without: randproblem.Buffers}
		in, opts := randproblem.Draw(seed, c), randproblem.DrawOptions(seed, c)
		opts.CapacityMix = &provisioning.CapacityMix{OnDemandPercent: 100}
		plan := solved(t, in, opts)
		for i := range plan.Create {
			if !offSpot(&plan.Create[i]) {
				continue
			}
			m := &mutant{in: in, plan: clonePlan(plan)}
			pods := plan.Create[i].Pods
			if !m.offerSpot(&m.plan.Create[i]) {
				continue
			}
			tried++
			if slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return len(p.Spec.Volumes)+len(p.Spec.ResourceClaims) > 0 }) {
				extras++
			}
			require.True(t, slices.ContainsFunc(verify.Plan(in, m.plan, opts), func(v verify.Violation) bool {
				return v.Rule == verify.RuleCapacityMix
			}), "seed %d: node %s", seed, plan.Create[i].Name)
		}
	}
	require.Greater(t, tried, enough(30))
	require.Greater(t, extras, enough(5))
}
