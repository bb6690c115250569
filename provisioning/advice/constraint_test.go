package advice_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
)

// full returns a pod and a pool with a constraint of each kind.
func full(t *testing.T) provisioning.Input {
	in := shop(t)
	pool, weight, three := in.NodePools[0], int32(10), 3
	pool.Spec.Weight = &weight
	pool.Spec.Limits = v1.Limits{corev1.ResourceCPU: quantity("100")}
	pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "team", Value: "shop", Effect: corev1.TaintEffectNoSchedule}}
	pool.Spec.Template.Spec.Requirements[0].MinValues = &three

	p := pod("api", 0)
	app := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "api"}}
	term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelTopologyZone, LabelSelector: app}
	asks := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"}}}}
	p.Spec.NodeSelector = map[string]string{corev1.LabelArchStable: "amd64"}
	p.Spec.Affinity = &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{asks}},
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 5, Preference: asks}},
		},
		PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{term},
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}},
		},
		PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{term},
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}},
		},
	}
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
		{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: app},
		{TopologyKey: corev1.LabelHostname, MaxSkew: 2, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: app},
	}
	p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
	in.Pods = []*corev1.Pod{p}
	return in
}

// TestConstraintsAreListed: one of each kind, in order and in words.
func TestConstraintsAreListed(t *testing.T) {
	var got []string
	for _, c := range advice.Constraints(full(t)) {
		got = append(got, c.String())
	}
	require.Equal(t, []string{
		"NodePool general: requirement karpenter.sh/capacity-type In [on-demand]",
		"NodePool general: requirement kubernetes.io/arch In [amd64]",
		"NodePool general: minValues 3 of kubernetes.io/arch",
		"NodePool general: taint team=shop:NoSchedule",
		"NodePool general: limit cpu=100",
		"NodePool general: weight 10",
		"Deployment shop/api: nodeSelector kubernetes.io/arch=amd64 (1 pod)",
		"Deployment shop/api: node affinity disk In [ssd] (1 pod)",
		"Deployment shop/api: pod affinity over topology.kubernetes.io/zone to pods app=api (1 pod)",
		"Deployment shop/api: pod anti-affinity over topology.kubernetes.io/zone to pods app=api (1 pod)",
		"Deployment shop/api: topology spread over topology.kubernetes.io/zone by 1 of pods app=api (1 pod)",
		"Deployment shop/api: host port 8080 (1 pod)",
		"Deployment shop/api: preference node affinity disk In [ssd] of weight 5 (1 pod)",
		"Deployment shop/api: preference pod affinity over topology.kubernetes.io/zone to pods app=api of weight 1 (1 pod)",
		"Deployment shop/api: preference pod anti-affinity over topology.kubernetes.io/zone to pods app=api of weight 1 (1 pod)",
		"Deployment shop/api: preference topology spread over kubernetes.io/hostname by 2 of pods app=api (1 pod)",
		"Deployment shop/api: half of the request for cpu (1 pod)",
		"Deployment shop/api: half of the request for memory (1 pod)",
	}, got)
}

// TestWithoutTakesOneAway: without a constraint all others are there, and without all of
// them none but requests, which are halved. The input stays as it was.
func TestWithoutTakesOneAway(t *testing.T) {
	in, untouched := full(t), full(t)
	all, without := advice.Constraints(in), in
	for i, c := range all {
		if c.Kind == advice.KindRequest {
			continue
		}
		left := advice.Constraints(c.Without(in))
		want := append(append([]advice.Constraint(nil), all[:i]...), all[i+1:]...)
		if c.Kind == advice.KindRequirement && c.Text == "kubernetes.io/arch In [amd64]" {
			want = append(append([]advice.Constraint(nil), all[:1]...), all[3:]...) // and its minValues
		}
		require.Equal(t, texts(want), texts(left), "without %s", c)
		without = c.Without(without)
	}
	left := advice.Constraints(without)
	require.Equal(t, []string{"Deployment shop/api: half of the request for cpu (1 pod)", "Deployment shop/api: half of the request for memory (1 pod)"}, texts(left))
	require.InDelta(t, 0.75, left[0].Amount, 1e-9)
	require.InDelta(t, 2.5, left[1].Amount, 1e-9)
	halved := left[0].Without(without).Pods[0].Spec.Containers[0].Resources.Requests
	require.Equal(t, "750m", halved.Cpu().String())
	require.Equal(t, "5Gi", halved.Memory().String())
	require.Equal(t, untouched, in)
}

func texts(list []advice.Constraint) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.String())
	}
	return out
}

