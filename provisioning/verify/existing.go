package verify

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodestate"
)

// addNodes makes a site of each of some nodes.
func (r *referee) addNodes(nodes []provisioning.Node) {
	reader := nodestate.Reader{Vocabulary: r.vocabulary, InstanceTypes: r.in.InstanceTypes}
	for _, in := range nodes {
		n := reader.Read(in)
		if n == nil {
			continue
		}
		s := &site{
			number: len(r.sites), name: n.Name, node: n,
			family: &family{node: n.Node, taints: n.Taints, domains: map[*topology]domains{}},
		}
		for _, pod := range in.Pods {
			if pod != nil && !podlife.Finished(pod) && (!n.Deleting || r.pods[keyOf(pod)] == nil) {
				// A pod that is to be placed anew does not count on a node that is being deleted.
				s.bound = append(s.bound, r.newPod(pod))
			}
		}
		r.addDaemons(s)
		r.sites = append(r.sites, s)
		r.nodesNamed[n.Name] = s
	}
}

// addDaemons finds the DaemonSets that run on an existing node, or will once it is ready, and what
// is missing of their pods. A missing pod is certain to come while the node is starting.
func (r *referee) addDaemons(s *site) {
	n := s.node
	ready := &corev1.Node{}
	ready.Name = n.Node.Name
	ready.Labels = maps.Clone(n.Node.Labels)
	if n.Settling {
		ready.Labels[v1.NodeRegisteredLabelKey] = "true"
		ready.Labels[v1.NodeInitializedLabelKey] = "true"
	}
	for _, d := range r.daemons {
		if !d.selection.Accepts(n.Node) && !d.selection.Accepts(ready) {
			continue
		}
		if _, refused := d.tolerations.Refused(n.Taints); refused {
			continue
		}
		missing, there := d.requests, false
		for _, p := range s.bound {
			if !podlife.SameDaemonSet(d.Pod, p.Pod) {
				continue
			}
			there = true
			if less, err := missing.Sub(p.requests); err == nil {
				missing = less.Max(resources.List{})
			}
		}
		if next, err := s.missing.Add(missing); err == nil && d.requestsErr == nil {
			s.missing = next
		}
		switch {
		case there || n.Deleting:
		case n.Settling:
			s.family.always = append(s.family.always, d)
		default:
			s.family.perhaps = append(s.family.perhaps, d)
		}
	}
}

// checkBindings checks the pods that the plan binds to existing nodes.
func (r *referee) checkBindings() {
	for _, b := range r.plan.Bind {
		s := r.nodesNamed[b.Node]
		if s == nil {
			r.report(RuleNode, b.Node, "", "it is not in the input")
			continue
		}
		if s.node.Deleting {
			r.report(RuleNode, b.Node, "", "it is being deleted and takes no pods")
		}
		pods := r.knownPods(b.Pods)
		for _, p := range pods {
			r.refuses(s.node.Taints, s.node.Declared, p, r.reportOn(s.name))
			if !p.selection.Accepts(s.node.Node) {
				r.report(RuleRequirements, s.name, p.key.String(), "its node selection refuses the node, which has %s",
					p.selection.Mentions.Text(s.node.Node))
			}
		}
		r.judgeRoom(s, pods)
	}
}

// refuses says whether a node with some taints and declared features refuses a pod, and notes why.
func (r *referee) refuses(taints []corev1.Taint, declared []string, p *podInfo, note faultFunc) bool {
	taint, refused := p.tolerations.Refused(taints)
	if refused {
		note(RuleTaints, p, "it does not tolerate %s", taint.ToString())
	}
	feature := nodefit.Undeclared(p.Pod, declared, r.kubernetes)
	if feature != "" {
		note(RuleFeatures, p, "it needs the feature %s, which the node does not declare", feature)
	}
	return refused || feature != ""
}

func (r *referee) judgeRoom(s *site, pods []*podInfo) {
	n := s.node
	if n.AllocatableErr != nil {
		r.report(RuleResources, n.Name, "", "what it can allocate cannot be read: %v", n.AllocatableErr)
		return
	}
	if n.Shut != "" && len(pods) > 0 {
		r.report(RuleResources, n.Name, "", "it has no room: %s", n.Shut)
		return
	}
	asked, ok := r.sumRequests(n.Name, pods)
	if !ok {
		return
	}
	held, ok := r.sumRequests(n.Name, s.bound)
	if !ok {
		return
	}
	taken, err := held.Add(s.missing)
	if err == nil {
		taken, err = taken.Add(asked)
	}
	if err != nil {
		r.report(RuleResources, n.Name, "", "the requests of its pods cannot be added up: %v", err)
		return
	}
	for name, more := range asked.All() {
		// A node may be overcommitted in resources that the new pods do not request.
		if more <= 0 || taken.Get(name) <= n.Allocatable.Get(name) {
			continue
		}
		r.report(RuleResources, n.Name, "", "its new pods ask for %s of %s, DaemonSets for %s and its present pods hold %s, but it can allocate %s",
			resources.Format(name, more), name, resources.Format(name, s.missing.Get(name)),
			resources.Format(name, held.Get(name)), resources.Format(name, n.Allocatable.Get(name)))
	}
}

// typeOf returns the instance type of a node by its label, nil if the catalog of its pool lacks it.
func (r *referee) typeOf(n *nodestate.State) *cloudprovider.InstanceType {
	for _, t := range r.in.InstanceTypes[n.Pool] {
		if t != nil && t.Name == n.Node.Labels[corev1.LabelInstanceTypeStable] {
			return t
		}
	}
	return nil
}
