// Package drain says which pods of nodes that end or reboot to evict or delete now,
// and when the nodes are empty. It is what the termination controller of Karpenter
// does, as pure functions over what is observed.
//
//	node, err := drain.Observe(claim, node, pods, now)
//	result, err := drain.Plan(now, drain.Input{Nodes: []drain.Node{node}, Budgets: budgets}, nil)
//
// A program closes the node to new pods by [CloseNode], writes its deadline down by
// [Bound], and asks [Plan] again when a pod, budget or attachment changes and at
// Result.Next. [Step.Eviction] and [Step.DeleteOptions] are the requests to send. A
// program may end between any two of them: what the API server has granted to it is taken
// up by the next one ([Budget.Granted]).
//
// # Left out
//
// Nothing here talks to a cluster. Deleting the machine once a node is [Done] is the
// affair of the caller.
//
// # Guarantees
//
// Nothing is remembered between calls, inputs are read-only, and the same input gives
// the same result, whatever the order of its lists. All functions may be called from
// any number of goroutines.
package drain
