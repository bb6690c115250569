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

// Rule names what a plan must respect. The set may grow.
type Rule string

const (
	// RuleInput: no objects of the input contradict each other, such as two nodes of one name. Where some do,
	// provisioning.Prepare makes no plan, and Plan judges none: the input is at fault.
	RuleInput Rule = "input"
	// RuleCompleteness: every pod of the input is in exactly one place of the plan, and nothing else is there.
	RuleCompleteness Rule = "completeness"
	// RuleOrder: the lists of a plan are sorted as their comments say.
	RuleOrder Rule = "order"
	// RuleAccounts: what a plan says about itself, such as Cost, LowerBound and the Requests of a node, agrees with what
	// it lists.
	RuleAccounts Rule = "accounts"
	// RuleReason: an unplaced pod comes with a reason, and the pod itself does not contradict it.
	RuleReason Rule = "reason"

	// RulePool: a new node belongs to a NodePool that may launch nodes.
	RulePool Rule = "pool"
	// RuleOffering: an option of a new node is in the catalog of its NodePool and can be launched now.
	RuleOffering Rule = "offering"
	// RuleReservation: no more nodes count on a capacity reservation than it has instances left.
	RuleReservation Rule = "reservation"
	// RuleRequirements: the labels of a node satisfy its NodePool and the node selection of its pods, whichever option is
	// launched.
	RuleRequirements Rule = "requirements"
	// RuleTaints: a pod tolerates the NoSchedule and NoExecute taints of its node.
	RuleTaints Rule = "taints"
	// RuleFeatures: a node declares the features that its pods need, in status.declaredFeatures. No new node is known to
	// declare any.
	RuleFeatures Rule = "declaredFeatures"
	// RuleResources: the pods of a node, with its DaemonSets, fit into what it can allocate.
	RuleResources Rule = "resources"
	// RuleMinValues: the options of a new node have as many distinct values as its NodePool demands.
	RuleMinValues Rule = "minValues"
	// RuleLimits: the nodes of a NodePool stay within its limits, whichever option of each new one is launched.
	RuleLimits Rule = "limits"
	// RuleNode: pods are bound to a node that exists and stays.
	RuleNode Rule = "node"

	// RuleScheduling: a pod that is being deleted, waits for a scheduling gate, or is for a scheduler that is not asked
	// about, is left pending.
	RuleScheduling Rule = "scheduling"
	// RuleSpread: when a pod is bound, its topology spread constraints with DoNotSchedule hold.
	RuleSpread Rule = "topologySpread"
	// RuleAffinity: when a pod is bound, its required pod affinity is met.
	RuleAffinity Rule = "podAffinity"
	// RuleAntiAffinity: when a pod is bound, neither its required anti-affinity nor that of a pod before it excludes it.
	RuleAntiAffinity Rule = "podAntiAffinity"
	// RuleHostPorts: no two pods of a node use the same host port.
	RuleHostPorts Rule = "hostPorts"
	// RuleVolumes: a node has the volumes of its pods, all at once.
	RuleVolumes Rule = "volumes"
	// RuleDevices: the resource claims of a pod can be met, as far as devices can be counted.
	RuleDevices Rule = "devices"

	// RuleCapacityMix: of pods with the same requests and constraints as many are kept off spot capacity as
	// Options.CapacityMix says, unless none of their nodes could be launched as anything else within the minValues of its
	// pool. Volumes and devices tell no pods apart.
	RuleCapacityMix Rule = "capacityMix"
	// RuleSpotFlexibility: a node that may be launched as spot names as many instance types for that as
	// Options.SpotFlexibility says, unless it can be launched as nothing else within the minValues of its pool.
	RuleSpotFlexibility Rule = "spotFlexibility"

	// RuleOverlooked: an unplaced pod really has no place. Unplaced checks it; Plan does not.
	RuleOverlooked Rule = "overlooked"
)

// Violation is one way in which a plan breaks a rule.
type Violation struct {
	Rule Rule
	// Node is the name of the new or existing node concerned, if there is one.
	Node string
	// Pod is the namespace/name of the pod concerned, if there is one. Of several pods that break the rule in the same way
	// it is the first.
	Pod string
	// Message says what is wrong, in one line.
	Message string
}

// String renders the violation as one line: the rule, the node and the pod if there are such, and the message.
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

