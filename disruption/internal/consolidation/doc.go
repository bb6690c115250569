// Package consolidation searches for cheaper ways to run the pods of a cluster.
//
// Input: candidates, a [simulation.Simulation] and the [admission.Quota] of budgets. Output: the
// sets of nodes that are worth removing, in the order in which they were found, and for each other
// candidate the reason why it stays. Invariant: an estimate only guides the search. Every set that
// is found was simulated with all sets found before it, saves what [Rules] require, and may begin
// by the budgets.
//
// # What an action must satisfy
//
// Any set of nodes may be removed, and replaced by any number of new nodes or by none. Every
// proposed action has been simulated: with all proposed actions done, the engine (package
// provisioning) found a place for every pod that needs one, on nodes that stay or on new nodes.
// Actions are valid in the order in which they are listed. An action that is not carried out only
// leaves more room for the others, and Action.After names the actions that have to be done before.
// An action is as small as possible: two nodes are removed in one action only if their pods share a
// new node.
//
// An action saves at least the amount that Options require, whichever option of its replacements is
// launched. It never launches an instance type that it removes. A spot node is replaced by one spot
// node only if there are Options.SpotFloor types to choose from. Pods move neither to settling
// nodes (see [state.Cluster.Settles]) nor to nodes that are not initialized.
//
// Pods with a required topology spread, affinity or anti-affinity over zones, and pods that such
// affinity selects, stay in their zones if the constraint is satisfied now, so that most actions
// may begin together. There is one exception: of all pods that move, one pod of each spread may
// change its zone, if the spread is satisfied with that pod moved and no other. Some constraints do
// not pin pods: a spread or an affinity that is violated now, one that selects pods which do not
// have it, and an affinity over nodes. Actions that move such pods are carried out one after the
// other. Each such action is accepted if kube-scheduler admits its pods in the state that the
// actions before it leave. Constraints of pods that stay are not checked. Options.DefaultSpread of
// package provisioning counts like a pod's own spread.
//
// Budgets bound how many nodes the search considers. The Admission of Quota decides in the end.
//
// # The search
//
// The search has these steps:
//
//  1. With up to six candidates, every set is tried that could save more than the best set so far.
//     On more than 500 nodes only the most promising sets are tried. Each set is also tried with
//     its pods on the nodes that the estimate chose for them. The best set is accepted, and the
//     step repeats.
//  2. With more candidates, an estimate chooses the nodes to remove: see Stats of package
//     simulation. They are tried together. In fleets of up to 300 nodes, if the nodes are many and
//     the estimate promises to launch less, they are tried once more with pods on the nodes that
//     the estimate chose. If a set is not worth removing, its halves are tried.
//  3. If step 2 found nothing, single nodes and sets of neighbours are tried where the estimate
//     promises a saving, until several in a row are not worth doing.
//  4. If something was found, the search is repeated once with the remaining nodes.
//  5. In fleets of up to 300 nodes, if nothing was found that may begin, each node is tried alone,
//     with its pods free to change their zones. Afterwards no node is left that could be removed
//     alone, or replaced at the required saving, unless MaxSteps ended the search.
//
// Sets that budgets do not allow to be removed together are skipped. In the end some of them are
// simulated, those with the fewest nodes first: if removing such a set would be worth it, the
// budget is the reason why its nodes stay. This does not change what is proposed.
//
// Carrying out the proposals and searching again comes to an end, because each action makes the
// cluster cheaper.
//
// # Files
//
//   - search.go: the order of the search, and what is accepted.
//   - batch_search.go: many nodes at once, and halves of sets that fail.
//   - local_search.go: single nodes, and neighbours.
//   - exhaustive.go: all sets of a few nodes.
//   - price_rules.go: what a set must save, and what its replacements may be.
//   - unconsolidatable.go: why a node stays.
package consolidation
