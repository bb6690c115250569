package drain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// Plan returns which pods to evict and delete now. It has no state: call it again when a pod,
// budget or attachment changes, and at Next.
//
// A node whose machine is Gone is Done, and its plan names no pod. On any other, in order:
//
//  1. Pods are ignored that mirror static pods, tolerate the disrupted taint, have ended, or should
//     have been gone for more than StuckAfter; and in mode Leave all pods after the deadline.
//  2. In mode Force a pod is deleted if its grace no longer fits before the deadline, or if it is
//     terminating and would end after it. Groups, budgets and annotations are ignored then, and no
//     group waits for it.
//  3. Of the rest the earliest group is evicted, and later ones according to GroupTimeout. Pods are
//     not evicted that their annotation protects, that several budgets select, or whose budget is
//     used up. Budgets are counted over all nodes, in the order of Evict, first for the node with
//     the earliest deadline. Pods that are Pending do not count against a budget, nor unready pods
//     that the budget allows to evict.
//  4. When no pod is left to wait for and Minimum has passed, the drain waits for volumes to be
//     detached, except those of pods that stay, and not beyond the deadline.
//
// The error joins all faults of the input: nodes or pods without a name or
// listed twice, and negative durations.
func Plan(now time.Time, in Input, opts *Options) (Result, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := validate(&in, opts); err != nil {
		return Result{}, err
	}
	d := &planner{now: now, opts: opts}
	d.compile(in.Budgets)
	nodes := make([]*Node, len(in.Nodes))
	for i := range in.Nodes {
		nodes[i] = &in.Nodes[i]
	}
	slices.SortFunc(nodes, func(a, b *Node) int {
		return cmp.Or(order.Instants(a.Deadline, b.Deadline), cmp.Compare(a.Name, b.Name))
	})
	for _, n := range nodes {
		d.node(n)
	}
	slices.SortFunc(d.plan.Nodes, func(a, b NodePlan) int { return cmp.Compare(a.Node, b.Node) })
	return d.plan, nil
}

func validate(in *Input, opts *Options) error {
	var errs []error
	if opts.GroupTimeout < 0 {
		errs = append(errs, fmt.Errorf("options.groupTimeout: %s must not be negative; zero waits", opts.GroupTimeout))
	}
	switch opts.Mode {
	case "", Force, Leave:
	default:
		errs = append(errs, fmt.Errorf("options.mode: %q is not known; use %s or %s", opts.Mode, Force, Leave))
	}
	nodes, pods := map[string]bool{}, map[string]bool{}
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if n.Name == "" || nodes[n.Name] {
			errs = append(errs, fmt.Errorf("nodes[%d].name: %q is empty or listed twice; name each node once", i, n.Name))
		}
		nodes[n.Name] = true
		for j := range n.Pods {
			p := &n.Pods[j]
			key := p.Namespace + "/" + p.Name
			if p.Namespace == "" || p.Name == "" || pods[key] {
				errs = append(errs, fmt.Errorf("nodes[%d].pods[%d]: %q has no namespace or name, or is listed twice; list each pod once", i, j, key))
			}
			if p.Grace < 0 {
				errs = append(errs, fmt.Errorf("nodes[%d].pods[%d].grace: %s of %q must not be negative", i, j, p.Grace, key))
			}
			pods[key] = true
		}
	}
	budgets := map[string]bool{}
	for i, b := range in.Budgets {
		if b == nil || b.Namespace == "" || b.Name == "" || budgets[key(b)] {
			errs = append(errs, fmt.Errorf("budgets[%d]: it is nil, has no namespace or name, or is listed twice; list each budget once", i))
			continue
		}
		budgets[key(b)] = true
	}
	return errors.Join(errs...)
}

// planner makes a plan.
type planner struct {
	now     time.Time
	opts    *Options
	budgets map[string][]*allowance // by namespace
	plan    Result
}

// waitingPod is a pod that the drain waits for.
type waitingPod struct {
	*Pod
	step PodPlan
}

// at notes an instant at which the plan can change.
func (d *planner) at(t time.Time) {
	if t.After(d.now) {
		d.plan.Next = order.Sooner(d.plan.Next, t)
	}
}

