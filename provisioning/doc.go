// Package provisioning decides which nodes to launch for pods that have no room,
// and which pods fit on nodes that exist. It is the decision that Karpenter's
// provisioner makes, as a pure function: a snapshot in, a plan out.
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
//   - A NodePool and one offering of an instance type (a zone, a capacity type,
//     a price) make an option: one way to launch a node. The node has the labels
//     of both, and room for what the type can allocate less the DaemonSets that
//     would run there.
//   - A pod may go to a node whose labels satisfy its nodeSelector and one term
//     of its required node affinity, whose NoSchedule and NoExecute taints it
//     tolerates, whose host ports are free, which can attach its volumes and
//     has room for its requests and devices. Topology spread, pod affinity and
//     anti-affinity hold over all pods, bound, placed and pending.
//     kube-scheduler is the judge of each of these: [Plan.Order] is an order in
//     which it would bind the pods as planned.
//   - What pods prefer is weighed against cost ([Options].PreferenceCost) and
//     never leaves a pod without a place.
//   - Pods that are alike in all of this form a class and are placed by count.
//   - Existing nodes are filled first. What is left goes to new nodes of the
//     heaviest pools that can take it, at the least cost within one weight and
//     within the limits of the pools. A node that no heavier pool could launch is
//     filled by others before heavier pools launch for them.
//   - A new node carries every option that holds all its pods, cheapest first,
//     so that whoever launches it has a choice. minValues of a pool is a demand
//     on that choice.
//   - Scarce room and limits go to the pods of higher priority first, and so do
//     reservations where nothing else would do; what else is left of these goes
//     where it saves most. Capacity buffers come after all pods.
//   - A pod without a place comes with a [Reason]: what every pool refused it for,
//     or the constraint that leaves no place in any. [Plan.Why] says why a node is
//     not of another type.
//   - [Plan.Cost] is what the new nodes cost, [Plan.LowerBound] what no plan for
//     the same pods can undercut, and [Plan.PackingBound] what none can that puts
//     them in the same zones and on the same existing nodes.
//
// # Left out
//
// Nothing here talks to a cluster or to a cloud: the caller says which pods are
// pending (Join finds those without a node), gets the catalog from a cloudprovider.CloudProvider, and carries the
// plan out by [NewNode.Request] or [NewNode.NodeClaim]. Pods are not bound; that
// is the business of kube-scheduler. Removing nodes is another decision.
//
// Which devices of a node a pod gets is for kube-scheduler and the drivers to say:
// here devices are counted. A pod that demands what is not modelled stays unplaced
// with [CauseUnsupported]: it is never placed as if it did not. docs/design.md lists
// where the solver stays on the safe side and may overlook a place.
//
// # Guarantees
//
// The same input gives the same plan, to the byte, whatever the order of its
// slices and maps and the number of processors: every list has an order that its
// comment states. Work is bounded by counted steps and not by time; ctx only
// aborts. Inputs are read-only, plans point into them. A [Problem] and the
// functions may be used from any number of goroutines. Faults of the input are
// reported all at once, as [InputError]; nothing that comes from outside makes
// the package panic.
//
// Package verify judges any plan, whoever made it, without the code that makes plans.
//
// # Examples
//
// Read the example of [Solve] first, then that of verify.Plan. Those of [NewNode]
// show how a plan is carried out, that of [Faults] how bad input is reported.
package provisioning
