package advice

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// guess is what is known of a constraint before it is asked about, and what it costs.
type guess struct {
	promise
	quick float64 // what a quick answer saves
	dual  float64 // by how much the linear relaxation is cheaper without it
	truth float64
}

// orders are ways to choose what to ask about. The relaxation solved anew is the most that
// duals can tell: those of the base alone know no more.
var orders = []struct {
	name string
	of   func(guess) float64
}{
	{"share of the bill", func(g guess) float64 { return g.share }},
	{"linear relaxation", func(g guess) float64 { return min(g.dual, g.share) }},
	{"quick answers", func(g guess) float64 { return min(g.quick, g.share) }},
	{"sum of both", func(g guess) float64 { return min(g.quick+g.dual, g.share) }},
	{"larger of both", func(g guess) float64 { return min(max(g.quick, g.dual), g.share) }},
}

// TestOrderOfQuestions: quick answers find more of the ten dearest constraints than duals do.
// docs/design.md has what it logs with all seeds.
func TestOrderOfQuestions(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	most := 5
	if testlong.All() {
		most = 60
	}
	found, wanted := map[string]int{}, map[int]int{}
	clusters, costing := 0, 0
	for seed := uint64(0); clusters < most; seed++ {
		all := guesses(t, town(seed))
		slices.SortFunc(all, func(a, b guess) int { return cmp.Or(cmp.Compare(b.truth, a.truth), a.Compare(b.Constraint)) })
		costs := all
		for len(costs) > 0 && costs[len(costs)-1].truth <= 1e-6 {
			costs = costs[:len(costs)-1]
		}
		if len(costs) < 3 {
			continue
		}
		clusters, costing = clusters+1, costing+len(costs)
		for _, q := range []int{2, 5, 10} {
			dearest := costs[:min(q, len(costs))]
			wanted[q] += len(dearest)
			for _, o := range orders {
				asked := slices.Clone(all)
				slices.SortFunc(asked, func(a, b guess) int { return cmp.Or(cmp.Compare(o.of(b), o.of(a)), a.Compare(b.Constraint)) })
				for _, g := range dearest {
					if slices.ContainsFunc(asked[:min(q, len(asked))], func(x guess) bool { return x.Compare(g.Constraint) == 0 }) {
						found[fmt.Sprint(q, o.name)]++
					}
				}
			}
		}
	}
	t.Logf("%d clusters, %d constraints that cost something", clusters, costing)
	for _, o := range orders {
		t.Logf("%-18s %d of %d, %d of %d, %d of %d", o.name, found["2"+o.name], wanted[2], found["5"+o.name], wanted[5], found["10"+o.name], wanted[10])
	}
	sum := func(name string) int { return found["2"+name] + found["5"+name] + found["10"+name] }
	require.Greater(t, sum("quick answers"), sum("linear relaxation"))
	require.Greater(t, sum("linear relaxation"), sum("share of the bill"))
}

// guesses are those about constraints that find no pod a place and cost none its own.
func guesses(t *testing.T, in provisioning.Input) (out []guess) {
	a, err := newAsker(t.Context(), in, nil)
	require.NoError(t, err)
	gap := a.thorough.plan.Cost - a.thorough.plan.LowerBound
	for _, p := range a.singles {
		quick, truth := a.quick.price(t.Context(), in, []Constraint{p.Constraint}), a.thorough.price(t.Context(), in, []Constraint{p.Constraint})
		require.NoError(t, cmp.Or(quick.err, truth.err))
		if !quick.lost && !truth.lost && len(quick.Placed)+len(truth.Placed) == 0 {
			out = append(out, guess{promise: p, quick: quick.Saves, dual: truth.AtMost - gap, truth: truth.Saves})
		}
	}
	return out
}

// town returns a cluster of three pools and a dozen workloads.
func town(seed uint64) provisioning.Input {
	r := rand.New(rand.NewPCG(seed, 7))
	chance := func(percent int) bool { return r.IntN(100) < percent }
	types, err := catalog.New(&catalog.Options{Zones: []catalog.Zone{{Name: "us-east-1a"}, {Name: "us-east-1b"}, {Name: "us-east-1c"}},
		Families: []string{"m6i", "m7g", "r6i", "c6i", "c7g", "m5"}, Where: requirements.MustParse("karpenter.k8s.aws/instance-cpu < 33")})
	if err != nil {
		panic(err)
	}
	in := provisioning.Input{Vocabulary: fake.Vocabulary(), InstanceTypes: map[string][]*cloudprovider.InstanceType{}}
	for _, name := range []string{"general", "memory", "spot"} {
		pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
		pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
		ask := func(percent int, key string, values ...string) {
			if chance(percent) {
				pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements,
					v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values})
			}
		}
		if name == "spot" {
			ask(100, v1.CapacityTypeLabelKey, v1.CapacityTypeSpot)
		} else {
			ask(100, v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand)
		}
		ask(70, corev1.LabelArchStable, v1.ArchitectureAmd64)
		ask(40, corev1.LabelTopologyZone, "us-east-1a", "us-east-1b")
		if name == "memory" {
			ask(100, awsv1.LabelInstanceFamily, "r6i")
		}
		ask(30, awsv1.LabelInstanceSize, "large", "xlarge")
		if name == "spot" || chance(30) {
			pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: name, Effect: corev1.TaintEffectNoSchedule}}
		}
		if weight := int32(r.IntN(3) * 10); weight > 0 {
			pool.Spec.Weight = &weight
		}
		pool.Default()
		in.NodePools, in.InstanceTypes[name] = append(in.NodePools, pool), types
	}
	for i := range 9 + r.IntN(5) {
		in.Pods = append(in.Pods, household(fmt.Sprintf("app%d", i), 1+r.IntN(6), r)...)
	}
	return in
}

// household returns the pods of a Deployment with constraints that chance decides.
func household(name string, size int, r *rand.Rand) (out []*corev1.Pod) {
	chance := func(percent int) bool { return r.IntN(100) < percent }
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	spec := corev1.PodSpec{NodeSelector: map[string]string{}}
	spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: resources.MustParse(fmt.Sprintf("cpu=%dm, memory=%dMi", 100*(1+r.IntN(25)), 256*(1+r.IntN(40)))).ResourceList()}}}
	spread := func(percent int, key string, when corev1.UnsatisfiableConstraintAction) {
		if chance(percent) {
			spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints,
				corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: 1, WhenUnsatisfiable: when, LabelSelector: selector})
		}
	}
	spread(30, corev1.LabelTopologyZone, corev1.DoNotSchedule)
	spread(25, corev1.LabelHostname, corev1.ScheduleAnyway)
	if chance(25) {
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: selector}}}}
	}
	if chance(15) {
		spec.NodeSelector[corev1.LabelTopologyZone] = "us-east-1a"
	}
	if chance(25) {
		spec.NodeSelector[corev1.LabelArchStable] = v1.ArchitectureAmd64
	}
	if chance(30) {
		spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	} else if chance(15) {
		spec.NodeSelector[v1.NodePoolLabelKey] = "general"
	}
	controller := true
	for k := range size {
		out = append(out, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: fmt.Sprintf("%s-6f7d-%d", name, k),
			Labels:          map[string]string{"app": name, "pod-template-hash": "6f7d"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-6f7d", UID: "1", Controller: &controller}}}, Spec: spec})
	}
	return out
}
