// Package simulation asks the engine, package provisioning, where pods go when nodes are removed.
//
// Input: a [state.Cluster] and the decisions made before ([Decision]). Output: for nodes that are
// removed together, one [CandidateSet] for each node or for nodes that share new nodes, with the
// place of every pod, or with the rule that forbids the removal.
//
// Invariant: a [Simulation] is the cluster after everything that was decided is done, and pending
// pods have their places. What it accepts changes it ([Simulation.CarryOut], [Simulation.Replace],
// [Simulation.Begin]). There is one for each proposal. Only the engine finds places. Only
// [BindOrder] decides whether pods can be bound in the order in which actions are carried out.
//
//   - simulation.go: the input of the engine.
//   - candidate_set.go: one what-if, and its answer split into sets.
//   - replacements.go: the replacements of nodes that must all be replaced.
//   - bind_order.go, footprint.go: whether pods can be bound in their turn, and which actions come
//     before others, in the state of the engine.
//   - pins.go: which pods stay in their domains.
//   - limits.go: the limits of pools while removed nodes still exist.
package simulation
