package verify

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodestate"
)

// nodeInfo is an existing node as it will be once it is ready, with the pods there that take room.
type nodeInfo struct {
	*nodestate.State
	bound []*podInfo
}

// addNodes reads the nodes of the input.
func (r *referee) addNodes() {
	reader := nodestate.Reader{Vocabulary: r.vocabulary, InstanceTypes: r.in.InstanceTypes}
	for _, in := range r.in.Nodes {
		state := reader.Read(in)
		if state == nil {
			continue
		}
		n := &nodeInfo{State: state}
		for _, pod := range in.Pods {
			if pod != nil && !podlife.Finished(pod) && (!n.Deleting || r.pods[keyOf(pod)] == nil) {
				// A pod that is to be placed anew does not count on a node that is being deleted.
				n.bound = append(n.bound, r.newPod(pod))
			}
		}
		r.nodes = append(r.nodes, n)
		r.nodesNamed[n.Name] = n
	}
}

// missingDaemons returns the requests of the DaemonSets of a node in excess of those of their pods
// there.
func (r *referee) missingDaemons(n *nodeInfo) resources.List {
	var sum resources.List
	for _, d := range r.daemonsOn(n) {
		if d.requestsErr != nil {
			continue
		}
		missing := d.requests
		for _, p := range n.bound {
			if !podlife.SameDaemonSet(d.Pod, p.Pod) {
				continue
			}
			if less, err := missing.Sub(p.requests); err == nil {
				missing = less.Max(resources.List{})
			}
		}
		if next, err := sum.Add(missing); err == nil {
			sum = next
		}
	}
	return sum
}

// daemonsOn returns the DaemonSets that run on the node, or will once it is ready.
func (r *referee) daemonsOn(n *nodeInfo) (daemons []*podInfo) {
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
		if _, refused := d.tolerations.Refused(n.Taints); !refused {
			daemons = append(daemons, d)
		}
	}
	return daemons
}

// comingDaemons returns the DaemonSets of a node that have no pod there yet.
func (r *referee) comingDaemons(n *nodeInfo) (daemons []*podInfo) {
	if n.Deleting {
		return nil
	}
	for _, d := range r.daemonsOn(n) {
		if !slices.ContainsFunc(n.bound, func(p *podInfo) bool { return podlife.SameDaemonSet(d.Pod, p.Pod) }) {
			daemons = append(daemons, d)
		}
	}
	return daemons
}

// checkBindings checks the pods that the plan binds to existing nodes.
func (r *referee) checkBindings() {
	for _, b := range r.plan.Bind {
		n := r.nodesNamed[b.Node]
		if n == nil {
			r.report(RuleNode, b.Node, "", "it is not in the input")
			continue
		}
		if n.Deleting {
			r.report(RuleNode, b.Node, "", "it is being deleted and takes no pods")
		}
		pods := r.knownPods(b.Pods)
		for _, p := range pods {
			r.judgeBinding(n, p)
		}
		r.judgeRoom(n, pods)
	}
}

func (r *referee) judgeBinding(n *nodeInfo, p *podInfo) {
	if taint, refused := p.tolerations.Refused(n.Taints); refused {
		r.report(RuleTaints, n.Name, p.key.String(), "it does not tolerate %s", taint.ToString())
	}
	if feature := nodefit.Undeclared(p.Pod, n.Declared, r.kubernetes); feature != "" {
		r.report(RuleFeatures, n.Name, p.key.String(), "it needs the feature %s, which the node does not declare", feature)
	}
	if !p.selection.Accepts(n.Node) {
		r.report(RuleRequirements, n.Name, p.key.String(), "its node selection refuses the node, which has %s", p.selection.Mentions.Text(n.Node))
	}
}

func (r *referee) judgeRoom(n *nodeInfo, pods []*podInfo) {
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
	held, ok := r.sumRequests(n.Name, n.bound)
	if !ok {
		return
	}
	daemons := r.missingDaemons(n)
	taken, err := held.Add(daemons)
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
			resources.Format(name, more), name, resources.Format(name, daemons.Get(name)),
			resources.Format(name, held.Get(name)), resources.Format(name, n.Allocatable.Get(name)))
	}
}

// typeOf returns the instance type of a node by its label, nil if the catalog of its pool lacks it.
func (r *referee) typeOf(n *nodeInfo) *cloudprovider.InstanceType {
	for _, t := range r.in.InstanceTypes[n.Pool] {
		if t != nil && t.Name == n.Node.Labels[corev1.LabelInstanceTypeStable] {
			return t
		}
	}
	return nil
}
