package provisioning_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// TestLawGivenUpPreferences: the preferences that a plan says it gives up are those that a plain
// count of its nodes finds, and pods without preferences have none.
func TestLawGivenUpPreferences(t *testing.T) {
	t.Parallel()
	seen := map[provisioning.Cause]int{}
	for seed := range lawSeeds(1_500, 300) {
		in, opts := richProblem(seed, randproblem.Config{Without: randproblem.Buffers | randproblem.Defaults | randproblem.Static})
		in.DaemonSetPods = nil
		in.Nodes = slices.DeleteFunc(in.Nodes, func(n provisioning.Node) bool {
			return n.Node == nil || n.NodeClaim != nil || !n.Node.DeletionTimestamp.IsZero()
		})
		for _, pool := range in.NodePools {
			pool.Spec.Replicas = nil // missing nodes of static pools have no labels that a plain count knows
		}
		opts.Preferences = provisioning.Respect
		shun := corev1.Taint{Key: "crowded", Effect: corev1.TaintEffectPreferNoSchedule}
		if len(in.Nodes) > 0 {
			in.Nodes[0].Node.Spec.Taints = append(in.Nodes[0].Node.Spec.Taints, shun)
		}
		if len(in.NodePools) > 1 {
			in.NodePools[0].Spec.Template.Spec.Taints = append(in.NodePools[0].Spec.Template.Spec.Taints, shun)
		}
		plan := solved(t, in, opts)
		said := map[string]bool{}
		for i := range plan.GivenUp {
			g := &plan.GivenUp[i]
			require.NotEmpty(t, g.Cause)
			for _, pod := range g.Pods {
				said[preferenceText(pod, g.Kind, g.Key, g.Weight)] = true
				seen[g.Kind]++
			}
		}
		must, may := plainGivenUp(in, plan)
		for _, text := range slices.Sorted(maps.Keys(must)) {
			require.True(t, said[text], "seed %d: %s is not said to be given up", seed, text)
		}
		for _, text := range slices.Sorted(maps.Keys(said)) {
			require.True(t, may[text], "seed %d: %s is said to be given up, and its node satisfies it", seed, text)
		}
		for _, pod := range in.Pods {
			withoutPreferences(pod)
		}
		for _, pool := range in.NodePools {
			pool.Spec.Template.Spec.Taints = slices.DeleteFunc(pool.Spec.Template.Spec.Taints, isSoft)
		}
		for _, n := range in.Nodes {
			n.Node.Spec.Taints = slices.DeleteFunc(n.Node.Spec.Taints, isSoft)
		}
		require.Nil(t, solved(t, in, opts).GivenUp, "seed %d", seed)
	}
	require.Len(t, seen, 5, "%v", seen)
}

func isSoft(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectPreferNoSchedule }

func withoutPreferences(pod *corev1.Pod) {
	pod.Spec.TopologySpreadConstraints = slices.DeleteFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.ScheduleAnyway
	})
	a := pod.Spec.Affinity
	if a == nil {
		return
	}
	if a.NodeAffinity != nil {
		a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
	}
	if a.PodAffinity != nil {
		a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
	}
	if a.PodAntiAffinity != nil {
		a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
	}
}

func preferenceText(pod *corev1.Pod, kind provisioning.Cause, key string, weight int) string {
	return fmt.Sprintf("%s/%s %s %s %d", pod.Namespace, pod.Name, kind, key, weight)
}

// endNode is a node once the plan is carried out.
type endNode struct {
	name   string
	node   *corev1.Node             // if it exists
	labels []requirements.Set       // of a new one, one for each option
	words  *requirements.Vocabulary // of labels
	taints []corev1.Taint
	ran    []*corev1.Pod
	placed []*corev1.Pod
}

// endNodes lists the nodes of a plan that is carried out.
func endNodes(in provisioning.Input, plan *provisioning.Plan) (out []*endNode) {
	byName := map[string]*endNode{}
	for _, n := range in.Nodes {
		node := &endNode{name: n.Node.Name, node: n.Node, taints: n.Node.Spec.Taints}
		for _, pod := range n.Pods {
			if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
				node.ran = append(node.ran, pod)
			}
		}
		byName[node.name] = node
		out = append(out, node)
	}
	for _, b := range plan.Bind {
		byName[b.Node].placed = b.Pods
	}
	for i := range plan.Create {
		n := &plan.Create[i]
		node := &endNode{name: n.Name, placed: n.Pods, taints: n.Pool.Spec.Template.Spec.Taints, words: in.Vocabulary}
		if node.words == nil {
			node.words = requirements.DefaultVocabulary()
		}
		for _, option := range n.Options {
			set := n.Requirements.Intersect(option.Requirements())
			for key, value := range n.Labels {
				if _, known := option.Requirements().Get(key); !known {
					set = set.With(requirements.In(key, value))
				}
			}
			node.labels = append(node.labels, set)
		}
		out = append(out, node)
	}
	return out
}