// Plan judges a plan against the input it was made from, and returns every rule it breaks, sorted by rule, node, pod and
// message without duplicates; nil means that the plan is valid. It shares no code with the solver: each node is written out
// as the Node it would be, and pods are put on it as kube-scheduler would.
//
// Every option of a new node is a promise, so each is judged by itself, and so is each set of labels that the node may
// come up with where its NodePool, instance type and Requirements leave a choice. A label that no instance type names has
// the value that NewNode.Labels gives it.
//
// Constraints between pods are judged in the order in which Plan.Order binds the pods. All new nodes are there from the
// start, with their DaemonSet pods; bound pods, and those earlier in the order, count where they are, on nodes that are being
// deleted too. The pod of a DaemonSet that an existing node lacks comes if the node is still starting, otherwise it may come
// or not. Pods of buffers come last, and their topology spreads are judged except over kubernetes.io/hostname.
//
//   - Topology spread with DoNotSchedule, of the pod or else Options.DefaultSpread: the pods that the constraint counts in the
//     domain of the node, with the pod itself if it is selected, less those of any other domain, are at most maxSkew.
//     Where there are fewer domains than minDomains, the other domain counts as empty. An empty selector counts no pods up
//     to Kubernetes 1.37, and every pod of the namespace from 1.38. As with Karpenter, a domain in which a node could be
//     launched when the plan begins counts as well, with or without one: some open NodePool offers, in stock or sold out, an
//     instance type there that the node selection and the volumes of the pod admit, and that its taints policy counts.
//   - Required affinity: a pod that all terms select is in the domain of each term, or there is none in any domain and the
//     pod selects itself.
//   - Required anti-affinity of the pod, and of the pods before it: no pod of the same domain is one that the other excludes.
//   - A new node with a pod that one of these constraints counts or belongs to, over a label other than
//     kubernetes.io/hostname, is in one domain of that label, whichever of its options is launched. Nodes of a NodePool with
//     minValues may be in several: then each of them is judged, and a pod there may be in any of them for other pods.
//   - Host ports and volumes are as in kube-scheduler's filters; the volume that a claim will be bound to is reserved by the
//     first pod that uses it. Where kube-scheduler would wait for a controller (a claim that names its volume but is not
//     marked as bound, an ephemeral volume whose claim does not exist yet) the referee looks ahead. Two pods with one claim
//     whose volume is yet to be made, and which one node at a time may use, belong in one zone.
//   - Devices are counted only: requests for an exact number of a class, on each node against all its devices of the class,
//     if those can be told. What else a resource claim asks for is taken on trust.
//
// Neither soft constraints nor Options.NodeFee make a plan invalid, and Plan.Static and Overlays are not judged. CapacityMix is
// judged for pods with the same requests, node selection and required constraints on other pods, whatever volumes and devices
// they have, and counts pods on existing nodes as kept off spot: the plan did not choose the capacity type of those.
// Input.Overlays are applied before anything else reads the catalogs. The pods of buffers may be in Create, Bind and Order
// as others are, and must come last; Plan.Buffers counts them.
//
// What nodes have in common is judged once: a list of options that they share, Requirements that read the same, pods that
// select the same. Memory grows with the catalog and with the number of pods and nodes, never with nodes times options; only
// constraints between pods take memory for each node and each distinct constraint. Time grows with the options of different
// lists; in a plan that was decoded every node has a list of its own, and the verdict is the same.
//
// A NodeClaim that is not launched, which has neither a Node nor a provider ID nor allocatable resources, takes pods too. It
// may become any instance type of its pool's catalog that its labels and requirements admit, whether or not that can be
// launched now: its room is the least that those types have of each resource, and against limits it counts with the most.
// If there is no such type, or one holds back more than it has, it has no room. Its labels are its own and the single
// values that its requirements leave.
//
// An input whose objects contradict each other is no ground to judge a plan on: then Plan returns the contradictions, each
// under [RuleInput], and nothing else.
//
// Plan trusts nothing in plan and does not panic on one that is malformed. Cost is computed anew, from what the catalog says
// of the options. LowerBound is compared with plans that exist: this one, and, for a plan without any other fault, one of the
// referee's own, in which each new node is launched as the cheapest option of its NodePool that holds its pods. That does not
// prove the bound, and does not look for the cheapest plan. Whether pods were left pending although they have a place is
// a question for [Unplaced].
//
// A nil opts means the defaults; it must be what the plan was made with. Neither in nor plan is changed, and calls may run
// concurrently.
func Plan(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) []Violation {
	if plan == nil {
		return []Violation{{Rule: RuleCompleteness, Message: "there is no plan: it is nil"}}
	}
	if found := contradictions(in, opts); found != nil {
		return found
	}
	in, plan = withStatic(in, plan)
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
	r.checkNodes()
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

// contradictions are the faults of an input that no plan can be judged against.
func contradictions(in provisioning.Input, opts *provisioning.Options) []Violation {
	r := &referee{}
	for _, f := range contradiction.Find(in, opts) {
		r.report(RuleInput, f.Node, f.Pod, "%s", f.Message)
	}
	return r.verdict()
}

// verdict sorts what was found, so that the order of checks shows nowhere.
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
		nodesNamed: map[string]*nodeInfo{},
		pods:       map[objectKey]*podInfo{},
		options:    map[cloudprovider.LaunchOption]*optionInfo{},
		lists:      map[listID]optionList{},

		topologies:     map[string]*topology{},
		antiTerms:      map[string]*antiTerm{},
		affinityGroups: map[string]*affinityGroup{},
		spreadCounters: map[string]*spreadCounter{},
		counters:       counterIndex{map[counterKey][]podCounter{}, map[string]*labelGroup{}},
		launchable:     map[string]map[string]string{},
	}
	if opts != nil {
		r.policy = cmp.Or(opts.MinValues, provisioning.Strict)
		r.nodeFee = opts.NodeFee
		r.kubernetes, _ = minors.Parse(opts.Kubernetes) // there is no plan for one that is unknown
		r.schedulers, r.reserved, r.defaultSpread = opts.SchedulerNames, opts.Reserved, opts.DefaultSpread
	}
	if r.vocabulary == nil {
		r.vocabulary = requirements.DefaultVocabulary()
	}
	if len(in.Overlays) > 0 {
		// Where overlays cannot be applied there is no plan; then the catalogs stay as they were.
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
	r.addNodes()
	r.storage = r.newStorage()
	r.fresh = make([]*newNode, len(plan.Create))
	return r
}

// addPods reads the pods to place and those of DaemonSets.
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

// askedResources are the resources that some pod asks for.
func (r *referee) askedResources() []corev1.ResourceName {
	asked := map[corev1.ResourceName]bool{}
	for _, p := range r.pods {
		for name := range p.requests.All() {
			asked[name] = true
		}
	}
	return slices.Sorted(maps.Keys(asked))
}
