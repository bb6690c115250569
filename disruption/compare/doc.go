// Package compare says what becomes of a cluster under other policies: what if this
// NodePool had another limit, that overlay were not there, or the catalog had other
// machines.
//
// # Model
//
//   - A [Side] is the cluster under one set of policies: NodePools, NodeOverlays,
//     instance types and options. [Side.With] makes the other side.
//   - [Settle] follows one side: what runs today is planned from empty, which is the
//     [Fresh] bill, and what runs today is consolidated on paper until it rests, which
//     gives the [Settled] bill and the way there: rounds, evictions, most nodes at once,
//     and when budgets let each drifted node go.
//   - [Compare] follows two sides and lists each [Difference] with its reason and the
//     nodes concerned.
//
// # What it leaves out
//
// Nothing is launched or evicted. On paper every launch succeeds at the cheapest option,
// pods come up at once and go where the engine says; nothing comes and goes but what the
// policies do. PodDisruptionBudgets stay as they are in the input.
//
// # Guarantees
//
// All functions are pure: the instant is an argument, inputs are not changed, and the
// order of slices means nothing. A side compared with itself has no difference. They may
// be called from any number of goroutines, and Compare starts some of its own only where
// Options.Parallel asks for them.
//
// The Example of Compare shows the whole of it.
package compare
