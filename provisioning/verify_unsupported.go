package provisioning

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// unsupported lists the features of a pod that the engine does not model. Such
// a pod must be left pending, as the engine cannot know where it may run.
func (p *refereePod) unsupported() []string {
	var features []string
	note := func(used bool, feature string) {
		if used {
			features = append(features, feature)
		}
	}
	note(len(p.Spec.TopologySpreadConstraints) > 0, "topology spread constraints")
	if a := p.Spec.Affinity; a != nil {
		if n := a.NodeAffinity; n != nil {
			note(len(n.PreferredDuringSchedulingIgnoredDuringExecution) > 0, "preferred node affinity")
		}
		if pa := a.PodAffinity; pa != nil {
			note(len(pa.RequiredDuringSchedulingIgnoredDuringExecution) > 0, "pod affinity")
			note(len(pa.PreferredDuringSchedulingIgnoredDuringExecution) > 0, "preferred pod affinity")
		}
		if pa := a.PodAntiAffinity; pa != nil {
			note(len(pa.RequiredDuringSchedulingIgnoredDuringExecution) > 0, "pod anti-affinity")
			note(len(pa.PreferredDuringSchedulingIgnoredDuringExecution) > 0, "preferred pod anti-affinity")
		}
	}
	note(p.usesHostPort(), "host ports")
	note(slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil || v.Ephemeral != nil
	}), "persistent or ephemeral volumes")
	note(len(p.Spec.ResourceClaims) > 0, "resource claims")
	note(len(p.Spec.SchedulingGates) > 0, "scheduling gates")
	return features
}

// usesHostPort looks at the containers whose ports kube-scheduler looks at:
// those that keep running.
func (p *refereePod) usesHostPort() bool {
	taken := func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(port corev1.ContainerPort) bool { return port.HostPort > 0 })
	}
	for _, c := range p.Spec.InitContainers {
		sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		if sidecar && taken(c) {
			return true
		}
	}
	return slices.ContainsFunc(p.Spec.Containers, taken)
}

// refereeAntiTerm is one required anti-affinity term of a pod that runs: it
// keeps the pods it selects out of the topology domain that the pod is in.
type refereeAntiTerm struct {
	owner      refereeKey
	namespaces []string // nil means every namespace
	selector   labels.Selector

	key, value string // the topology domain
}

// antiTerms are the terms of all bound pods whose node has the topology key.
// Without it a term has no domain and keeps nobody out.
func (r *referee) antiTerms() []refereeAntiTerm {
	var terms []refereeAntiTerm
	for _, n := range r.nodes {
		for _, p := range n.bound {
			a := p.Spec.Affinity
			if a == nil || a.PodAntiAffinity == nil {
				continue
			}
			for _, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				value, present := n.node.Labels[term.TopologyKey]
				if !present {
					continue
				}
				selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
				if err != nil {
					selector = labels.Everything()
				}
				terms = append(terms, refereeAntiTerm{
					owner: p.key, namespaces: r.termNamespaces(term, p.Namespace), selector: selector,
					key: term.TopologyKey, value: value,
				})
			}
		}
	}
	return terms
}

// termNamespaces are the namespaces of a term. The labels of namespaces are not
// part of the input, so a selector of namespaces is taken to select them all.
func (r *referee) termNamespaces(term corev1.PodAffinityTerm, own string) []string {
	switch {
	case term.NamespaceSelector != nil:
		return nil
	case len(term.Namespaces) == 0:
		return []string{own}
	}
	return term.Namespaces
}

func (t *refereeAntiTerm) selects(p *refereePod) bool {
	if t.namespaces != nil && !slices.Contains(t.namespaces, p.Namespace) {
		return false
	}
	return t.selector.Matches(labels.Set(p.Labels))
}

// checkUnsupported looks for placed pods whose place the engine cannot vouch
// for, and for those that a bound pod keeps out of the node they are bound to.
func (r *referee) checkUnsupported() {
	for i := range r.plan.Create {
		n := &r.plan.Create[i]
		for _, p := range r.knownPods(n.Pods) {
			r.checkFeatures(n.Name, p)
		}
	}
	for _, b := range r.plan.Bind {
		for _, p := range r.knownPods(b.Pods) {
			r.checkFeatures(b.Node, p)
			for _, term := range r.termsFor(p) {
				for _, n := range r.nodesNamed[b.Node] {
					if value, present := n.node.Labels[term.key]; present && value == term.value {
						r.reportAntiTerm(b.Node, p, term)
					}
				}
			}
		}
	}
}

// checkApart looks for pods of a new node that a bound pod keeps out of the
// domain that some option may come up in.
func (r *referee) checkApart(f *refereeFresh, brief *refereeBrief) {
	for _, p := range f.pods {
		for _, term := range r.termsFor(p) {
			reach := r.reachOf(brief, f.Options, r.vocabulary.NormalizeKey(term.key))
			if slices.ContainsFunc(reach, func(have requirements.Requirement) bool { return have.Has(term.value) }) {
				r.reportAntiTerm(f.Name, p, term)
			}
		}
	}
}

// termsFor are the terms that select a pod. Pods of the same namespace with the
// same labels are selected alike.
func (r *referee) termsFor(p *refereePod) []*refereeAntiTerm {
	if len(r.terms) == 0 {
		return nil
	}
	key := p.Namespace + "\n" + fmt.Sprintf("%q", p.Labels) // maps print sorted
	selecting, known := r.selecting[key]
	if !known {
		for i := range r.terms {
			if r.terms[i].selects(p) {
				selecting = append(selecting, &r.terms[i])
			}
		}
		r.selecting[key] = selecting
	}
	return selecting
}

func (r *referee) checkFeatures(node string, p *refereePod) {
	if features := p.unsupported(); len(features) > 0 {
		r.report(RuleUnsupported, node, p.key.String(), "it uses %s, which the engine does not model, so it must stay pending",
			strings.Join(features, ", "))
	}
}

func (r *referee) reportAntiTerm(node string, p *refereePod, term *refereeAntiTerm) {
	r.report(RuleUnsupported, node, p.key.String(), "the anti-affinity of %s, which runs in %s=%s, keeps it out of that domain",
		term.owner, term.key, term.value)
}
