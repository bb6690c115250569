package verify_test

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// opinion is what the oracle thinks of a change to a plan. It thinks in other
// terms than the referee: of requirement sets where that writes out nodes, of
// quantities where that counts integers. Where it is not sure, it says so.
type opinion int

const (
	unsure opinion = iota
	sound
	broken
)

// oracleExisting judges whether pods, which are all that the plan binds to the
// node, may run on an existing node.
func oracleExisting(in provisioning.Input, name string, pods []*corev1.Pod) opinion {
	at := slices.IndexFunc(in.Nodes, func(n provisioning.Node) bool { return n.Name() == name })
	if at < 0 {
		return broken
	}
	n := oracleNode(in.Nodes[at])
	if n != nil && oracleUnlaunched(in.Nodes[at]) && !oraclePromise(in, in.Nodes[at].NodeClaim, n) {
		return broken
	}
	if n == nil {
		return broken
	}
	for _, pod := range pods {
		if !oracleAdmits(n, pod, pod.Spec.Tolerations) {
			return broken
		}
	}
	need := corev1.ResourceList{}
	for _, pod := range slices.Concat(pods, in.Nodes[at].Pods) {
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			oracleAdd(need, pod)
		}
	}
	for _, d := range in.DaemonSetPods {
		if !oracleAdmits(n, d, oracleDaemonTolerations(d)) {
			continue
		}
		// Where a pod of the DaemonSet runs, it is counted with the bound pods.
		// The made-up problems bind equal pods, so there is no difference left.
		if !slices.ContainsFunc(in.Nodes[at].Pods, func(p *corev1.Pod) bool { return oracleOwner(p) == oracleOwner(d) }) {
			oracleAdd(need, d)
		}
	}
	asked := corev1.ResourceList{}
	for _, pod := range pods {
		oracleAdd(asked, pod)
	}
	for name, quantity := range asked {
		total, free := need[name], n.Status.Allocatable[name]
		if !quantity.IsZero() && total.Cmp(free) > 0 {
			return broken
		}
	}
	return sound
}

func oracleUnlaunched(n provisioning.Node) bool {
	return n.Node == nil && n.NodeClaim.Status.ProviderID == "" && n.NodeClaim.Status.Allocatable == nil
}

// oraclePromise completes a node of which there is nothing but an unlaunched
// claim. It is false where no instance type will do, or one that has debts.
func oraclePromise(in provisioning.Input, claim *v1.NodeClaim, node *corev1.Node) bool {
	asked, err := requirements.FromNodeClaim(claim, in.Vocabulary)
	if err != nil {
		return false
	}
	// Each requirement of a made-up claim has a key of its own, in canonical form.
	for _, want := range claim.Spec.Requirements {
		if want.Operator == corev1.NodeSelectorOpIn && len(want.Values) == 1 {
			node.Labels[want.Key] = want.Values[0]
		}
	}
	node.Status.Allocatable = nil
	for _, t := range in.InstanceTypes[claim.Labels[v1.NodePoolLabelKey]] {
		if asked.Intersect(t.Requirements).Impossible() {
			continue
		}
		allocatable, err := t.Allocatable()
		if err != nil || len(allocatable.Negative()) > 0 {
			return false
		}
		room := allocatable.ResourceList()
		if node.Status.Allocatable == nil {
			node.Status.Allocatable = room
			continue
		}
		for name, least := range node.Status.Allocatable {
			if other := room[name]; other.Cmp(least) < 0 {
				node.Status.Allocatable[name] = other
			}
		}
	}
	return node.Status.Allocatable != nil
}

// oracleOwner returns the name of the DaemonSet of a pod, or of its own if it stands
// for one.
func oracleOwner(pod *corev1.Pod) string {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return owner.Name
	}
	return pod.Name
}

func oracleAdd(sum corev1.ResourceList, pod *corev1.Pod) {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	requests[corev1.ResourcePods] = resource.MustParse("1")
	for name, quantity := range requests {
		total := sum[name]
		total.Add(quantity)
		sum[name] = total
	}
}

// oracleNode returns a node as it stands when it is ready; nil if it goes away.
func oracleNode(in provisioning.Node) *corev1.Node {
	claim := in.NodeClaim
	if claim == nil {
		claim = &v1.NodeClaim{}
	}
	node := &corev1.Node{}
	if in.Node != nil {
		node = in.Node.DeepCopy()
	}
	reboots := false
	for _, c := range claim.Status.Conditions {
		if c.Type == v1.ConditionTypeInstanceTerminating && c.Status == metav1.ConditionTrue {
			return nil
		}
		reboots = reboots || c.Type == v1.ConditionTypeRebooting && c.Status == metav1.ConditionTrue
	}
	if node.DeletionTimestamp != nil || claim.DeletionTimestamp != nil {
		return nil
	}
	if node.Spec.Unschedulable {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	if in.NodeClaim == nil {
		return node
	}
	if node.Labels[v1.NodeRegisteredLabelKey] == "" {
		if node.Labels == nil {
			node.Labels = map[string]string{corev1.LabelHostname: "not known"}
		}
		if node.Name == "" {
			node.Name = "not known"
		}
		maps.Copy(node.Labels, claim.Labels)
		node.Spec.Taints = append(node.Spec.Taints, claim.Spec.Taints...)
	}
	fresh := node.Labels[v1.NodeInitializedLabelKey] == ""
	if fresh || reboots {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == "example.com/starting" && len(claim.Spec.StartupTaints) > 0 || t.Key == v1.UnregisteredTaintKey ||
				t.Key == corev1.TaintNodeNotReady || t.Key == v1.RebootingTaintKey || strings.HasPrefix(t.Key, "readiness.k8s.io/")
		})
	}
	if fresh {
		if node.Status.Allocatable == nil {
			node.Status.Allocatable = corev1.ResourceList{}
		}
		for name, quantity := range claim.Status.Allocatable {
			if known := node.Status.Allocatable[name]; known.IsZero() {
				node.Status.Allocatable[name] = quantity
			}
		}
	}
	return node
}

