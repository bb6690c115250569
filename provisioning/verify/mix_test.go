package verify_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

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
				plan, err := provisioning.Solve(context.Background(), s.In, opts)
				require.NoError(t, err, where)
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
		plan, err := provisioning.Solve(context.Background(), in, opts)
		require.NoError(t, err)
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
