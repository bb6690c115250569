// Package planreplay says what becomes of a plan when kube-scheduler binds its pods.
//
// A plan fills nodes that do not exist yet. They come up one after the other, and
// kube-scheduler puts pods where its scores like them best, not where the plan meant
// them: the first nodes that are ready take pods of others, and in the end a pod
// with a constraint finds no room where it may go. Then another node is launched. What a
// plan costs on paper is less than what the cluster pays in the end, and this package
// measures by how much.
//
//	scheduler, err := kubescheduler.Start(ctx, path) // which kubescheduler/build made
//	report, err := planreplay.Plan(ctx, in, plan, planreplay.Options{Scheduler: scheduler})
//	report.Expected(), report.Worst() // USD per hour; plan.Cost on paper
//
// # Model
//
// [Plan] carries the plan out several times, in as many orders in which nodes may come
// up. Each node is launched as its cheapest option and takes part from the moment that it
// is ready, with its DaemonSet pods. Each time nodes come up, all pending pods are tried, by
// priority and age: kube-scheduler's own plugins filter and score the nodes, in its default
// profile and its minor version; between nodes of equal score chance decides. When all are up
// and pods are left, they are planned for again, next to the nodes that are there, until none
// is left or nothing more is launched.
//
// With [Options.Reserved] a new node takes only the pods that the plan has for it until
// they are bound, as package nomination has it; that costs what the plan says.
//
// # Left out
//
// Preemption, extenders, images and devices of new nodes, and the DaemonSet pods that nodes
// of the input lack. A scheduling attempt takes no time: nodes that come up within seconds are
// one arrival or several, and orders of both kinds are tried.
//
// # Guarantees
//
// Same input and same program, same report: what kube-scheduler draws is drawn from the number
// of the run. Nothing that is given is changed. A program answers one call at a time.
package planreplay