// TestWithoutReachesPodsOnNodes: the same pods of a cluster that was not emptied.
func TestWithoutReachesPodsOnNodes(t *testing.T) {
	in := full(t)
	running := in
	running.Nodes = []provisioning.Node{{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, Pods: in.Pods}, {Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2"}}}}
	running.Pods = nil
	for _, c := range advice.Constraints(in) {
		if c.Kind != advice.KindTopologySpread {
			continue
		}
		out := c.Without(running)
		require.Len(t, out.Nodes[0].Pods[0].Spec.TopologySpreadConstraints, 1)
		require.Len(t, running.Nodes[0].Pods[0].Spec.TopologySpreadConstraints, 2)
	}
}

// TestAnyTermSuffices: one that asks for nothing but the label admits all nodes without it,
// and the whole affinity with it; a term that is empty admits none.
func TestAnyTermSuffices(t *testing.T) {
	in := shop(t)
	zone := corev1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"us-east-1a"}}
	disk := corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpExists}
	in.Pods = in.Pods[:1]
	in.Pods[0].Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{zone, disk}}, {MatchExpressions: []corev1.NodeSelectorRequirement{zone}}, {}}}}}
	terms := func(key string) []corev1.NodeSelectorTerm {
		for _, c := range advice.Constraints(in) {
			if c.Kind == advice.KindNodeAffinity && c.Field == "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution["+key+"]" {
				if s := c.Without(in).Pods[0].Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
					return s.NodeSelectorTerms
				}
				return nil
			}
		}
		t.Fatalf("no constraint over %s", key)
		return nil
	}
	require.Nil(t, terms(corev1.LabelTopologyZone))
	left := terms("disk")
	require.Len(t, left, 3)
	require.Equal(t, []corev1.NodeSelectorRequirement{zone}, left[0].MatchExpressions)
	require.Empty(t, left[2].MatchExpressions)
}

// TestLawConstraintsAreOrdered: no two are equal, and the order of the input does not matter.
func TestLawConstraintsAreOrdered(t *testing.T) {
	testlong.Alone(t)
	for seed := range uint64(200) {
		in := randproblem.Draw(seed, randproblem.Config{})
		all := advice.Constraints(in)
		for i := 1; i < len(all); i++ {
			require.Negative(t, all[i-1].Compare(all[i]), "seed %d: %s and %s", seed, all[i-1], all[i])
		}
		require.Equal(t, texts(all), texts(advice.Constraints(shuffled(in, seed))), "seed %d", seed)
	}
}

func unplacedOf(p *provisioning.Plan) map[string]bool {
	out := map[string]bool{}
	for _, u := range p.Unplaced {
		out[u.Pod.Namespace+"/"+u.Pod.Name] = true
	}
	return out
}

// requestsIn returns the requests among constraints, sorted.
func requestsIn(list []advice.Constraint) (names []string) {
	for _, c := range list {
		if c.Kind == advice.KindRequest {
			names = append(names, c.String())
		}
	}
	slices.Sort(names)
	return names
}

// requestsAnswered are those that a report says anything of.
func requestsAnswered(r *advice.Report) []string {
	all := slices.Concat(r.Needed, r.NotAsked)
	for _, p := range r.Requests {
		all = append(all, p.Constraints...)
	}
	return requestsIn(all)
}

// TestLawPricesAreBills: what a price says is what Solve finds for the input without the
// constraint, and no pod loses its place.
func TestLawPricesAreBills(t *testing.T) {
	t.Parallel()
	priced, pairs := 0, 0
	for seed := range uint64(seeds(5, 60, 200)) {
		in, opts := randproblem.Draw(seed, randproblem.Config{Without: randproblem.Defaults}), randproblem.DrawOptions(seed, randproblem.Config{})
		in.Nominated = nil
		before, err := provisioning.Solve(t.Context(), in, opts)
		require.NoError(t, err)
		r, err := advice.Ask(t.Context(), in, &advice.Options{Provisioning: opts, Questions: 5})
		require.NoError(t, err)
		require.InDelta(t, before.Cost, r.Cost, 1e-9, "seed %d", seed)
		check := func(p advice.Price) {
			priced++
			without := in
			for _, c := range p.Constraints {
				without = c.Without(without)
			}
			after, err := provisioning.Solve(t.Context(), without, opts)
			require.NoError(t, err)
			require.InDelta(t, before.Cost-after.Cost, p.Saves, 1e-9, "seed %d: %s", seed, p)
			require.LessOrEqual(t, p.AtLeast, p.Saves+1e-9, "seed %d: %s", seed, p)
			require.GreaterOrEqual(t, p.AtMost, p.Saves-1e-9, "seed %d: %s", seed, p)
			had, has := unplacedOf(before), unplacedOf(after)
			for name := range has {
				require.Contains(t, had, name, "seed %d: %s", seed, p)
			}
			require.Len(t, p.Placed, len(had)-len(has), "seed %d: %s", seed, p)
		}
		for _, p := range r.Prices {
			check(p)
		}
		for _, p := range r.Requests {
			check(p)
		}
		require.Equal(t, requestsIn(advice.Constraints(in)), requestsAnswered(r), "seed %d: each request has an answer or is named", seed)
		for _, p := range r.Pairs {
			pairs++
			check(p)
		}
	}
	t.Logf("%d prices, of them %d of pairs", priced, pairs)
	require.Greater(t, priced, seeds(30, 60, 60))
}
