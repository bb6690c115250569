// Package drain decides which pods of nodes that are removed or rebooted to evict or delete now,
// and when the nodes are empty. It does the work of Karpenter's termination controller, as pure
// functions of observed state.
//
//	node, err := drain.Observe(now, claim, node, pods)
//	result, err := drain.Plan(now, drain.Input{Nodes: []drain.Node{node}, Budgets: budgets}, nil)
//
// A program closes the node to new pods with [CloseNode], stores its deadline with [Bound], and
// calls [Plan] again when a pod, budget or attachment changes and at Result.Next. [PodPlan.Eviction]
// and [PodPlan.DeleteOptions] are the requests to send. A program may stop between any two of them:
// the next one completes evictions that the API server has granted ([Budget.Granted]).
//
// # Left out
//
// Nothing here talks to a cluster. The caller deletes the machine once a node is [Done].
//
// # Guarantees
//
// Nothing is remembered between calls, inputs are read-only, and the same input gives
// the same result, whatever the order of its lists. All functions may be called from
// any number of goroutines.
package drain
