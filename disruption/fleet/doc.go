// Package fleet reads a cluster: from lists of objects, as the caches of a controller have
// them, to the inputs of plans, decisions and commands, and to what is to be stored. What
// must not be lost stands in the cluster.
//
//	f, err := fleet.Read(fleet.Objects{...}, memory, now) // in each pass
//	memory = f.Memory
//	in := f.Input        // add NodePools, InstanceTypes, and what only the caller knows
//	... f.Waiting        // the pods that a plan is due for; f.Bind and f.PutOff follow from it
//	... f.Promises       // tolerations to append, Nodes to open: package nomination; f.Refuse
//	... f.Hints          // nodes to tell to pods
//	... f.Commands       // to carry on: package command, with f.View
//	... f.Leave          // Nodes to empty and to end: package drain
//	... f.EditClaims     // what to write into NodeClaims: package nodeclaim
//
// # Model
//
// Promises come first. A pod that a plan put on a node which is coming is pending until
// that node has joined, and a pod that will be evicted still runs where it was: either
// counts as being on the node that is promised to it, and nowhere else, in all inputs that
// Read makes. So a plan that is made meanwhile, by whoever takes over after a restart,
// launches nothing for it again, and fills no place that it will take.
//
// Commands come from the records in NodeClaims and Nodes: what they remove is
// [disruption.Input].MarkedForDeletion, and what they launch is kept for the pods of that.
//
// # Left out
//
// NodePools, instance types, volumes, namespaces, and what a provider says: the caller has
// them, and they go into the Input as they are.
//
// # Guarantees
//
// Read is pure and safe for concurrent use, and so are methods but those that add to Memory,
// and Prepare, which takes from Input. Objects are read, and none is changed or copied but pods
// whose node differs from where they are. The order of lists has no meaning.
package fleet
