// Package planreplay simulates how kube-scheduler binds the pods of a plan.
//
// A plan fills nodes that do not exist yet. They come up one after the other, and kube-scheduler
// binds each pod to the node with the best score, which may differ from the plan's. The first nodes
// that are ready take pods that the plan put elsewhere, and in the end a pod with a constraint may
// find no node. Then another node is launched. The cost of a plan is therefore less than what the
// cluster pays in the end, and this package measures the difference.
//
//	scheduler, err := kubescheduler.Start(ctx, path) // which kubescheduler/build made
//	report, err := planreplay.Plan(ctx, in, plan, planreplay.Options{Scheduler: scheduler})
//	report.Expected(), report.Worst() // USD per hour; compare with plan.Cost
//
// # Model
//
// [Plan] carries the plan out several times, each time with another order in which nodes come up.
// Each node is launched as its cheapest option and takes part from the moment when it is ready,
// with its DaemonSet pods. Whenever nodes come up, all pending pods are tried, by priority and age:
// kube-scheduler's own plugins filter and score the nodes, in its default profile and its minor
// version. Nodes of equal score are chosen at random. When all nodes are up and pods are left, a
// new plan is made for those pods with the existing nodes. This repeats until no pod is left or
// nothing more is launched.
//
// With [Options.Reserved] a new node takes only the pods that the plan has for it until they are
// bound, as package nomination does. The cost is then that of the plan.
//
// # Left out
//
// Not simulated: preemption, extenders, images and devices of new nodes, and the DaemonSet pods
// that nodes of the input lack. A scheduling attempt takes no time. Nodes that come up within
// seconds may be one arrival or several, and orders of both kinds are tried.
//
// # Guarantees
//
// The same input and the same program give the same report: random choices depend on the number of
// the run. Inputs are not changed. A program answers one call at a time.
package planreplay
