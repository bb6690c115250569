package requirements_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// The tests of this file hold the package against the code that kube-scheduler
// itself matches nodes by.

// verbatim returns a vocabulary without aliases, as kube-scheduler knows none.
func verbatim() *requirements.Vocabulary { return new(requirements.Vocabulary) }

func node(name string, labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

func podWith(selector map[string]string, affinity *corev1.NodeAffinity) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       corev1.PodSpec{NodeSelector: selector, Affinity: &corev1.Affinity{NodeAffinity: affinity}},
	}
}

func required(terms ...corev1.NodeSelectorTerm) *corev1.NodeAffinity {
	return &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
	}
}

// malformed are expressions that kube-scheduler refuses.
func malformed() []expression {
	return []expression{
		{corev1.NodeSelectorOpIn, nil},
		{corev1.NodeSelectorOpNotIn, nil},
		{corev1.NodeSelectorOpExists, []string{"a"}},
		{corev1.NodeSelectorOpDoesNotExist, []string{"a"}},
		{corev1.NodeSelectorOpGt, nil},
		{corev1.NodeSelectorOpGt, []string{"5", "6"}},
		{corev1.NodeSelectorOpLt, []string{"five"}},
		{corev1.NodeSelectorOpLt, []string{"9223372036854775808"}},
		{corev1.NodeSelectorOpGt, []string{"-1"}},
		{corev1.NodeSelectorOpIn, []string{"a", "not a label value"}},
		{corev1.NodeSelectorOpNotIn, []string{"-x"}},
		{"Gte", []string{"5"}},
		{"Near", []string{"5"}},
		{"", nil},
	}
}

func TestKubeSchedulerAgreesOnExpressions(t *testing.T) {
	u := newUniverse([]string{"", "a", "6", "07"}, []int64{5, 7})
	expressions := append(u.expressions(), malformed()...)
	refused := 0
	for _, a := range expressions {
		for _, b := range expressions {
			term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: key, Operator: a.op, Values: a.values},
				{Key: key, Operator: b.op, Values: b.values},
			}}
			selector, want := nodeaffinity.NewNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}})
			set, err := requirements.FromNodeSelectorRequirements(term.MatchExpressions, verbatim())
			require.Equal(t, want == nil, err == nil, "%s and %s: kube-scheduler says %v, we say %v", a, b, want, err)
			if err != nil {
				refused++
				continue
			}
			for _, s := range u.states {
				want := selector.Match(node("n", s.labels()))
				require.Equal(t, want, set.Matches(s.labels()), "%s and %s at %v", a, b, s)
				have := requirements.FromLabels(s.labels(), verbatim())
				require.Equal(t, want, have.Compatible(set, requirements.EmptyVocabulary()), "%s and %s at %v", a, b, s)
				require.Equal(t, want, have.Conflicts(set, requirements.EmptyVocabulary()) == nil, "%s and %s at %v", a, b, s)
			}
		}
	}
	require.NotZero(t, refused)
}

// draw makes up parts of pods. All it makes follows from the seed.
type draw struct{ *rand.Rand }

func pick[T any](d draw, from ...T) T { return from[d.IntN(len(from))] }

func (d draw) expression() corev1.NodeSelectorRequirement {
	u := newUniverse([]string{"a", "6"}, []int64{5})
	stock := append(u.expressions(), malformed()...)
	for {
		e := pick(d, stock...)
		// Faults are in the stock in number, but should be rare in terms.
		if _, err := requirements.New(key, e.op, e.values...); err == nil || d.IntN(5) == 0 {
			return corev1.NodeSelectorRequirement{
				Key: pick(d, "example.com/key", "zone", "not a key"), Operator: e.op, Values: e.values,
			}
		}
	}
}

func (d draw) field() corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{
		Key:      "metadata.name",
		Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpExists),
		Values:   pick(d, []string{"n1"}, []string{"n2"}, []string{"n1"}, []string{"n1", "n2"}, nil),
	}
}

