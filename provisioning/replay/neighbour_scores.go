package replay

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	operators "k8s.io/apimachinery/pkg/selection"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// softSpread is a topology spread constraint that is merely asked for.
type softSpread struct {
	key       string
	skew      int32
	filter    podFilter
	everyNode bool // nodes that the pod's node selection refuses count too
}

// softSpreads are those of a pod, or else those of the cluster. The second result says
// that only nodes with all the keys are scored.
func (s *scheduler) softSpreads(pod *corev1.Pod) (soft []softSpread, allKeys bool) {
	if own := pod.Spec.TopologySpreadConstraints; len(own) > 0 {
		for i := range own {
			if filter, ok := spreadFilter(pod, &own[i]); ok && own[i].WhenUnsatisfiable == corev1.ScheduleAnyway {
				policy := own[i].NodeAffinityPolicy
				everyNode := policy != nil && *policy != corev1.NodeInclusionPolicyHonor
				soft = append(soft, softSpread{own[i].TopologyKey, own[i].MaxSkew, filter, everyNode})
			}
		}
		return soft, true
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || owner.UID == "" || !slices.Contains([]string{"ReplicaSet", "StatefulSet", "ReplicationController"}, owner.Kind) {
		return nil, false
	}
	filter := podFilter{namespaces: []string{pod.Namespace}, owner: owner.UID}
	if e := s.run.opts.Engine; e != nil && len(e.DefaultSpread) > 0 {
		for _, c := range e.DefaultSpread {
			if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
				soft = append(soft, softSpread{c.TopologyKey, c.MaxSkew, filter, false})
			}
		}
		return soft, true
	}
	return []softSpread{
		{corev1.LabelHostname, 3, filter, false},
		{corev1.LabelTopologyZone, 5, filter, false},
	}, false
}

// spreadFilter selects the pods that a constraint of a pod counts.
func spreadFilter(pod *corev1.Pod, c *corev1.TopologySpreadConstraint) (podFilter, bool) {
	selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
	if err != nil {
		return podFilter{}, false
	}
	if _, selectable := selector.Requirements(); selectable {
		for _, key := range c.MatchLabelKeys {
			value, has := pod.Labels[key]
			if !has {
				continue
			}
			if same, err := labels.NewRequirement(key, operators.In, []string{value}); err == nil {
				selector = selector.Add(*same)
			}
		}
	}
	return podFilter{namespaces: []string{pod.Namespace}, selector: selector}, true
}

// spread likes nodes in whose domains there are few pods of the kind. Domains of
// which there are many weigh more, by the logarithm of their number.
func (s *scheduler) spread(pod *corev1.Pod, feasible []int) []int64 {
	soft, allKeys := s.softSpreads(pod)
	if len(soft) == 0 {
		return nil
	}
	ignored := func(i int) bool {
		return allKeys && slices.ContainsFunc(soft, func(c softSpread) bool {
			_, has := s.nodes[i].node.Labels[c.key]
			return !has
		})
	}
	scored := slices.DeleteFunc(slices.Clone(feasible), ignored)
	raw := make([]float64, len(feasible))
	selection := nodeaffinity.GetRequiredNodeAffinity(pod)
	for _, c := range soft {
		domains, byNode := map[string]int64{}, s.counts.of(c.filter)
		for _, i := range scored {
			domains[s.domain(i, c.key)] = 0
		}
		for i := range s.nodes {
			value := s.domain(i, c.key)
			if _, wanted := domains[value]; !wanted || ignored(i) {
				continue
			}
			if ok, err := selection.Match(s.nodes[i].node); c.everyNode || ok && err == nil {
				domains[value] += byNode[i]
			}
		}
		size := len(domains)
		if c.key == corev1.LabelHostname {
			size = len(scored)
		}
		weight := math.Log(float64(size + 2))
		for k, i := range feasible {
			count := domains[s.domain(i, c.key)]
			if c.key == corev1.LabelHostname {
				count = byNode[i]
			}
			if _, has := s.nodes[i].node.Labels[c.key]; has {
				raw[k] += float64(count)*weight + float64(c.skew-1)
			}
		}
	}
	return invert(raw, func(k int) bool { return ignored(feasible[k]) })
}

// invert gives most where the raw score is least; nodes that are ignored get nothing.
func invert(raw []float64, ignored func(int) bool) []int64 {
	out := make([]int64, len(raw))
	least, most := int64(math.MaxInt64), int64(0)
	for k := range raw {
		if out[k] = int64(math.Round(raw[k])); !ignored(k) {
			least, most = min(least, out[k]), max(most, out[k])
		}
	}
	for k := range out {
		switch {
		case ignored(k):
			out[k] = 0
		case most == 0:
			out[k] = maxScore
		default:
			out[k] = maxScore * (most + least - out[k]) / most
		}
	}
	return out
}

// domain is the value of a label of a node; "" if it has none.
func (s *scheduler) domain(i int, key string) string { return s.nodes[i].node.Labels[key] }

// podAffinity likes nodes in whose domains there are pods that the pod prefers, or that
// prefer it, and dislikes those of which the contrary holds.
func (s *scheduler) podAffinity(pod *corev1.Pod, feasible []int) []int64 {
	worth := map[string]map[string]int64{} // by topology key and value
	count := func(key string, byNode []int64, weight int64) {
		if worth[key] == nil {
			worth[key] = map[string]int64{}
		}
		for i, number := range byNode {
			if value, has := s.nodes[i].node.Labels[key]; has {
				worth[key][value] += number * weight
			}
		}
	}
	for _, p := range preferredTerms(pod.Spec.Affinity) {
		if filter, ok := s.counts.filterOf(pod, p.term); ok {
			count(p.term.TopologyKey, s.counts.of(filter), p.weight)
		}
	}
	for _, held := range s.counts.terms {
		if held.filter.selects(pod) {
			count(held.key, held.byNode, held.weight)
		}
	}
	if len(worth) == 0 {
		return nil
	}
	raw := make([]int64, len(feasible))
	for k, i := range feasible {
		for key, values := range worth {
			if value, has := s.nodes[i].node.Labels[key]; has {
				raw[k] += values[value]
			}
		}
	}
	least, most := slices.Min(raw), slices.Max(raw)
	for k := range raw {
		share := 0.0
		if most > least {
			share = float64(raw[k]-least) / float64(most-least)
		}
		raw[k] = int64(maxScore * share)
	}
	return raw
}
