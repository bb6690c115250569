package verify

import (
	"cmp"
	"maps"
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/contradiction"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	corev1 "k8s.io/api/core/v1"
)

// Rule is a rule that a plan must satisfy. Rules may be added.
type Rule string

const (
	// RuleInput: no objects of the input contradict each other, such as two nodes with one name. If
	// some do, provisioning.Prepare makes no plan, and Plan checks none: the input is at fault.
	RuleInput Rule = "input"
	// RuleCompleteness: every pod of the input is in exactly one place of the plan, and no other
	// pod is in the plan.
	RuleCompleteness Rule = "completeness"
	// RuleOrder: the lists of a plan are sorted as their comments say.
	RuleOrder Rule = "order"
	// RuleAccounts: the figures of a plan, such as Cost, LowerBound and the Requests of a node,
	// agree with its nodes and pods.
	RuleAccounts Rule = "accounts"
	// RuleReason: an unplaced pod has a reason that the pod itself does not contradict.
	RuleReason Rule = "reason"

	// RulePool: a new node belongs to a NodePool that may launch nodes.
	RulePool Rule = "pool"
	// RuleOffering: an option of a new node is in the catalog of its NodePool and can be launched now.
	RuleOffering Rule = "offering"
	// RuleReservation: at most as many nodes rely on a capacity reservation as it has instances
	// left.
	RuleReservation Rule = "reservation"
	// RuleRequirements: the labels of a node satisfy its NodePool and the node selection of its pods, whichever option is
	// launched.
	RuleRequirements Rule = "requirements"
	// RuleTaints: a pod tolerates the NoSchedule and NoExecute taints of its node.
	RuleTaints Rule = "taints"
	// RuleFeatures: a node declares the features that its pods need, in status.declaredFeatures. No
	// new node is known to declare any.
	RuleFeatures Rule = "declaredFeatures"
	// RuleResources: the pods of a node, with its DaemonSets, fit into what it can allocate.
	RuleResources Rule = "resources"
	// RuleMinValues: the options of a new node have as many distinct values as its NodePool
	// requires.
	RuleMinValues Rule = "minValues"
	// RuleLimits: the nodes of a NodePool stay within its limits, whichever option of each new one is launched.
	RuleLimits Rule = "limits"
	// RuleNode: pods are bound to an existing node that is not being deleted.
	RuleNode Rule = "node"

	// RuleScheduling: a pod that is being deleted, has scheduling gates, or is for a scheduler that
	// Options.SchedulerNames does not name, is left pending.
	RuleScheduling Rule = "scheduling"
	// RuleSpread: when a pod is bound, its topology spread constraints with DoNotSchedule hold.
	RuleSpread Rule = "topologySpread"
	// RuleAffinity: when a pod is bound, its required pod affinity is met.
	RuleAffinity Rule = "podAffinity"
	// RuleAntiAffinity: when a pod is bound, neither its required anti-affinity nor that of a pod before it excludes it.
	RuleAntiAffinity Rule = "podAntiAffinity"
	// RuleHostPorts: no two pods of a node use the same host port.
	RuleHostPorts Rule = "hostPorts"
	// RuleVolumes: a node can have all volumes of its pods at once.
	RuleVolumes Rule = "volumes"
	// RuleDevices: the resource claims of a pod can be satisfied, as far as devices can be counted.
	RuleDevices Rule = "devices"

	// RuleCapacityMix: among pods with the same requests and constraints, at least the number that
	// Options.CapacityMix requires is kept off spot capacity. The exception is that none of their
	// nodes could be launched without spot within the minValues of its pool. Volumes and devices do
	// not distinguish pods.
	RuleCapacityMix Rule = "capacityMix"
	// RuleSpotFlexibility: a node that may be launched as spot has at least as many spot instance
	// types as Options.SpotFlexibility requires. The exception is a node that cannot be launched
	// without spot within the minValues of its pool.
	RuleSpotFlexibility Rule = "spotFlexibility"

	// RuleOverlooked: no place exists for an unplaced pod. Unplaced checks this rule; Plan does
	// not.
	RuleOverlooked Rule = "overlooked"
)

// Violation is one way in which a plan breaks a rule.
type Violation struct {
	Rule Rule
	// Node is the name of the new or existing node concerned, "" if there is none.
	Node string
	// Pod is the namespace/name of the pod concerned, "" if there is none. Of several pods that
	// break the rule in the same way it is the first.
	Pod string
	// Message says what is wrong, on one line.
	Message string
}

