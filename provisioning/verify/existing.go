package verify

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// nodeInfo is an existing node as it will stand once it is ready for pods.
type nodeInfo struct {
	name     string
	pool     string       // "" for capacity that somebody else manages
	node     *corev1.Node // name and labels only
	taints   []corev1.Taint
	settling bool          // managed and not ready for the first time, or rebooting
	coming   *v1.NodeClaim // of a node that has not registered yet, and may get further labels when it does
	deleting bool

	allocatable, capacity       resources.List
	allocatableErr, capacityErr error
	shut                        string // why it has no room at all

	bound []*podInfo // pods here that take room
}

// addNode completes a node that is on its way from its NodeClaim.
func (r *referee) addNode(in provisioning.Node) {
	claim := in.NodeClaim
	if in.Node == nil && claim == nil {
		return
	}
	node, claimed := in.Node, claim != nil
	if node == nil {
		node = &corev1.Node{}
	}
	if !claimed {
		claim = &v1.NodeClaim{}
	}
	initialized := !claimed || node.Labels[v1.NodeInitializedLabelKey] == "true"
	registered := initialized || node.Labels[v1.NodeRegisteredLabelKey] == "true"

	n := &nodeInfo{name: in.Name()}
	if !registered {
		n.coming = claim
	}
	n.settling = !initialized || r.hasCondition(claim.Status.Conditions, v1.ConditionTypeRebooting)
	n.deleting = node.DeletionTimestamp != nil || claim.DeletionTimestamp != nil ||
		r.hasCondition(claim.Status.Conditions, v1.ConditionTypeInstanceTerminating)
	n.node = r.standingNode(in, claim, registered)
	n.pool = n.node.Labels[v1.NodePoolLabelKey]
	n.taints = r.standingTaints(node, claim, registered, n.settling)

	if r.unlaunched(in) {
		r.expect(n, claim)
	} else {
		r.measure(n, node, claim, initialized)
	}
	for _, pod := range in.Pods {
		if pod != nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed && !r.leaves(n, pod) {
			n.bound = append(n.bound, r.newPod(pod))
		}
	}
	r.nodes = append(r.nodes, n)
	r.nodesNamed[n.name] = append(r.nodesNamed[n.name], n)
}

// leaves says whether a pod of a node on its way out is among those to place: it is gone from
// there when its turn comes, and counts once.
func (r *referee) leaves(n *nodeInfo, pod *corev1.Pod) bool {
	return n.deleting && r.pods[objectKey{pod.Namespace, pod.Name}] != nil
}

// measure sets the size that node and claim say it has.
func (r *referee) measure(n *nodeInfo, node *corev1.Node, claim *v1.NodeClaim, initialized bool) {
	allocatable, capacity := node.Status.Allocatable, node.Status.Capacity
	if !initialized {
		allocatable = r.filled(allocatable, claim.Status.Allocatable)
		capacity = r.filled(capacity, claim.Status.Capacity)
	}
	n.allocatable, n.allocatableErr = resources.FromResourceList(allocatable)
	n.capacity, n.capacityErr = resources.FromResourceList(capacity)
}

func (r *referee) hasCondition(conditions []metav1.Condition, kind string) bool {
	for _, condition := range conditions {
		if condition.Type == kind && condition.Status == metav1.ConditionTrue {
			return true
		}
	}
	return false
}

// standingNode has the labels that the node will have: those of the NodeClaim
// are put on it when it registers, with those that follow from what an
// unlaunched claim asks for.
func (r *referee) standingNode(in provisioning.Node, claim *v1.NodeClaim, registered bool) *corev1.Node {
	standing := &corev1.Node{}
	standing.Name = claim.Status.NodeName
	labels := map[string]string{}
	if in.Node != nil {
		standing.Name = in.Node.Name
		maps.Copy(labels, in.Node.Labels)
	}
	if standing.Name == "" {
		standing.Name = nodefit.NewNodeName
	}
	if !registered {
		maps.Copy(labels, claim.Labels)
	}
	if r.unlaunched(in) {
		for key, value := range r.settledLabels(claim) {
			if _, given := claim.Labels[key]; !given {
				labels[key] = value
			}
		}
	}
	if _, named := labels[corev1.LabelHostname]; !named && in.Node == nil {
		labels[corev1.LabelHostname] = standing.Name
	}
	standing.Labels = labels
	return standing
}

