package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/internal/spelling"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// ExplainPod describes one pod of a plan in text of at most 80 columns: where the pod goes, when,
// and why it has no other place. name is NAMESPACE/POD or NAMESPACE/WORKLOAD. A workload stands for
// its first pod that stays pending, or else for its first pod to be bound. The error says why the
// plan does not place such a pod.
func ExplainPod(name string, in provisioning.Input, plan *provisioning.Plan, opts *Options) (string, error) {
	name = podOf(name, plan)
	for i := range plan.Create {
		if pod := find(plan.Create[i].Pods, name); pod != nil {
			return explainNew(pod, &plan.Create[i], plan, opts.hints()), nil
		}
	}
	for _, b := range plan.Bind {
		if pod := find(b.Pods, name); pod != nil {
			return explainBound(pod, b, in, plan), nil
		}
	}
	for i := range plan.Static {
		s := &plan.Static[i]
		for _, pods := range s.Pods {
			if pod := find(pods, name); pod != nil {
				return explainMissing(pod, s, pods, plan), nil
			}
		}
	}
	for _, u := range plan.Unplaced {
		if podName(u.Pod) == name {
			return explainPending(u), nil
		}
	}
	return "", unknownPod(name, in)
}

// podOf returns the name of the pod to describe: the pod of the given name, or, if that names a
// workload, its first pod that stays pending, or else its first pod to be bound. A name that is
// neither is returned unchanged.
func podOf(name string, plan *provisioning.Plan) string {
	var pods []*corev1.Pod
	for _, u := range plan.Unplaced {
		pods = append(pods, u.Pod)
	}
	pods = append(pods, plan.Order...)
	if find(pods, name) != nil {
		return name
	}
	for _, pod := range pods {
		if w := workloadOf(pod); w.Path() == name {
			return podName(pod)
		}
	}
	return name
}

func podName(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

func find(pods []*corev1.Pod, name string) *corev1.Pod {
	i := slices.IndexFunc(pods, func(p *corev1.Pod) bool { return podName(p) == name })
	if i < 0 {
		return nil
	}
	return pods[i]
}

// explainNew describes a pod on a new node.
func explainNew(pod *corev1.Pod, n *provisioning.NewNode, plan *provisioning.Plan, hints Hints) string {
	best := n.Options[0]
	lines := layout.Wrap(fmt.Sprintf("%s goes to new node %s of NodePool %s.", subject(pod), n.Name, n.Pool.Name), 0)
	lines = append(lines, "")
	launch := fmt.Sprintf("%s in %s, %s, %s USD/h, the cheapest of %s", best.InstanceType.Name, best.Offering.Zone,
		best.Offering.CapacityType, layout.USD(n.Price(), 4), layout.Count(len(n.Options), "option"))
	if len(n.Options) == 1 {
		launch = strings.Replace(launch, "the cheapest of 1", "the only", 1)
	}
	lines = append(lines, entry("option", launch)...)
	lines = append(lines, entry("order", turn(pod, plan))...)
	lines = append(lines, entry("asks for", requestsOf(pod))...)
	lines = append(lines, entry("beside", neighbours(pod, n.Pods))...)
	lines = append(lines, entry("node wants", cmp.Or(n.Requirements.String(), "nothing"))...)
	lines = append(lines, givenUpFor(pod, plan)...)
	if hints.Why != "" {
		lines = append(lines, "")
		lines = append(lines, layout.Wrap(fmt.Sprintf(hints.Why, n.Name, best.InstanceType.Name), 0)...)
	}
	return page(lines)
}

// explainBound describes a pod on an existing node.
func explainBound(pod *corev1.Pod, b provisioning.Binding, in provisioning.Input, plan *provisioning.Plan) string {
	lines := layout.Wrap(fmt.Sprintf("%s goes to existing node %s.", subject(pod), b.Node), 0)
	lines = append(lines, "")
	lines = append(lines, entry("order", turn(pod, plan))...)
	lines = append(lines, entry("asks for", requestsOf(pod))...)
	pods := b.Pods
	for i := range in.Nodes {
		if in.Nodes[i].Name() == b.Node {
			pods = slices.Concat(in.Nodes[i].Pods, pods)
		}
	}
	lines = append(lines, entry("beside", neighbours(pod, pods))...)
	lines = append(lines, givenUpFor(pod, plan)...)
	return page(lines)
}

// explainMissing describes a pod on a missing node of a static pool.
func explainMissing(pod *corev1.Pod, s *provisioning.StaticPool, pods []*corev1.Pod, plan *provisioning.Plan) string {
	lines := layout.Wrap(fmt.Sprintf("%s goes to a node of static NodePool %s that is yet to be launched.", subject(pod), s.Pool.Name), 0)
	lines = append(lines, "")
	lines = append(lines, entry("order", turn(pod, plan))...)
	lines = append(lines, entry("asks for", requestsOf(pod))...)
	lines = append(lines, entry("beside", neighbours(pod, pods))...)
	lines = append(lines, givenUpFor(pod, plan)...)
	return page(lines)
}

// givenUpFor lists the preferences of a pod that its node does not satisfy, with the reasons.
func givenUpFor(pod *corev1.Pod, plan *provisioning.Plan) (lines []string) {
	for i := range plan.GivenUp {
		if find(plan.GivenUp[i].Pods, podName(pod)) != nil {
			lines = append(lines, entry("gives up", plan.GivenUp[i].String())...)
		}
	}
	return lines
}

// explainPending says why a pod is unplaced, in the words of the engine.
func explainPending(u provisioning.Unplaced) string {
	lines := layout.Wrap(subject(u.Pod)+" stays pending.", 0)
	lines = append(lines, "")
	lines = append(lines, entry("asks for", requestsOf(u.Pod))...)
	lines = append(append(lines, ""), wrapped(u.Explanation.String())...)
	if report := strings.TrimSuffix(u.Explanation.Report(), "\n"); report != u.Explanation.String() {
		lines = append(append(lines, ""), wrapped(report)...)
	}
	return page(lines)
}

// subject names a pod and its owner.
func subject(pod *corev1.Pod) string {
	w := workloadOf(pod)
	if w.Kind == "Pod" {
		return "Pod " + podName(pod)
	}
	return fmt.Sprintf("Pod %s of %s %s", podName(pod), w.Kind, w.Name)
}

// turn says when kube-scheduler may bind a pod.
func turn(pod *corev1.Pod, plan *provisioning.Plan) string {
	i := slices.IndexFunc(plan.Order, func(p *corev1.Pod) bool { return podName(p) == podName(pod) })
	if i < 0 {
		return "at any time"
	}
	return fmt.Sprintf("number %d of the %s to bind", i+1, layout.Count(len(plan.Order), "pod"))
}

func requestsOf(pod *corev1.Pod) string {
	requests, err := resources.PodRequests(pod)
	if err != nil {
		return err.Error()
	}
	return cmp.Or(requests.String(), "nothing")
}

// neighbours lists the other pods of a node by workload.
func neighbours(pod *corev1.Pod, all []*corev1.Pod) string {
	var refs []podRef
	for _, p := range all {
		if podName(p) != podName(pod) {
			refs = append(refs, refTo(p))
		}
	}
	if len(refs) == 0 {
		return "no other pod"
	}
	t := table{namespaces: slices.ContainsFunc(refs, func(r podRef) bool { return r.Namespace != pod.Namespace })}
	return strings.Join(t.tally(refs), ", ")
}

// entry returns a titled paragraph.
func entry(title, text string) []string {
	const indent = 14
	lines := layout.Wrap(layout.Printable(text), indent)
	if len(lines) > 0 {
		lines[0] = fmt.Sprintf("  %-*s", indent-2, title) + strings.TrimLeft(lines[0], " ")
	}
	return lines
}

// wrapped breaks the lines of a text at the width of the page.
func wrapped(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, layout.WrapTo(line, layout.Width, "    ")...)
	}
	return lines
}

