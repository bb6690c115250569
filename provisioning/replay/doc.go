// Package replay says what becomes of a plan when kube-scheduler binds its pods.
//
// A plan fills nodes that do not exist yet. They come up one after the other, and
// kube-scheduler puts pods where its scores like them best, not where the plan meant
// them: the first nodes that are ready take pods of others, and late in the day a pod
// with a constraint finds no room where it may go. Then another node is launched. What a
// plan costs on paper is less than what the cluster pays in the end, and this package
// measures by how much.
//
//	report, err := replay.Plan(ctx, in, plan, &replay.Options{Engine: opts})
//	report.Expected(), report.Worst() // USD per hour; plan.Cost on paper
//
// # Model
//
// [Plan] carries the plan out several times, in as many orders in which nodes may come
// up. Each node is launched as its cheapest option and takes part from the moment that it
// is ready. Each time nodes come up, all pending pods are tried, by priority and age: of
// the nodes that pass kube-scheduler's filters (those of package verify) the one with the
// highest score gets the pod, equals being drawn. The scores are those of
// kube-scheduler 1.36 in its default profile: least allocated, balanced allocation, soft topology
// spread (its own defaults for pods of a ReplicaSet or StatefulSet that have none), pod
// affinity, preferred node affinity and taints. When all are up and pods are left, they are
// planned for again, beside the nodes that are there, until none is left or nothing more
// is launched.
//
// With [Options.Reserved] a new node takes only the pods that the plan has for it until
// they are bound, as package nomination has it; that costs what the plan says.
//
// # Left out
//
// Preemption, images that a node has already, extenders, and pods of DaemonSets as pods
// of their own: their room is set aside. A scheduling attempt takes no time: nodes that
// come up within seconds are one arrival or several, and orders of both kinds are tried.
//
// # Guarantees
//
// Same input, same report: what kube-scheduler draws is drawn from the number of
// the run. Nothing that is given is changed, and calls may run concurrently.
package replay
