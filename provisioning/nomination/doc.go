// Package nomination reserves the new nodes of a plan for their pods until kube-scheduler has bound
// them. Its only state is in the cluster.
//
// A plan places pods on nodes that do not exist yet. They become ready one by one, and
// kube-scheduler binds any pending pod to the first one: the pods that the plan placed there find
// no room later, and another node is launched. A taint that is unique to the node until its pods
// are bound prevents that:
//
//	claim, err = nomination.Reserve(now, claim, node.Pods, nil) // before it is created
//	...
//	state, err := nomination.Review(now, in, nil)               // each time something changes
//	for _, p := range state.Pods {  // leave them, and those of state.Moving, out of the next plan
//		... append p.Toleration to the pod
//	}
//	for _, n := range state.Nodes { // open those whose pods are there, or late
//		... store n.Opened, if it is not nil
//	}
//
// # Model
//
// [Reserve] records the pods of a NodeClaim in it: an annotation with their UIDs, controllers and
// sizes, and a startup taint whose value is unique to the claim. [Review] reads the cluster and
// returns which pending pods have a promised node, and until when; which toleration each of them
// lacks; and which nodes can be opened to all pods. It has no state, so a restart, a missed event
// or a second replica changes nothing. Every write that it returns may fail or be repeated.
//
// A promise ends, for a pod, when the pod is bound anywhere or has finished; when the NodeClaim is
// being deleted, as after a launch that found no capacity; when a later plan promised the pod
// another node; and when time is over: [Options.Launch] after the creation of the claim if the node
// is not ready, [Options.Hold] after the node became ready and the pod was created. A pod that has
// yet to be evicted keeps its promise for [Options.Move]. A pod whose promise has ended belongs into
// the next plan. A node is opened when it waits for none of its pods any more.
//
// Pods that are recreated under another name, as those of a ReplicaSet after an eviction, are
// recognised by their controller and their requests: such a pod takes the place of a deleted pod,
// and if a new pod is bound elsewhere, one place is no longer kept. So a replacement node is kept
// for the pods of other nodes while they are evicted. A pod of a StatefulSet is recreated under its
// name and recognised by it as well, because its volumes may be in one zone only. A pod whose name
// was not generated, as those of operators, takes the place of its name before any other.
//
// Equal pods may exchange nodes, which is necessary if a plan is carried out in another order than
// planned: a pod that does not fit on its ready node gets the tolerations of all nodes that are
// kept for equal pods, and the pod whose place it takes waits for the place that it leaves.
//
// # Effects on other components
//
//   - kube-scheduler tries a pod that is recreated after an eviction before the pod can get its
//     toleration. If it finds no open node, it preempts pods of a lower priority elsewhere. So open
//     the node ([Opened]) before the first of its pods is evicted, if there are such pods:
//     fleet.Departure.Open lists these nodes. Keep all others closed: on open nodes recreated pods
//     land in another order than planned, and the last ones find no room.
//   - A DaemonSet that does not tolerate the taint gets its pod when the node is
//     opened. Plans keep room for it.
//   - Pods may only gain tolerations. A pod that was promised several nodes one after the other has
//     a toleration for each; values are not reused.
//   - List a pod that cannot be changed (because a webhook refuses it) in [Input.Refused]: no node
//     waits for it, and kube-scheduler binds it anywhere.
//   - The taint delays the condition Initialized of the NodeClaim, as any startup taint does. A
//     program that waits for an initialized replacement before it evicts the replacement's pods
//     must treat the Node as ready once its phase is Filling.
//
// # Left out
//
// Binding pods, which would bypass kube-scheduler, and preemption. A program that may not change
// pods sets [Options.NoTaint]: promises are the same, nodes are open from the start, and
// [Place.Node] is the hint for status.nominatedNodeName.
//
// All functions are pure and safe for concurrent use; they do not modify their arguments.
package nomination