// standingTaints are those that will not go away by themselves when the node
// becomes ready.
func (r *referee) standingTaints(node *corev1.Node, claim *v1.NodeClaim, registered, settling bool) []corev1.Taint {
	taints := slices.Clone(node.Spec.Taints)
	if !registered {
		taints = append(taints, claim.Spec.Taints...)
	}
	if settling {
		taints = slices.DeleteFunc(taints, func(taint corev1.Taint) bool {
			return r.passing(taint) || slices.ContainsFunc(claim.Spec.StartupTaints, func(s corev1.Taint) bool {
				return s.MatchTaint(&taint)
			})
		})
	}
	if node.Spec.Unschedulable {
		taints = append(taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	return taints
}

// passing says whether a taint is one that every node bears while it starts or
// reboots.
func (r *referee) passing(taint corev1.Taint) bool {
	hard := taint.Effect == corev1.TaintEffectNoSchedule
	switch taint.Key {
	case corev1.TaintNodeNotReady:
		return hard || taint.Effect == corev1.TaintEffectNoExecute
	case corev1.TaintNodeUnreachable, "node.cloudprovider.kubernetes.io/uninitialized", v1.RebootingTaintKey:
		return hard
	case v1.UnregisteredTaintKey:
		return taint.Effect == corev1.TaintEffectNoExecute
	}
	return strings.HasPrefix(taint.Key, "readiness.k8s.io/")
}

// filled is a list with its missing and zero entries taken from another: until
// a device plugin reports, the kubelet says zero or nothing.
func (r *referee) filled(list, from corev1.ResourceList) corev1.ResourceList {
	full := corev1.ResourceList{}
	maps.Copy(full, list)
	for name, quantity := range from {
		if have := full[name]; have.IsZero() {
			full[name] = quantity
		}
	}
	return full
}

// missingDaemons sums up what DaemonSet pods that will come to the node ask
// for, less what the pod of the same DaemonSet there already holds.
func (r *referee) missingDaemons(n *nodeInfo) resources.List {
	var sum resources.List
	for _, d := range r.daemonsOn(n) {
		if d.requestsErr != nil {
			continue
		}
		missing := d.requests
		for _, p := range n.bound {
			if !r.sameDaemonSet(d, p) {
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

// daemonsOn are the DaemonSets that run on the node, or will once it is ready.
func (r *referee) daemonsOn(n *nodeInfo) (daemons []*podInfo) {
	ready := &corev1.Node{}
	ready.Name = n.node.Name
	ready.Labels = maps.Clone(n.node.Labels)
	if n.settling {
		ready.Labels[v1.NodeRegisteredLabelKey] = "true"
		ready.Labels[v1.NodeInitializedLabelKey] = "true"
	}
	for _, d := range r.daemons {
		if !d.selection.Accepts(n.node) && !d.selection.Accepts(ready) {
			continue
		}
		if _, refused := d.tolerations.Refused(n.taints); !refused {
			daemons = append(daemons, d)
		}
	}
	return daemons
}

// comingDaemons are the DaemonSets of a node that have no pod there yet.
func (r *referee) comingDaemons(n *nodeInfo) (daemons []*podInfo) {
	if n.deleting {
		return nil
	}
	for _, d := range r.daemonsOn(n) {
		if !slices.ContainsFunc(n.bound, func(p *podInfo) bool { return r.sameDaemonSet(d, p) }) {
			daemons = append(daemons, d)
		}
	}
	return daemons
}

// sameDaemonSet says whether a bound pod belongs to the DaemonSet that another
// pod represents. A representative made from the template has no owner, but the
// name of the DaemonSet.
func (r *referee) sameDaemonSet(representative, bound *podInfo) bool {
	owner := metav1.GetControllerOfNoCopy(bound.Pod)
	if owner == nil || owner.Kind != "DaemonSet" || bound.Namespace != representative.Namespace {
		return false
	}
	own := metav1.GetControllerOfNoCopy(representative.Pod)
	switch {
	case own == nil:
		return owner.Name == representative.Name
	case own.UID != "" && owner.UID != "":
		return own.UID == owner.UID
	}
	return own.Name == owner.Name
}

// checkBindings judges the pods that are to go to existing nodes.
func (r *referee) checkBindings() {
	for _, b := range r.plan.Bind {
		nodes := r.nodesNamed[b.Node]
		if len(nodes) == 0 {
			r.report(RuleNode, b.Node, "", "it is not in the input")
			continue
		}
		if len(nodes) > 1 {
			r.report(RuleNode, b.Node, "", "%d nodes of the input have this name, so the binding is ambiguous", len(nodes))
		}
		n := nodes[0]
		if n.deleting {
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
	if taint, refused := p.tolerations.Refused(n.taints); refused {
		r.report(RuleTaints, n.name, p.key.String(), "it does not tolerate %s", taint.ToString())
	}
	if !p.selection.Accepts(n.node) {
		r.report(RuleRequirements, n.name, p.key.String(), "its node selection refuses the node, which has %s", p.selection.Mentions.Text(n.node))
	}
}

func (r *referee) judgeRoom(n *nodeInfo, pods []*podInfo) {
	if n.allocatableErr != nil {
		r.report(RuleResources, n.name, "", "what it can allocate cannot be read: %v", n.allocatableErr)
		return
	}
	if n.shut != "" && len(pods) > 0 {
		r.report(RuleResources, n.name, "", "it has no room: %s", n.shut)
		return
	}
	asked, ok := r.sumRequests(n.name, pods)
	if !ok {
		return
	}
	held, ok := r.sumRequests(n.name, n.bound)
	if !ok {
		return
	}
	daemons := r.missingDaemons(n)
	taken, err := held.Add(daemons)
	if err == nil {
		taken, err = taken.Add(asked)
	}
	if err != nil {
		r.report(RuleResources, n.name, "", "the requests of its pods cannot be added up: %v", err)
		return
	}
	for name, more := range asked.All() {
		// A node may be overcommitted in what the new pods do not ask for.
		if more <= 0 || taken.Get(name) <= n.allocatable.Get(name) {
			continue
		}
		r.report(RuleResources, n.name, "", "its new pods ask for %s of %s, DaemonSets for %s and its present pods hold %s, but it can allocate %s",
			resources.Format(name, more), name, resources.Format(name, daemons.Get(name)),
			resources.Format(name, held.Get(name)), resources.Format(name, n.allocatable.Get(name)))
	}
}

// unlaunched says whether all there is of a node is a NodeClaim that no instance
// stands behind yet.
func (*referee) unlaunched(in provisioning.Node) bool {
	return in.Node == nil && in.NodeClaim != nil &&
		in.NodeClaim.Status.ProviderID == "" && len(in.NodeClaim.Status.Allocatable) == 0
}

// settledLabels are those that the requirements of a claim leave no choice of.
// Where they leave one, the label counts as absent until there is a Node.
func (r *referee) settledLabels(claim *v1.NodeClaim) map[string]string {
	asked, err := requirements.FromRequirements(claim.Spec.Requirements, r.vocabulary)
	if err != nil {
		return nil // expect says so
	}
	settled := map[string]string{}
	for want := range asked.All() {
		if values, finite := want.Values(); finite && len(values) == 1 && !want.AllowsAbsent() {
			settled[want.Key()] = values[0]
		}
	}
	return settled
}

// expect sets what an unlaunched claim can be counted on for. It may become any
// instance type of its pool that its requirements admit, so pods get the room
// that all of those have, and limits count the size that any of them has.
func (r *referee) expect(n *nodeInfo, claim *v1.NodeClaim) {
	asked, err := requirements.FromNodeClaim(claim, r.vocabulary)
	if err != nil {
		n.allocatableErr, n.capacityErr = err, err
		return
	}
	admitted := 0
	for _, t := range r.in.InstanceTypes[n.pool] {
		if t == nil || !r.mayBecome(asked, t) {
			continue
		}
		room, err := r.roomOf(t)
		if err != nil {
			n.allocatableErr = errors.Join(n.allocatableErr, fmt.Errorf("instance type %s: %w", t.Name, err))
		}
		if admitted++; admitted == 1 {
			n.allocatable, n.capacity = room, t.Capacity
			continue
		}
		n.allocatable, n.capacity = n.allocatable.Min(room), n.capacity.Max(t.Capacity)
	}
	switch debts := n.allocatable.Negative(); {
	case n.allocatableErr != nil:
	case n.pool == "":
		n.shut = "its NodeClaim is not launched, and names no NodePool"
	case admitted == 0:
		n.shut = fmt.Sprintf("its NodeClaim is not launched, and its requirements admit no instance type of NodePool %s", n.pool)
	case len(debts) > 0:
		n.shut = fmt.Sprintf("its NodeClaim is not launched, and an instance type it may become has less %s than it holds back", debts[0])
	}
}

// mayBecome says whether a claim admits an instance type: for each label that
// both speak of, some value or its absence suits both.
func (*referee) mayBecome(asked requirements.Set, t *cloudprovider.InstanceType) bool {
	if asked.Impossible() {
		return false
	}
	have := t.Requirements.With(requirements.In(corev1.LabelInstanceTypeStable, t.Name))
	for want := range asked.All() {
		if label, named := have.Get(want.Key()); named && !label.Overlaps(want) {
			return false
		}
	}
	return true
}

// roomOf is what an instance type can allocate whatever it is bought as.
func (r *referee) roomOf(t *cloudprovider.InstanceType) (resources.List, error) {
	overhead, err := t.Overhead.Total()
	if err != nil {
		return resources.List{}, err
	}
	return r.lessOverhead(t.Capacity, overhead)
}
