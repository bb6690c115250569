// Package consolidation searches for cheaper ways to run the pods of a cluster.
//
// Input: candidates, a [simulation.Simulation] and the [admission.Quota] of budgets. Output:
// sets of nodes that are worth removing, in the order in which they were found, and why each
// other candidate stays. Invariant: an estimate only says where to look; what is found was
// simulated with all that was found before it, saves what [Rules] ask for, and may begin by the
// budgets.
//
// # What an action keeps to
//
// Any set of nodes may go, for any number of new ones or for none. What is
// proposed has been simulated: the engine (package provisioning) found a place
// for every pod that must have one, on nodes that stay or on new ones, with all
// that is proposed done. Actions hold in the order in which they are listed; one that
// is not carried out leaves only more room for the others, and Action.After names those
// that have to be done before. An action is as small as that allows: nodes go in one
// action only if their pods share a new node.
//
// An action saves money for certain, at least what Options asks for, whichever
// option of its replacements is launched. It never launches what it removes. A
// spot node is replaced by one spot node only with Options.SpotFloor types to
// choose from. Pods go neither to nodes that settle nor to those that are not
// initialized. Pods with a topology spread, affinity or anti-affinity over zones
// that must hold, and pods that such affinity selects, stay in their zones where
// it holds now, so that most actions may begin together; but one pod of each spread,
// of those that all nodes together move, may change its zone where the spread holds
// with that pod moved and no other. Where a spread or an affinity is broken as things
// are, or is about pods that do not have it, or an affinity is over nodes, pods change
// their zone or node one action after the other: each is taken if kube-scheduler lets its
// pods land in the state that those before it leave. Nothing is asked of pods that stay.
// Options.DefaultSpread of package provisioning counts as spreads do that pods have
// themselves.
// Budgets bound how many nodes are looked at; the Admission of Quota has the last word on them.
//
// # The search
//
// The search is in this order:
//
//  1. Of up to six candidates every set is tried that could gain more than the best
//     so far, on more than 500 nodes only those that promise most, each with pods on
//     the nodes where the estimate has them as well, and the best is taken, again and
//     again.
//  2. Of more, an estimate chooses those to remove: see Stats of package simulation.
//     They are tried together, and in fleets of up to 300 nodes once more, with
//     pods on the nodes where the estimate has them, if they are many and that
//     promises to launch less. Of a set that is not worth doing, the halves are
//     tried.
//  3. If nothing came of that, nodes are tried one by one, and with their
//     neighbours, where the estimate says that it may save something, until
//     several in a row do not.
//  4. If something was found, it begins anew, once, with the nodes that are
//     left.
//  5. In fleets of up to 300 nodes, if nothing was found that may begin, each node is
//     tried alone, with its pods free to change their zones. So there is none left that
//     could be removed by itself, or replaced at the saving asked for, unless MaxSteps
//     ended the search.
//
// Sets that budgets do not let go together are passed over. In the end some of them are asked
// about, those of the fewest nodes first: where removing one would be worth it, the budget is
// why its nodes stay. This changes nothing of what is proposed.
//
// Carrying out what is proposed, and asking again, ends: each action makes the
// cluster cheaper.
//
// # Files
//
//   - search.go: the order of the search, and what is accepted.
//   - batch_search.go: many nodes at once, and halves of what fails.
//   - local_search.go: single nodes, and neighbours.
//   - exhaustive.go: all sets of a few nodes.
//   - price_rules.go: what a set must save, and what its replacements may be.
//   - unconsolidatable.go: why a node stays.
package consolidation
