package randproblem

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// drawSpread spreads workloads.
func (p *problem) drawSpread() {
	for _, pods := range p.someWorkloads(38) {
		constraints := p.drawConstraints(pods[0].Labels)
		for _, pod := range pods {
			pod.Spec.TopologySpreadConstraints = nil
			for i := range constraints {
				pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, *constraints[i].DeepCopy())
			}
		}
	}
}

func (p *problem) drawTopologyKey() string {
	return pick(p.source, []string{
		corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelTopologyZone,
		corev1.LabelHostname, corev1.LabelHostname, corev1.LabelHostname, corev1.LabelHostname,
		rackLabel, rackLabel, teamLabel, "karpenter.sh/capacity-type", corev1.LabelInstanceTypeStable, FamilyLabel,
		corev1.LabelFailureDomainBetaZone, "nobody.example.org/knows",
	})
}

// drawConstraints draws one to three constraints, as the API server admits
// them: no two with one key and one consequence.
func (p *problem) drawConstraints(labels map[string]string) []corev1.TopologySpreadConstraint {
	var out []corev1.TopologySpreadConstraint
	type kind struct {
		key  string
		when corev1.UnsatisfiableConstraintAction
	}
	seen := map[kind]bool{}
	for range pick(p.source, []int{1, 1, 1, 2, 2, 3}) {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: pick(p.source, []int32{1, 1, 1, 2, 3}), TopologyKey: p.drawTopologyKey(), WhenUnsatisfiable: corev1.DoNotSchedule,
		}
		if len(out) > 0 && p.chance(30) {
			c.TopologyKey = out[0].TopologyKey
		}
		if p.chance(30) {
			c.WhenUnsatisfiable = corev1.ScheduleAnyway
		} else if p.chance(20) {
			least := int32(p.between(1, 4))
			c.MinDomains = &least
		}
		if seen[kind{c.TopologyKey, c.WhenUnsatisfiable}] {
			continue
		}
		seen[kind{c.TopologyKey, c.WhenUnsatisfiable}] = true
		c.LabelSelector = p.drawPodSelector(labels)
		if _, named := labels[versionLabel]; named && onlyApp(c.LabelSelector) && p.chance(20) {
			c.MatchLabelKeys = []string{versionLabel}
		}
		if p.chance(15) {
			ignore := corev1.NodeInclusionPolicyIgnore
			c.NodeAffinityPolicy = &ignore
		}
		if p.chance(15) {
			honor := corev1.NodeInclusionPolicyHonor
			c.NodeTaintsPolicy = &honor
		}
		out = append(out, c)
	}
	return out
}

// onlyApp says whether a selector looks at the label app and no other.
func onlyApp(s *metav1.LabelSelector) bool {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) != 1 {
		return false
	}
	_, app := s.MatchLabels["app"]
	return app || len(s.MatchExpressions) == 1 && s.MatchExpressions[0].Key == "app"
}

// drawPodSelector selects the pods with given labels, more than those, others,
// all or none.
func (p *problem) drawPodSelector(labels map[string]string) *metav1.LabelSelector {
	expression := func(key string, op metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: op, Values: values}}}
	}
	switch n := p.below(100); {
	case n < 50:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": labels["app"]}}
	case n < 62:
		return (&metav1.LabelSelector{MatchLabels: labels}).DeepCopy()
	case n < 74:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(p.source, apps())}}
	case n < 84:
		return expression("app", metav1.LabelSelectorOpIn, some(p.source, 2, apps())...)
	case n < 89:
		return expression("app", metav1.LabelSelectorOpNotIn, labels["app"])
	case n < 93:
		return expression(versionLabel, metav1.LabelSelectorOpExists)
	case n < 97:
		return &metav1.LabelSelector{}
	}
	return nil
}

// drawPodAffinity ties workloads together and keeps them apart.
func (p *problem) drawPodAffinity() {
	for _, name := range some(p.source, 0, namespaces()) {
		p.in.Namespaces = append(p.in.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelMetadataName: name, "team": pick(p.source, teams()),
		}}})
	}
	for _, pods := range p.someWorkloads(24) {
		together, apart := p.drawTerms(pods[0].Labels)
		for _, pod := range pods {
			require(pod, together, apart)
		}
	}
	for _, pod := range p.bound() {
		if p.chance(12) {
			together, apart := p.drawTerms(pod.Labels)
			require(pod, together, apart)
		}
	}
}

