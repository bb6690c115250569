// Package nomination keeps what a plan promised to pods until kube-scheduler has kept
// it, with no memory but the cluster.
//
// A plan fills nodes that do not exist yet. They come up one by one, and
// kube-scheduler puts any pending pod on the first that is ready: pods that the plan
// meant for it find no room later, and another node is launched. A node that carries a
// taint of its own until its pods are there prevents that:
//
//	claim, err = nomination.Reserve(claim, node.Pods, now, nil) // before it is created
//	...
//	state, err := nomination.Review(in, now, nil)               // each time something changes
//	for _, p := range state.Pods {  // leave them, and those of state.Moving, out of the next plan
//		... append p.Toleration to the pod
//	}
//	for _, n := range state.Nodes { // open those whose pods are there, or late
//		... store n.Opened, if it is not nil
//	}
//
// # Model
//
// [Reserve] writes into a NodeClaim which pods it is for: an annotation with their
// UIDs, their controllers and their sizes, and a startup taint whose value is the
// claim's own. [Review] reads the cluster and says what follows: which pending pods
// have a node that is coming, and until when; which toleration each of them lacks;
// which nodes may be opened to all. It holds no state, so a restart, a missed event or
// a second replica changes nothing. Every write it asks for may fail or be repeated.
//
// A promise ends, for a pod, when the pod is bound anywhere or has finished; when the
// NodeClaim is being deleted, as after a launch that found no capacity; when a later
// plan promised the pod another node; and when time is up: [Options.Launch] after the
// claim was created while the node is not ready, [Options.Hold] after it is. A pod
// whose promise has ended belongs into the next plan. A node is opened when none of its
// pods is awaited any more.
//
// Pods that come back under another name, as those of a ReplicaSet do after an
// eviction, are known by their controller and by what they request: such a pod takes
// the place of one that is gone, and one that was created since and is bound elsewhere
// gives its place up. So a node that is launched to take the pods of others
// is kept for them while they are evicted. A pod of a StatefulSet comes back under its name, and is
// known by that as well, as its volumes may be in the zone of one node only. A pod whose name was
// not generated, as operators make them, takes the place of its name before any other.
//
// Pods that are alike may change places, and have to where a plan is carried out in another
// order than it was made for: a pod that finds no room on its node, though that is ready, is
// admitted to all nodes that are kept for pods of its kind, and who was meant to go there
// waits for the place that it leaves.
//
// # What it means for others
//
//   - kube-scheduler tries a pod that comes back after an eviction before it could get its toleration.
//     Where it finds no open node, it preempts pods of a lower priority elsewhere. So open the node
//     ([Opened]) when the first of its pods is to be evicted: fleet.Departure.Open lists such nodes.
//   - A DaemonSet that does not tolerate the taint gets its pod when the node is
//     opened. Plans keep room for it.
//   - Pods may only gain tolerations. A pod that was promised several nodes one after
//     the other carries a toleration for each; values are not used twice.
//   - A pod that may not be changed (a webhook refuses it) is named in [Input.Refused]:
//     nobody waits for it, and it goes where kube-scheduler likes.
//   - The taint delays the condition Initialized of the NodeClaim, as any startup taint
//     does. What waits for a replacement to be initialized before it evicts the pods that
//     the replacement is for has to take its Node for ready once the phase is Filling.
//
// # Left out
//
// Binding pods, which passes kube-scheduler by, and preemption. An embedder that may
// not change pods sets [Options.NoTaint]: promises are the same, nodes are open from the
// start, and [Place.Node] is the hint for status.nominatedNodeName.
//
// All functions are pure and safe for concurrent use; they change nothing they are given.
package nomination
