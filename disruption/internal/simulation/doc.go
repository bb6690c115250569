// Package simulation asks the engine, package provisioning, what becomes of pods when some
// nodes go.
//
// Input: a [state.Cluster] and what was decided before ([Decision]). Output: for some nodes that
// go together, a [CandidateSet] for each of them, or for those that share new nodes,
// with the place of every pod, or with the rule that keeps it.
//
// Invariant: a [Simulation] is the cluster once everything that was decided is done, pods that
// wait have their places, and what it accepts changes it ([Simulation.CarryOut],
// [Simulation.Replace], [Simulation.Begin]). There is one for a proposal. The engine
// alone finds places. [Landing] alone says whether pods may land in the order in which actions
// are carried out.
//
//   - simulation.go: the cluster as the engine is asked about it.
//   - candidate_set.go: one question, and its answer taken apart.
//   - replacements.go: what nodes of which each has to be replaced are replaced by.
//   - topology_counts.go, movable_pods.go, affinity_terms.go: which pods stay in their domains.
//   - landing.go, footprint.go: whether pods land in their turn, and what comes before what.
//   - limits.go: the limits of pools while nodes that go are still there.
//   - market.go: what was compiled, for the next simulation.
package simulation
