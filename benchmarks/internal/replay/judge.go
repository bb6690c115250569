package replay

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/snapshot"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// Step converts an action into a scenario and a plan: the cluster without the removed nodes, whose
// pods are pending, and a plan with the action's places.
func (c *Cluster) Step(a scenario.Action) (*scenario.Scenario, *scenario.Plan) {
	s := *c.scenario
	s.Nodes, s.Pods = nil, slices.Clone(c.scenario.Pods)
	for _, n := range c.scenario.Nodes {
		if !slices.Contains(a.Nodes, n.Name()) {
			s.Nodes = append(s.Nodes, n)
			continue
		}
		for _, pod := range n.Pods {
			if podlife.Moves(pod) {
				free := *pod
				free.Spec.NodeName = ""
				free.Status = corev1.PodStatus{Phase: corev1.PodPending}
				s.Pods = append(s.Pods, &free)
			}
		}
	}
	p := &scenario.Plan{Scenario: s.Name, NewNodeClaims: slices.Clone(a.Replacements), ExistingNodes: []scenario.ExistingNode{}}
	for i := range p.NewNodeClaims {
		p.NewNodeClaims[i].Pods = nil
	}
	onNode := map[string][]string{}
	for _, pod := range slices.Sorted(maps.Keys(a.Moves)) {
		to := a.Moves[pod]
		if i, ok := scenario.ReplacementIndex(to); ok && i < len(p.NewNodeClaims) {
			p.NewNodeClaims[i].Pods = append(p.NewNodeClaims[i].Pods, pod)
			continue
		}
		onNode[to] = append(onNode[to], pod)
	}
	for _, name := range slices.Sorted(maps.Keys(onNode)) {
		p.ExistingNodes = append(p.ExistingNodes, scenario.ExistingNode{Node: name, Pods: onNode[name]})
	}
	return &s, p
}

// Judge returns the rules of kube-scheduler and of the pools that an action breaks, as verify.Plan
// finds them. A proposal has no order of binding, on which spread constraints depend. Pods that
// break a rule at their turn are therefore tried again after the others, as long as that helps.
func (c *Cluster) Judge(a scenario.Action) ([]verify.Violation, error) {
	s, p := c.Step(a)
	in, err := snapshot.Input(s)
	if err != nil {
		return nil, err
	}
	plan, err := c.plan(in, p)
	if err != nil {
		return nil, err
	}
	return judged(in, plan, snapshot.Options(s)), nil
}

// JudgePlan judges a plan for the scenario. valid is the number of pods that are left when all pods
// that break a rule have been removed. broken has the first violations found. overlooked has the
// pending pods for which a place exists. Pods are bound in the plan's order if it has one, else as
// Judge binds them. New nodes beyond the limits of a pool do not count: each counts as its cheapest
// option, and the last ones are dropped.
func (c *Cluster) JudgePlan(p *scenario.Plan) (valid int, broken, overlooked []verify.Violation, err error) {
	in, err := snapshot.Input(c.scenario)
	if err != nil {
		return 0, nil, nil, err
	}
	opts := snapshot.Options(c.scenario)
	plan, err := c.plan(in, p)
	if err != nil {
		return 0, nil, nil, err
	}
	turn := map[string]int{}
	for i, key := range p.PlacementOrder {
		turn[key] = i
	}
	slices.SortStableFunc(plan.Order, func(a, b *corev1.Pod) int {
		return cmp.Compare(turn[scenario.PodKey(a)], turn[scenario.PodKey(b)])
	})
	for i := range plan.Unplaced {
		plan.Unplaced[i].Explanation = nil // a scenario's plan has no reasons, and no reason may excuse a pod
	}
	overlooked = verify.Unplaced(in, plan, opts)
	broken = withinLimits(in, plan, opts)
	for {
		found := slices.DeleteFunc(judged(in, plan, opts), func(v verify.Violation) bool {
			return v.Rule == verify.RuleReason || v.Rule == verify.RuleLimits
		})
		if broken == nil {
			broken = found
		}
		out := map[string]bool{}
		for _, v := range found {
			out[v.Pod] = true
		}
		delete(out, "")
		if len(out) == 0 {
			return len(plan.Order), broken, overlooked, nil
		}
		takeOut(plan, out)
	}
}