// has says whether a node has labels as a term wants them, whatever option it is.
func (n *endNode) has(term *corev1.NodeSelectorTerm) bool {
	if n.node != nil {
		terms, err := nodeaffinity.NewPreferredSchedulingTerms([]corev1.PreferredSchedulingTerm{{Weight: 1, Preference: *term}})
		return err == nil && terms.Score(n.node) > 0
	}
	alternatives, err := requirements.FromNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{*term}}, n.words)
	if err != nil || len(alternatives) != 1 || alternatives[0].NodeNames != nil {
		return false
	}
	for _, labels := range n.labels {
		for want := range alternatives[0].Set.All() {
			have, ok := labels.Get(want.Key())
			if !ok && !want.AllowsAbsent() || ok && !have.Intersect(want).Equal(have) {
				return false
			}
		}
	}
	return true
}

// domain returns the one value that a label of a node has whatever option it is; known is false if
// options differ.
func (n *endNode) domain(key string) (value string, known bool) {
	if key == corev1.LabelHostname {
		return n.name, true
	}
	if n.node != nil {
		return n.node.Labels[key], true
	}
	for i, labels := range n.labels {
		r, ok := labels.Get(n.words.NormalizeKey(key))
		values, finite := r.Values()
		switch {
		case !ok || r.Equal(requirements.DoesNotExist(key)):
			values = []string{""}
		case !finite || len(values) != 1 || r.AllowsAbsent():
			return "", false
		}
		if i > 0 && values[0] != value {
			return "", false
		}
		value = values[0]
	}
	return value, true
}

// plainGivenUp lists the preferences that must be given up, and those that may be, where the
// domain of every node is known.
func plainGivenUp(in provisioning.Input, plan *provisioning.Plan) (must, may map[string]bool) {
	must, may = map[string]bool{}, map[string]bool{}
	nodes := endNodes(in, plan)
	for _, n := range nodes {
		for _, pod := range n.placed {
			for _, taint := range n.taints {
				tolerated := slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
					named := t.Key == taint.Key && (t.Operator == corev1.TolerationOpExists || t.Value == taint.Value)
					return (named || t.Key == "") && (t.Effect == "" || t.Effect == taint.Effect)
				})
				if text := preferenceText(pod, provisioning.CauseTaints, taint.Key, 100); isSoft(taint) && !tolerated {
					must[text], may[text] = true, true
				}
			}
			plainSpreads(nodes, n, pod, must, may)
			a := pod.Spec.Affinity
			if a == nil {
				continue
			}
			if a.NodeAffinity != nil {
				for _, p := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
					if text := preferenceText(pod, provisioning.CauseRequirements, "", int(p.Weight)); !n.has(&p.Preference) {
						must[text], may[text] = true, true
					}
				}
			}
			if a.PodAffinity != nil {
				plainTerms(nodes, n, pod, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, provisioning.CauseAffinity, must, may)
			}
			if a.PodAntiAffinity != nil {
				plainTerms(nodes, n, pod, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, provisioning.CauseAntiAffinity, must, may)
			}
		}
	}
	return must, may
}

func plainTerms(nodes []*endNode, on *endNode, pod *corev1.Pod, terms []corev1.WeightedPodAffinityTerm,
	kind provisioning.Cause, must, may map[string]bool) {
	for i := range terms {
		term := &terms[i].PodAffinityTerm
		text := preferenceText(pod, kind, term.TopologyKey, int(terms[i].Weight))
		counts, sure := plainCounts(nodes, term.TopologyKey, func(other *corev1.Pod) bool {
			selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
			in := slices.Contains(term.Namespaces, other.Namespace) || len(term.Namespaces) == 0 && other.Namespace == pod.Namespace
			return err == nil && other != pod && in && selector.Matches(labels.Set(other.Labels))
		})
		domain, known := on.domain(term.TopologyKey)
		if !sure || !known || term.NamespaceSelector != nil || len(term.MatchLabelKeys)+len(term.MismatchLabelKeys) > 0 {
			may[text] = true
			continue
		}
		alone := domain == "" || counts[domain] == 0
		if alone == (kind == provisioning.CauseAffinity) {
			must[text], may[text] = true, true
		}
	}
}