// page joins lines, with control characters removed.
func page(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(layout.Printable(line) + "\n")
	}
	return b.String()
}

// unknownPod says why the plan has no such pod.
func unknownPod(name string, in provisioning.Input) error {
	for i := range in.Nodes {
		if find(in.Nodes[i].Pods, name) != nil {
			return fmt.Errorf("the pod runs on node %s and is not to be placed", in.Nodes[i].Name())
		}
	}
	if find(in.DaemonSetPods, name) != nil {
		return errors.New("this is a DaemonSet, which runs on all nodes that suit it and is not placed")
	}
	var names []string
	for _, pod := range in.Pods {
		w := workloadOf(pod)
		names = append(names, podName(pod), w.Path())
	}
	slices.Sort(names)
	hint := spelling.DidYouMean(name, names)
	_, last, namespaced := strings.Cut(name, "/")
	if !namespaced {
		last = name
	}
	if i := slices.IndexFunc(names, func(n string) bool { return strings.HasSuffix(n, "/"+last) }); i >= 0 {
		hint = fmt.Sprintf("; did you mean %s?", names[i])
	}
	if len(in.Pods) == 0 {
		hint = "; there is no pod to place"
	} else if hint == "" {
		hint = "; the first is " + podName(in.Pods[0])
	}
	if !namespaced {
		return fmt.Errorf("give NAMESPACE/POD, or the workload for the pod%s", hint)
	}
	return fmt.Errorf("neither a pod to place nor a workload of one has this name%s", hint)
}

// ExplainInstanceType says whether an instance type is an option of a new node of a plan, and if
// not why, in text of at most 80 columns; see provisioning.Plan.Why. The error says that the plan
// has no such node, or that the input has no such instance type.
func ExplainInstanceType(node, typeName string, in provisioning.Input, plan *provisioning.Plan) (string, error) {
	if len(plan.Create) == 0 {
		return "", errors.New("the plan launches no node")
	}
	var nodes []string
	for i := range plan.Create {
		nodes = append(nodes, plan.Create[i].Name)
	}
	slices.Sort(nodes)
	at := slices.IndexFunc(plan.Create, func(n provisioning.NewNode) bool { return n.Name == node })
	if at < 0 {
		hint := cmp.Or(spelling.DidYouMean(node, nodes), "; the first is "+nodes[0])
		return "", fmt.Errorf("the plan has no new node %s%s", node, hint)
	}
	n := &plan.Create[at]
	var types []string
	for _, t := range in.InstanceTypes[n.Pool.Name] {
		types = append(types, t.Name)
	}
	slices.Sort(types)
	if !slices.Contains(types, typeName) {
		return "", fmt.Errorf("there is no instance type %s%s", typeName, spelling.DidYouMean(typeName, types))
	}
	why, err := plan.Why(node, typeName)
	if err != nil {
		return "", err
	}
	lines := layout.Wrap(fmt.Sprintf("How instance type %s stands with new node %s of NodePool %s:", typeName, node, n.Pool.Name), 0)
	lines = append(lines, "")
	return page(append(lines, wrapped(strings.TrimSuffix(why.Report(), "\n"))...)), nil
}