// withinLimits removes the last new nodes that exceed limits.
func withinLimits(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) (broken []verify.Violation) {
	for {
		launched := *plan
		launched.Create = slices.Clone(plan.Create)
		for i := range launched.Create {
			launched.Create[i].Options = launched.Create[i].Options[:1]
		}
		last := -1
		for _, v := range verify.Plan(in, &launched, opts) {
			if v.Rule != verify.RuleLimits {
				continue
			}
			for i := range plan.Create {
				if strings.HasPrefix(v.Message, "NodePool "+plan.Create[i].Pool.Name+" ") && i > last {
					last, broken = i, append(broken, v)
				}
			}
		}
		if last < 0 {
			return broken
		}
		out := map[string]bool{}
		for _, pod := range plan.Create[last].Pods {
			out[scenario.PodKey(pod)] = true
		}
		takeOut(plan, out)
		plan.Create = slices.Delete(plan.Create, last, last+1)
	}
}

// takeOut makes the pods with these keys pending.
func takeOut(plan *provisioning.Plan, out map[string]bool) {
	gone := func(pod *corev1.Pod) bool { return out[scenario.PodKey(pod)] }
	for _, pod := range plan.Order {
		if gone(pod) {
			plan.Unplaced = append(plan.Unplaced, provisioning.Unplaced{Pod: pod, Explanation: &provisioning.Explanation{Cause: provisioning.CauseUnsupported}})
		}
	}
	plan.Order = slices.DeleteFunc(plan.Order, gone)
	for i := range plan.Create {
		plan.Create[i].Pods = slices.DeleteFunc(plan.Create[i].Pods, gone)
	}
	for i := range plan.Bind {
		plan.Bind[i].Pods = slices.DeleteFunc(plan.Bind[i].Pods, gone)
	}
}

// judged returns the rules that a plan breaks. Pods that break a rule between pods are moved to the
// end of the order of binding, and judged again, as long as that changes the order.
func judged(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) []verify.Violation {
	var found []verify.Violation
	for range 1 + len(plan.Order) {
		found = slices.DeleteFunc(verify.Plan(in, plan, opts), func(v verify.Violation) bool {
			return v.Rule == verify.RuleOrder || v.Rule == verify.RuleAccounts
		})
		late := map[string]bool{}
		for _, v := range found {
			switch v.Rule {
			case verify.RuleSpread, verify.RuleAffinity, verify.RuleAntiAffinity:
				late[v.Pod] = true
			}
		}
		if len(late) == 0 {
			break
		}
		var first, last []*corev1.Pod
		for _, pod := range plan.Order {
			if late[scenario.PodKey(pod)] {
				last = append(last, pod)
			} else {
				first = append(first, pod)
			}
		}
		if slices.Equal(plan.Order[len(first):], last) {
			break // they were already last
		}
		plan.Order = append(first, last...)
	}
	return found
}

// plan converts a plan into the library's type.
func (c *Cluster) plan(in provisioning.Input, p *scenario.Plan) (*provisioning.Plan, error) {
	pods := map[string]*corev1.Pod{}
	for _, pod := range in.Pods {
		pods[scenario.PodKey(pod)] = pod
	}
	var errs []error
	out := &provisioning.Plan{}
	take := func(keys []string) []*corev1.Pod {
		var list []*corev1.Pod
		for _, key := range keys {
			if pods[key] == nil {
				errs = append(errs, fmt.Errorf("pod %s is moved and is not on a node that is removed", key))
				continue
			}
			list = append(list, pods[key])
			out.Order = append(out.Order, pods[key])
			delete(pods, key)
		}
		return list
	}
	for i := range p.NewNodeClaims {
		n := &p.NewNodeClaims[i]
		options, err := c.Options(n)
		asked, failed := requirements.FromRequirements(n.Requirements, c.Vocabulary)
		if err := errors.Join(err, failed); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", scenario.Replacement(i), err))
			continue
		}
		node := provisioning.NewNode{Name: scenario.Replacement(i), Requirements: asked, Labels: n.Labels, Options: options, Pods: take(n.Pods)}
		for _, pool := range in.NodePools {
			if pool.Name == n.NodePool {
				node.Pool = pool
			}
		}
		for _, pod := range node.Pods {
			if requests, err := resources.PodRequests(pod); err == nil {
				if sum, err := node.Requests.Add(requests); err == nil {
					node.Requests = sum
				}
			}
		}
		out.Create = append(out.Create, node)
	}
	for _, n := range p.ExistingNodes {
		out.Bind = append(out.Bind, provisioning.Binding{Node: n.Node, Pods: take(n.Pods)})
	}
	for _, key := range slices.Sorted(maps.Keys(pods)) {
		if pods[key] != nil && !slices.ContainsFunc(c.scenario.Pods, func(p *corev1.Pod) bool { return scenario.PodKey(p) == key }) {
			errs = append(errs, fmt.Errorf("pod %s needs another place and is given none", key))
			continue
		}
		out.Unplaced = append(out.Unplaced, provisioning.Unplaced{Pod: pods[key], Explanation: &provisioning.Explanation{Cause: provisioning.CauseUnsupported}})
	}
	return out, errors.Join(errs...)
}