// node plans one node.
func (d *planner) node(n *Node) {
	plan := NodePlan{Node: n.Name, Reason: n.Reason, State: Evicting}
	if n.Gone {
		plan.State = Done
		d.plan.Nodes = append(d.plan.Nodes, plan)
		return
	}
	stay := map[string]bool{} // volumes of pods that stay
	var waiting []*waitingPod
	for i := range n.Pods {
		p := &waitingPod{Pod: &n.Pods[i]}
		p.step = PodPlan{Namespace: p.Namespace, Name: p.Name, UID: p.UID, Group: p.group()}
		if p.step.Code = d.ignored(p.Pod, n.Deadline); p.step.Code == "" {
			waiting = append(waiting, p)
			continue
		}
		plan.Ignored = append(plan.Ignored, p.step)
		if p.step.Code != Ended {
			for _, v := range p.Volumes {
				stay[v] = true
			}
		}
	}
	slices.SortFunc(plan.Ignored, func(a, b PodPlan) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(waiting, compareWaiting)
	begun := n.Since
	if begun.IsZero() || begun.After(d.now) {
		begun = d.now
	}
	waiting = d.force(&plan, n, waiting)
	d.evict(&plan, begun, waiting)
	switch {
	case len(plan.Evict)+len(plan.Delete)+len(plan.Blocked) > 0:
	case d.now.Before(begun.Add(Minimum)):
		d.at(begun.Add(Minimum))
	default:
		d.detach(&plan, n, stay)
	}
	d.plan.Nodes = append(d.plan.Nodes, plan)
}

// compareWaiting orders pods by the order of eviction.
func compareWaiting(a, b *waitingPod) int {
	return cmp.Or(cmp.Compare(a.step.Group, b.step.Group), cmp.Compare(a.Priority, b.Priority),
		order.Bools(a.Ready == corev1.ConditionTrue, b.Ready == corev1.ConditionTrue),
		cmp.Compare(b.Grace, a.Grace), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// ignored returns why the drain does not wait for a pod; "" if it does.
func (d *planner) ignored(p *Pod, deadline time.Time) Code {
	switch {
	case p.Mirror:
		return MirrorPod
	case p.ToleratesDisruption:
		return Tolerates
	case p.Phase == corev1.PodSucceeded || p.Phase == corev1.PodFailed:
		return Ended
	case !p.DeletionTime.IsZero() && d.now.After(p.DeletionTime.Add(StuckAfter)):
		return Stuck
	case d.opts.Mode == Leave && !deadline.IsZero() && !d.now.Before(deadline):
		return Left
	}
	if !p.DeletionTime.IsZero() {
		d.at(p.DeletionTime.Add(StuckAfter + 1)) // from then on it is stuck
	}
	return ""
}

// force plans the deletion of pods that must be deleted now, and returns the others.
func (d *planner) force(plan *NodePlan, n *Node, waiting []*waitingPod) []*waitingPod {
	if n.Deadline.IsZero() {
		return waiting
	}
	d.at(n.Deadline)
	if d.opts.Mode == Leave {
		return waiting
	}
	return slices.DeleteFunc(waiting, func(p *waitingPod) bool {
		p.step.ForceAt = n.Deadline.Add(-p.Grace)
		if p.DeletionTime.IsZero() && d.now.Before(p.step.ForceAt) {
			d.at(p.step.ForceAt)
			return false
		}
		left := max(n.Deadline.Sub(d.now).Truncate(time.Second), time.Second)
		// A terminating pod is deleted again only if that makes it end earlier; otherwise the same
		// request would be repeated forever.
		if !p.DeletionTime.IsZero() && (!p.DeletionTime.After(n.Deadline) || !d.now.Add(left).Before(p.DeletionTime)) {
			return false
		}
		if !p.DeletionTime.IsZero() {
			d.at(p.DeletionTime.Add(-time.Second)) // later a deletion has no effect
		}
		p.step.Grace = left
		plan.Delete = append(plan.Delete, p.step)
		return true
	})
}

// evict plans the pods that are not forced.
func (d *planner) evict(plan *NodePlan, begun time.Time, waiting []*waitingPod) {
	for _, p := range waiting {
		if plan.Group == 0 {
			plan.Group = p.step.Group // the earliest, as they are sorted
		}
		switch {
		case !p.DeletionTime.IsZero():
			p.step.Code, p.step.Until = Terminating, p.DeletionTime
		case !d.open(plan.Group, p.step.Group, begun):
			p.step.Code = GroupWaits
			if d.opts.GroupTimeout > 0 {
				p.step.Until = d.opens(p.step.Group, begun)
			}
		default:
			d.decide(p)
		}
		switch p.step.Code {
		case "":
			plan.Evict = append(plan.Evict, p.step)
			continue
		case granted:
			p.step.Code, p.step.Grace = "", max(p.Grace, time.Second)
			plan.Delete = append(plan.Delete, p.step)
			continue
		}
		d.at(p.step.Until)
		plan.Blocked = append(plan.Blocked, p.step)
	}
}

// open reports whether a group may be evicted while the drain waits for the first.
func (d *planner) open(first, group Group, begun time.Time) bool {
	return group == first || d.opts.GroupTimeout > 0 && !d.now.Before(d.opens(group, begun))
}

// opens returns when GroupTimeout lets a group begin.
func (d *planner) opens(group Group, begun time.Time) time.Time {
	at := begun
	for range group - Workload {
		at = at.Add(d.opts.GroupTimeout)
	}
	return at
}

// decide decides whether a pod of an open group is evicted.
func (d *planner) decide(p *waitingPod) {
	if held, until, _ := podlife.Protected(p.DoNotDisrupt, p.StartTime, d.now); held { // other values protect nothing
		p.step.Code, p.step.Until = DoNotDisrupt, until
		return
	}
	p.step.Code, p.step.Budget = d.spend(p.Pod)
}

// detach plans the volumes of a node without pods.
func (d *planner) detach(plan *NodePlan, n *Node, stay map[string]bool) {
	plan.State = Done
	passed := !n.Deadline.IsZero() && !d.now.Before(n.Deadline)
	for _, a := range n.Attachments {
		switch {
		case a.Volume == "" || stay[a.Volume]:
		case passed:
			plan.Abandoned = append(plan.Abandoned, a.Name)
		default:
			plan.Volumes = append(plan.Volumes, a.Name)
			plan.State = Detaching
		}
	}
	slices.Sort(plan.Volumes)
	slices.Sort(plan.Abandoned)
}
