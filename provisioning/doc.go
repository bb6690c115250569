// Package provisioning decides which nodes to launch for pending pods, and which of these pods fit
// on existing nodes. It is the decision of Karpenter's provisioner as a pure function: a snapshot
// in, a plan out.
//
//	plan, err := provisioning.Solve(ctx, provisioning.Input{
//		NodePools:     pools,
//		InstanceTypes: catalog, // by pool
//		Nodes:         nodes,
//		Pods:          pending,
//	}, nil)
//
// # Model
//
//   - A NodePool and one offering of an instance type (a zone, a capacity type, a price) form an
//     option: one way to launch a node. The node has the labels of both, and room for what the type
//     can allocate minus the DaemonSets that would run there.
//   - A pod may go to a node whose labels satisfy its nodeSelector and one term of its required
//     node affinity, whose NoSchedule and NoExecute taints it tolerates, whose host ports are free,
//     which can attach its volumes and has room for its requests and devices. Topology spread, pod
//     affinity and anti-affinity are kept for all pods: bound, placed and pending ones. The rules
//     are those of kube-scheduler: [Plan.Order] is an order in which kube-scheduler would bind the
//     pods as planned.
//   - Preferences of pods are weighed against cost ([Options].PreferenceCost) and never leave a pod
//     unplaced.
//   - Pods that are equal in all of this form a class and are placed by count.
//   - Existing nodes are filled first. The remaining pods go to new nodes of the heaviest pools
//     that can take them, at the lowest cost within one weight and within the limits of the pools.
//     A node that no heavier pool could launch may also take pods for which heavier pools would
//     otherwise launch nodes.
//   - A new node lists every option that holds all its pods, cheapest first, so that the provider
//     can choose. minValues of a pool requires a number of choices.
//   - Scarce room and limits go to the pods of higher priority first. So do reservations for pods
//     that can use nothing else; the rest of the reservations goes where it saves most. Capacity
//     buffers are placed after all pods.
//   - An unplaced pod has an [Explanation]: why every pool refused it, or the constraint that excludes it
//     from every pool. [Plan.Why] says why a node is not of another instance type.
//   - [Plan.Cost] is the cost of the new nodes, [Plan.LowerBound] a lower bound on the cost of any
//     plan for the same pods, and [Plan.PackingBound] a lower bound for plans with the same zones
//     and the same pods on existing nodes.
//
// # What is left out
//
// The package uses neither a cluster nor a cloud. The caller says which pods are pending (Match
// finds those without a node), gets the catalog from a cloudprovider.CloudProvider, and carries the
// plan out by [NewNode.Request] or [NewNode.NodeClaim]. kube-scheduler binds the pods. Package
// disruption decides which nodes to remove.
//
// kube-scheduler and the drivers decide which devices of a node a pod gets; this package counts
// devices. A pod that requires something not modelled stays unplaced with [CauseUnsupported]: it is
// never placed as if it did not. docs/design.md lists where the solver is conservative and may
// overlook a place.
//
// # Guarantees
//
// The same input gives the same plan, to the byte, whatever the order of its slices and maps and
// the number of processors: every list has an order that its comment states. Work is bounded by
// counted steps and not by time; ctx only aborts. Inputs are read-only, and plans point into them.
// Several goroutines may use a [Problem] and the functions at once. [Prepare] starts goroutines of its
// own, unless Options.Parallel is 1, and they end before it returns. All faults of the input are
// reported at once, as [InputError]; no input makes the package panic.
//
// Package verify checks any plan, whichever program made it, without the code that makes plans.
//
// # Examples
//
// Read the example of [Solve] first, then that of verify.Plan. Those of [NewNode] show how to carry
// out a plan, and that of [Faults] how invalid input is reported.
package provisioning
