// Package compare predicts a cluster under other policies: what if this NodePool had another limit,
// that overlay did not exist, or the catalog had other machines.
//
// # Model
//
//   - A [Side] is the cluster under one set of policies: NodePools, NodeOverlays,
//     instance types and options. [Side.With] makes the other side.
//   - [FromEmpty] plans all pods of a side from empty, which gives the [Fresh] bill. [Settle]
//     simulates consolidation of the present nodes until nothing changes any more, which gives the
//     bill at rest and the steps: rounds, evictions, the peak of nodes, and when budgets allow
//     each drifted node to be replaced.
//   - [Compare] does both for two sides and lists each [Difference] with its reason and its nodes.
//
// # What it leaves out
//
// Nothing is launched or evicted. In the simulation every launch succeeds at the cheapest option,
// pods start at once on the planned node, and there are no changes except those of the policies.
// PodDisruptionBudgets stay as in the input.
//
// # Guarantees
//
// All functions are pure: the instant is an argument, inputs are not changed, and the order of
// slices does not matter. A side compared with itself has no difference. They may be called from
// any number of goroutines, and Compare starts goroutines unless Options.Parallel is 1.
//
// The Example of Compare shows the whole of it.
package compare