// plainSpreads holds topology spread constraints against two plain bounds: a pod is not too many
// in a domain with no more than maxSkew, and it is if a pod that is alike is in a domain with so
// many fewer, for pods that select no nodes.
func plainSpreads(nodes []*endNode, on *endNode, pod *corev1.Pod, must, may map[string]bool) {
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable != corev1.ScheduleAnyway {
			continue
		}
		text := preferenceText(pod, provisioning.CauseSpread, c.TopologyKey, 100)
		counts, sure := plainCounts(nodes, c.TopologyKey, func(other *corev1.Pod) bool {
			selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
			return err == nil && other.DeletionTimestamp == nil && other.Namespace == pod.Namespace && selector.Matches(labels.Set(other.Labels))
		})
		domain, known := on.domain(c.TopologyKey)
		if !sure || !known || len(c.MatchLabelKeys) > 0 || domain == "" || counts[domain] > int(c.MaxSkew) {
			may[text] = true
		}
		if !sure || !known || len(c.MatchLabelKeys) > 0 || domain == "" || len(pod.Spec.NodeSelector) > 0 || hardSpread(pod) ||
			c.NodeTaintsPolicy != nil || pod.Spec.Affinity != nil && pod.Spec.Affinity.NodeAffinity != nil || len(pod.Spec.Volumes) > 0 {
			continue
		}
		for _, other := range nodes {
			alike := func(p *corev1.Pod) bool { return p != pod && equality.Semantic.DeepEqual(p.Spec, pod.Spec) }
			if d, known := other.domain(c.TopologyKey); known && d != "" && slices.ContainsFunc(other.placed, alike) && counts[domain]-counts[d] > int(c.MaxSkew) {
				must[text] = true
			}
		}
	}
}

func hardSpread(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.DoNotSchedule
	})
}

// plainCounts counts pods by domain. It is not sure where the domain of a node with such pods is
// open.
func plainCounts(nodes []*endNode, key string, selected func(*corev1.Pod) bool) (counts map[string]int, sure bool) {
	counts, sure = map[string]int{}, true
	for _, n := range nodes {
		domain, known := n.domain(key)
		for _, pod := range slices.Concat(n.ran, n.placed) {
			if selected(pod) {
				counts[domain]++
				sure = sure && known
			}
		}
	}
	return counts, sure
}

// TestPreferencesCostNoMoreThanAllowed: whatever preferences seem to cost on
// paper, a whole plan costs no more for them than Options.PreferenceCost says,
// beside a plan for as many pods that follows none.
func TestPreferencesCostNoMoreThanAllowed(t *testing.T) {
	t.Parallel()
	preferred, followed := 0, 0
	seeds := lawSeeds(1_500, 300)
	late := []uint64{7811, 8357, 19745, 29965} // of 40,000: small plans, far cheaper than what was packed, or beside nodes
	for i := range seeds + uint64(len(late)) {
		seed := i
		if i >= seeds {
			seed = late[i-seeds]
		}
		c := randproblem.Config{}
		if seed%2 == 0 {
			c.Without = randproblem.All &^ (randproblem.Preferences | randproblem.Crowds | randproblem.Spread)
		}
		in, opts := richProblem(seed, c)
		opts.Preferences = provisioning.Respect
		problem := problemOf(t, in, opts)
		without, share, err := problem.SolveWithoutPreferences(context.Background())
		require.NoError(t, err)
		if without == nil {
			continue
		}
		preferred++
		plan := planOf(t, problem)
		if slices.Compare(allLeftOver(without), allLeftOver(plan)) > 0 {
			continue // nobody is left pending to save money, or for one of lower priority
		}
		price := func(p *provisioning.Plan) float64 { return p.Cost + opts.NodeFee*float64(len(p.Create)) }
		require.LessOrEqual(t, price(plan), price(without)*(1+share)*(1+1e-6), "seed %d", seed)
		if price(plan) > price(without)*1.001 {
			followed++
		}
	}
	t.Logf("%d problems with preferences worth their price, %d plans that cost more for them", preferred, followed)
	require.Greater(t, preferred, enough(50))
	if seeds > 1_000 { // one in two hundred
		require.Greater(t, followed, 5)
	}
}

// allLeftOver lists the priorities of all pods that a plan leaves over, highest first.
func allLeftOver(plan *provisioning.Plan) []int32 {
	all := map[*corev1.Pod]bool{}
	for _, u := range plan.Unplaced {
		all[u.Pod] = true
	}
	return leftOver(plan, math.MinInt32, all)
}