func oracleDaemonTolerations(pod *corev1.Pod) []corev1.Toleration {
	tolerations := slices.Clone(pod.Spec.Tolerations)
	for _, key := range []string{"not-ready", "unreachable"} {
		tolerations = append(tolerations, corev1.Toleration{Key: "node.kubernetes.io/" + key, Operator: "Exists", Effect: "NoExecute"})
	}
	for _, key := range []string{"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"} {
		tolerations = append(tolerations, corev1.Toleration{Key: "node.kubernetes.io/" + key, Operator: "Exists", Effect: "NoSchedule"})
	}
	return tolerations
}

// oracleAdmits says whether labels and taints of a node let a pod run there.
func oracleAdmits(node *corev1.Node, pod *corev1.Pod, tolerations []corev1.Toleration) bool {
	if !oracleTolerates(node.Spec.Taints, tolerations) {
		return false
	}
	asked, err := requirements.FromPod(pod, requirements.EmptyVocabulary())
	return err == nil && slices.ContainsFunc(asked.Alternatives, func(a requirements.Alternative) bool {
		return a.Set.Matches(node.Labels) && (a.NodeNames == nil || a.NodeNames.Has(node.Name))
	})
}

func oracleTolerates(taints []corev1.Taint, tolerations []corev1.Toleration) bool {
	for i := range taints {
		if taints[i].Effect != corev1.TaintEffectPreferNoSchedule &&
			!schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, tolerations, &taints[i], true) {
			return false
		}
	}
	return true
}

// oracleOption judges whether all pods of a new node may run on an option.
func oracleOption(in provisioning.Input, n *provisioning.NewNode, option cloudprovider.LaunchOption) opinion {
	if !slices.Contains(in.InstanceTypes[n.Pool.Name], option.InstanceType) || !option.Offering.Launchable() {
		return broken
	}
	template, err := requirements.FromNodePool(n.Pool, in.Vocabulary)
	if err != nil {
		return broken
	}
	known := template.Intersect(option.Requirements()).With(
		requirements.In(v1.NodeRegisteredLabelKey, "true"), requirements.In(v1.NodeInitializedLabelKey, "true"),
	)
	labels := known.Intersect(n.Requirements)
	if labels.Impossible() {
		return broken
	}
	for r := range n.Requirements.All() {
		if _, named := known.Get(r.Key()); !named && !in.Vocabulary.WellKnown(r.Key()) && !r.AllowsAbsent() {
			return broken // a label out of nowhere
		}
	}
	verdict := sound
	for _, pod := range n.Pods {
		if !oracleTolerates(n.Pool.Spec.Template.Spec.Taints, pod.Spec.Tolerations) {
			return broken
		}
		switch oracleSelects(in, pod, labels) {
		case broken:
			return broken
		case unsure:
			verdict = unsure
		}
	}
	return oracleRoom(in, n, option, labels, verdict)
}

// oracleSelects judges the node selection of a pod against all labels that a
// node may have.
func oracleSelects(in provisioning.Input, pod *corev1.Pod, labels requirements.Set) opinion {
	asked, _ := requirements.FromPod(pod, in.Vocabulary)
	verdict := broken
	for _, a := range asked.Alternatives {
		if a.NodeNames != nil && !a.NodeNames.Has("a name that nobody has") {
			continue
		}
		always, sometimes := true, true
		for want := range a.Set.All() {
			have, named := labels.Get(want.Key())
			switch {
			case want.Key() == corev1.LabelHostname:
				have = requirements.In(corev1.LabelHostname, "a name that nobody has")
			case !named && !in.Vocabulary.WellKnown(want.Key()):
				have = requirements.DoesNotExist(want.Key())
			}
			both := have.Intersect(want)
			sometimes = sometimes && !both.Impossible()
			always = always && both.WithMinValues(0).Equal(have.WithMinValues(0))
		}
		switch {
		case always:
			return sound
		case sometimes:
			verdict = unsure
		}
	}
	return verdict
}

// oracleRoom counts every DaemonSet that may run on the option, and is unsure
// about those that need not.
func oracleRoom(in provisioning.Input, n *provisioning.NewNode, option cloudprovider.LaunchOption, labels requirements.Set, verdict opinion) opinion {
	allocatable, err := option.InstanceType.AllocatableFor(option.Offering)
	if err != nil || len(allocatable.Negative()) > 0 {
		return broken
	}
	sure, all := corev1.ResourceList{}, corev1.ResourceList{}
	asked := corev1.ResourceList{}
	for _, pod := range n.Pods {
		oracleAdd(asked, pod)
		oracleAdd(sure, pod)
		oracleAdd(all, pod)
	}
	for _, d := range in.DaemonSetPods {
		if !oracleTolerates(n.Pool.Spec.Template.Spec.Taints, oracleDaemonTolerations(d)) {
			continue
		}
		runs := oracleSelects(in, d, labels)
		if runs == sound {
			oracleAdd(sure, d)
		}
		if runs != broken {
			oracleAdd(all, d)
		}
	}
	free := allocatable.ResourceList()
	for name, quantity := range asked {
		least, most, have := sure[name], all[name], free[name]
		switch {
		case quantity.IsZero():
		case least.Cmp(have) > 0:
			return broken
		case most.Cmp(have) > 0:
			verdict = unsure
		}
	}
	return verdict
}