// String renders the violation on one line: the rule, the node and the pod if set, and the message.
func (v Violation) String() string {
	text := string(v.Rule)
	if v.Node != "" {
		text += ": node " + v.Node
	}
	if v.Pod != "" {
		text += ": pod " + v.Pod
	}
	return text + ": " + v.Message
}

func compareViolations(a, b Violation) int {
	return cmp.Or(
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Node, b.Node),
		cmp.Compare(a.Pod, b.Pod),
		cmp.Compare(a.Message, b.Message),
	)
}

// Plan checks a plan against its input and returns every violation of a rule, sorted by rule, node,
// pod and message without duplicates; nil means that the plan is valid. It shares no code with the
// solver: it makes the Node object of each new node, and binds pods to it as kube-scheduler would.
//
// Every option of a new node is checked separately, because any may be launched. So is each set of
// labels that the node may get where its NodePool, instance type and Requirements leave a choice. A
// label that no instance type names has the value in NewNode.Labels.
//
// Constraints between pods are checked in the order in which Plan.Order binds the pods. All new
// nodes exist from the start, with their DaemonSet pods. Bound pods, and pods earlier in the order,
// count where they are, including on nodes that are being deleted. If an existing node lacks the
// pod of a DaemonSet, that pod counts as certain while the node is starting, and as possible
// otherwise. Pods of buffers come last; their topology spreads are checked except those over
// kubernetes.io/hostname.
//
//   - Topology spread with DoNotSchedule, of the pod or else of Options.DefaultSpread: the pods
//     that the constraint counts in the domain of the node, the pod itself included if it is
//     selected, exceed those of any other domain by at most maxSkew. If there are fewer domains
//     than minDomains, the other domain counts as empty. An empty selector counts no pods up to
//     Kubernetes 1.37, and every pod of the namespace from 1.38. As in Karpenter, a domain in which
//     a node could be launched when the plan starts counts too. Such a node is of an open NodePool
//     and of an instance type, in stock or sold out, that the node selection and the volumes of the
//     pod admit, and nodeTaintsPolicy counts the node.
//   - Required affinity: the domain of each term has a pod that all terms select. If no domain has
//     such a pod, the terms must select the pod itself.
//   - Required anti-affinity of the pod, and of the pods before it: no two pods in one domain
//     exclude each other.
//   - A new node is in one domain of a label, whichever of its options is launched, if one of its
//     pods has such a constraint over the label or is counted by one. This does not apply to
//     kubernetes.io/hostname. Nodes of a NodePool with minValues may be in several domains: then
//     each domain is checked, and the constraints of other pods must hold for each.
//   - Host ports and volumes are checked as in kube-scheduler's filters. The first pod that uses a
//     claim reserves the volume to which the claim will be bound. Where kube-scheduler would wait
//     for a controller (a claim that names its volume but is not marked as bound, an ephemeral
//     volume whose claim does not exist yet) the referee assumes the controller's result. Two pods
//     must be in one zone if they share a claim without a volume that only one node at a time may
//     use.
//   - Devices are only counted: on each node, the requests for an exact number of devices of a class
//     are at most its devices of the class, if these can be counted. Other requirements of a resource
//     claim are not checked.
//
// Neither soft constraints nor Options.NodeFee make a plan invalid, and Plan.Static and Overlays
// are not checked. CapacityMix is checked for pods with the same requests, node selection and
// required constraints on other pods, whatever their volumes and devices. Pods on existing nodes
// count as kept off spot, because the plan did not choose the capacity type of those nodes.
// Input.Overlays are applied before the catalogs are read. The pods of buffers may be in Create,
// Bind and Order like others, and must come last; Plan.Buffers counts them.
//
// Common parts of nodes are checked once: a shared list of options, equal Requirements, pods with
// equal node selections. Memory grows with the catalog, the pods and the nodes, but not with nodes
// times options. Constraints between pods take memory for each node and each distinct constraint.
// Time grows with the number of options in distinct lists. In a decoded plan every node has a list
// of its own, which takes more time; the result is the same.
//
// A NodeClaim without Node, provider ID and allocatable resources is not launched yet, and takes
// pods too. It may become any instance type of its pool that its labels and requirements admit,
// available or not. Its room is, for each resource, the least of these types; limits count the
// largest. If there is no such type, or one reserves more than it has, the NodeClaim has no room.
// Its labels are its own and those for which its requirements allow one value.
//
// If objects of the input contradict each other, Plan returns only these contradictions, each under
// [RuleInput].
//
// Plan trusts nothing in plan and does not panic on a malformed one. Cost is computed again from
// the prices in the catalog. LowerBound must not exceed the cost of two plans: this one and, if it
// has no other faults, the same plan with each new node launched as the cheapest option of its
// NodePool that holds its pods. That does not prove the bound. [Unplaced] checks whether pods were
// left pending although they have a place.
//
// opts must be the options with which the plan was made; nil means the defaults. Neither in nor
// plan is changed, and calls may run concurrently.
func Plan(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) []Violation {
	if plan == nil {
		return []Violation{{Rule: RuleCompleteness, Message: "there is no plan: it is nil"}}
	}
	if found := contradictions(in, opts); found != nil {
		return found
	}
	r := newReferee(in, plan, opts)
	r.checkCompleteness()
	r.checkOrder()
	r.checkAccounts()
	r.checkBuffers()
	r.checkReasons()
	r.checkNewNodes()
	r.checkBindings()
	r.checkScheduling()
	r.checkBinding(nil)
	r.checkOneDomain()
	for _, s := range r.sites {
		r.judgeNode(s, nil, s.placed, r.reportOn(s.name))
	}
	r.checkDevices()
	r.checkLimits()
	r.checkReservations()
	if opts != nil {
		r.checkSpotFlexibility(opts.SpotFlexibility)
		r.checkCapacityMix(opts.CapacityMix)
	}
	r.checkBounds(opts)
	return r.verdict()
}

