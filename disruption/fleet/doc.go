// Package fleet converts lists of cluster objects, as in the caches of a controller, into the
// inputs of plans, decisions and commands, and into the objects to store. All state that must not
// be lost is in the cluster.
//
//	f, err := fleet.Read(now, fleet.Objects{...}, memory) // in each pass
//	memory = f.Memory
//	in := f.Input        // add NodePools, InstanceTypes, and what only the caller knows
//	... f.Waiting        // the pods that a plan is due for; f.Bind and f.PutOff follow from it
//	... f.Promises       // tolerations to append, Nodes to open: package nomination; f.Refuse
//	... f.Hints          // nodes to tell to pods
//	... f.Commands       // to carry on: package command, with f.CommandInput
//	... f.Leave          // Nodes to empty and to end: package drain
//	... f.EditClaims     // what to write into NodeClaims: package nodeclaim
//
// # Model
//
// Promises are read first. A pod that a plan placed on a new node is pending until that node has
// joined, and a pod that will be evicted still runs on its old node. In all inputs of Read each of
// them is only on its promised node. So a later plan, also after a restart, neither launches
// another node for the pod nor uses its place.
//
// Commands are read from the records in NodeClaims and Nodes: the nodes that they remove are
// [disruption.Input].MarkedForDeletion, and the nodes that they launch are kept for the pods of
// these.
//
// # Left out
//
// NodePools, instance types, volumes, namespaces, and data of a provider: the caller adds them to
// the Input.
//
// # Guarantees
//
// Read is pure and safe for concurrent use, and so are all methods except those that add to Memory,
// and Prepare, which removes from Input. Objects are not changed; deep copies are made only of pods
// whose node in Input differs. The order of lists does not matter.
package fleet