func (d draw) term() corev1.NodeSelectorTerm {
	var term corev1.NodeSelectorTerm
	for range d.IntN(3) {
		term.MatchExpressions = append(term.MatchExpressions, d.expression())
	}
	for range max(0, d.IntN(4)-1) {
		term.MatchFields = append(term.MatchFields, d.field())
	}
	return term
}

func (d draw) pod() *corev1.Pod {
	selector := pick(d, nil, nil, map[string]string{"zone": "a"}, map[string]string{"zone": "6", key: "a"})
	var affinity *corev1.NodeAffinity
	if d.IntN(10) > 0 {
		affinity = &corev1.NodeAffinity{}
		if d.IntN(10) > 0 {
			affinity = required()
			for range d.IntN(4) {
				s := affinity.RequiredDuringSchedulingIgnoredDuringExecution
				s.NodeSelectorTerms = append(s.NodeSelectorTerms, d.term())
			}
		}
		for range d.IntN(3) {
			affinity.PreferredDuringSchedulingIgnoredDuringExecution = append(
				affinity.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.PreferredSchedulingTerm{Weight: pick[int32](d, 0, 1, 10, 100), Preference: d.term()})
		}
	}
	return podWith(selector, affinity)
}

func (d draw) node() *corev1.Node {
	labels := map[string]string{}
	for _, k := range []string{key, "zone", "other"} {
		if v := pick(d, "a", "6", "06", "b", "none"); v != "none" {
			labels[k] = v
		}
	}
	return node(pick(d, "n1", "n2", "n3"), labels)
}

func satisfies(n *corev1.Node, a requirements.Alternative) bool {
	return a.Set.Matches(n.Labels) && (a.NodeNames == nil || a.NodeNames.Has(n.Name))
}

func TestKubeSchedulerAgreesOnPods(t *testing.T) {
	d := draw{rand.New(rand.NewPCG(1, 2))}
	matches, misses, faults := 0, 0, 0
	for range testlong.Seeds(600, 5000) {
		pod := d.pod()
		before := pod.DeepCopy()
		got, err := requirements.FromPod(pod, verbatim())
		require.Equal(t, before, pod, "the pod is not changed")
		if err != nil {
			faults++
		}
		affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
		for range 10 {
			n := d.node()
			// kube-scheduler reports a fault in a term only if no term
			// matches; either way it is the verdict that counts.
			want, lazy := affinity.Match(n)
			have := false
			for _, a := range got.Alternatives {
				have = have || satisfies(n, a)
			}
			require.Equal(t, want, have, "pod %v on node %v", pod.Spec, n.ObjectMeta)
			require.True(t, lazy == nil || err != nil, "kube-scheduler found %v", lazy)
			if want {
				matches++
			} else {
				misses++
			}
		}
	}
	// The comparison is worth nothing unless all cases occur.
	require.Greater(t, min(matches, misses, faults), testlong.Seeds(60, 500))
}

func TestKubeSchedulerAgreesOnPreferences(t *testing.T) {
	d := draw{rand.New(rand.NewPCG(3, 4))}
	scored, refused := 0, 0
	for range testlong.Seeds(600, 5000) {
		pod := d.pod()
		if pod.Spec.Affinity.NodeAffinity == nil {
			continue
		}
		pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		terms, want := nodeaffinity.NewPreferredSchedulingTerms(
			pod.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		got, err := requirements.FromPod(pod, verbatim())
		require.Equal(t, want == nil, err == nil, "kube-scheduler says %v, we say %v", want, err)
		if err != nil {
			refused++
			continue
		}
		for range 5 {
			n := d.node()
			score := int64(0)
			for _, p := range got.Preferences {
				if satisfies(n, p.Alternative) {
					score += int64(p.Weight)
				}
			}
			require.Equal(t, terms.Score(n), score, "pod %v on node %v", pod.Spec, n.ObjectMeta)
			if score > 0 {
				scored++
			}
		}
	}
	require.Greater(t, min(scored, refused), testlong.Seeds(60, 500))
}