// contradictions returns the faults of an input for which no plan can be checked.
func contradictions(in provisioning.Input, opts *provisioning.Options) []Violation {
	r := &referee{}
	for _, f := range contradiction.Find(in, opts) {
		r.report(RuleInput, f.Node, f.Pod, "%s", f.Message)
	}
	return r.verdict()
}

// verdict sorts the violations, so that the order of checks has no effect.
func (r *referee) verdict() []Violation {
	slices.SortFunc(r.found, compareViolations)
	return slices.Compact(r.found)
}

func newReferee(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) *referee {
	r := &referee{
		in:         in,
		plan:       plan,
		policy:     provisioning.Strict,
		vocabulary: in.Vocabulary,
		pools:      map[string]*poolInfo{},
		nodesNamed: map[string]*site{},
		pods:       map[objectKey]*podInfo{},
		options:    map[cloudprovider.LaunchOption]*optionInfo{},
		lists:      map[listID]optionList{},

		topologies: map[string]*topology{},
		counters:   counterIndex{map[string]*counter{}, map[counterKey][]*counter{}, map[string][]*counter{}},
		launchable: map[string]map[string]string{},
	}
	if opts != nil {
		r.policy = cmp.Or(opts.MinValues, provisioning.Strict)
		r.nodeFee = opts.NodeFee
		r.kubernetes, _ = minors.Parse(opts.Kubernetes) // no plan is made for an unknown version
		r.schedulers, r.reserved, r.defaultSpread = opts.SchedulerNames, opts.Reserved, opts.DefaultSpread
	}
	if r.vocabulary == nil {
		r.vocabulary = requirements.DefaultVocabulary()
	}
	if len(in.Overlays) > 0 {
		// If overlays cannot be applied there is no plan, and the catalogs stay unchanged.
		if types, _, err := overlay.Apply(in.Overlays, in.NodePools, in.InstanceTypes, r.vocabulary); err == nil {
			r.in.InstanceTypes = types
		}
	}
	r.addPods()
	for _, pool := range in.NodePools {
		if pool != nil {
			r.pools[pool.Name] = r.newPool(pool)
		}
	}
	r.addNodes(in.Nodes)
	r.addMissing()
	r.nodes = slices.Clip(r.sites)
	for _, b := range r.plan.Bind {
		if s := r.nodesNamed[b.Node]; s != nil {
			s.placed = append(s.placed, r.knownPods(b.Pods)...)
		}
	}
	r.storage = r.newStorage()
	r.fresh = make([]*newNode, len(plan.Create))
	return r
}

// addPods reads the pods to place and the DaemonSet pods.
func (r *referee) addPods() {
	for _, pod := range r.in.Pods {
		if pod != nil && r.pods[keyOf(pod)] == nil {
			r.pods[keyOf(pod)] = r.newPod(pod)
		}
	}
	r.addBuffers()
	r.asks = r.askedResources()
	for _, pod := range r.in.DaemonSetPods {
		if pod != nil {
			p := r.newPod(pod)
			p.tolerations = nodefit.OfDaemon(pod)
			r.daemons = append(r.daemons, p)
		}
	}
}

// askedResources returns the resources that some pod requests.
func (r *referee) askedResources() []corev1.ResourceName {
	asked := map[corev1.ResourceName]bool{}
	for _, p := range r.pods {
		for name := range p.requests.All() {
			asked[name] = true
		}
	}
	return slices.Sorted(maps.Keys(asked))
}