// drawTerms draws one or two terms, anti-affinity more often than affinity.
func (p *problem) drawTerms(labels map[string]string) (together, apart []corev1.PodAffinityTerm) {
	for range pick(p.source, []int{1, 1, 1, 2}) {
		if term := p.drawTerm(labels); p.chance(40) {
			together = append(together, term)
		} else {
			apart = append(apart, term)
		}
	}
	return together, apart
}

func (p *problem) drawTerm(labels map[string]string) corev1.PodAffinityTerm {
	term := corev1.PodAffinityTerm{TopologyKey: p.drawTopologyKey(), LabelSelector: p.drawPodSelector(labels)}
	if term.LabelSelector != nil && len(term.LabelSelector.MatchLabels) == 0 && p.chance(40) {
		// The selectors that have least to do with the pod are too many as it is.
		term.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(p.source, apps())}}
	}
	switch n := p.below(100); {
	case n < 15:
		term.Namespaces = some(p.source, 1, namespaces())
	case n < 25:
		term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": pick(p.source, teams())}}
	case n < 35:
		term.NamespaceSelector = &metav1.LabelSelector{}
	}
	if version, named := labels[versionLabel]; named && onlyApp(term.LabelSelector) && p.chance(15) {
		// As the API server leaves it: the key's value is in the selector, too.
		term.MatchLabelKeys = []string{versionLabel}
		term.LabelSelector.MatchExpressions = append(term.LabelSelector.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: versionLabel, Operator: metav1.LabelSelectorOpIn, Values: []string{version},
		})
	}
	return term
}

// require adds required terms to a pod, each its own copy.
func require(pod *corev1.Pod, together, apart []corev1.PodAffinityTerm) {
	a := affinityOf(pod)
	for i := range together {
		if a.PodAffinity == nil {
			a.PodAffinity = &corev1.PodAffinity{}
		}
		a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(
			a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, *together[i].DeepCopy())
	}
	for i := range apart {
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(
			a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, *apart[i].DeepCopy())
	}
}

func affinityOf(pod *corev1.Pod) *corev1.Affinity {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	return pod.Spec.Affinity
}

// drawPreferences gives workloads wishes of all kinds.
func (p *problem) drawPreferences() {
	for _, pods := range p.someWorkloads(25) {
		weight := func() int32 { return pick(p.source, []int32{1, 1, 10, 50, 100}) }
		var nodes []corev1.PreferredSchedulingTerm
		for range p.below(3) {
			nodes = append(nodes, corev1.PreferredSchedulingTerm{Weight: weight(), Preference: corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{p.drawExpression()},
			}})
		}
		var together, apart []corev1.WeightedPodAffinityTerm
		if p.chance(30) {
			together = append(together, corev1.WeightedPodAffinityTerm{Weight: weight(), PodAffinityTerm: p.drawTerm(pods[0].Labels)})
		}
		if p.chance(50) {
			apart = append(apart, corev1.WeightedPodAffinityTerm{Weight: weight(), PodAffinityTerm: p.drawTerm(pods[0].Labels)})
		}
		for _, pod := range pods {
			prefer(pod, nodes, together, apart)
		}
	}
}

func prefer(pod *corev1.Pod, nodes []corev1.PreferredSchedulingTerm, together, apart []corev1.WeightedPodAffinityTerm) {
	a := affinityOf(pod)
	if len(nodes) > 0 {
		if a.NodeAffinity == nil {
			a.NodeAffinity = &corev1.NodeAffinity{}
		}
		a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = (&corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: nodes,
		}).DeepCopy().PreferredDuringSchedulingIgnoredDuringExecution
	}
	for i := range together {
		if a.PodAffinity == nil {
			a.PodAffinity = &corev1.PodAffinity{}
		}
		a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(
			a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, *together[i].DeepCopy())
	}
	for i := range apart {
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(
			a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, *apart[i].DeepCopy())
	}
}
