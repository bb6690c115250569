// Package manifest reads a cluster from Kubernetes manifests: the output of `kubectl get -o yaml`,
// or files written by hand.
//
// The example programs share it. It is not part of the library, because a decision engine neither
// reads files nor predicts what controllers will do.
//
// The model:
//
//   - A Source is a named text. It holds YAML documents, JSON documents, or
//     Lists of objects, in any mixture.
//   - Read decodes every object it needs and reports every fault of every
//     source at once, each with file, document, line, object and field. If
//     there is one fault, nothing is returned.
//   - NodePools and NodeClaims are decoded, defaulted and validated by package
//     api/v1.
//   - Core objects are checked against their Go types. A field the type does
//     not have is a fault, because in a manifest written by hand it is a
//     misspelling. In an object that carries a metadata.uid it is only noted:
//     an API server has accepted that object, so the field is merely newer
//     than this program. The same holds for a pod that is bound to a node
//     which the input does not have, if the input has other nodes.
//   - Objects that pods refer to are read too: namespaces, services, volumes, devices, priority
//     classes. So are NodeOverlays; CapacityBuffers, with their references resolved; and
//     PodDisruptionBudgets, for programs that remove nodes.
//   - Kinds that do not affect a plan (Secrets, EC2NodeClasses, ...) are counted and ignored.
//   - Pods are bound, pending, or left out (finished, gated, being deleted, or DaemonSet pods
//     that wait for their node).
//   - Workloads add the pods that they still lack. A Deployment of five replicas, of which three
//     are in the input, adds two pending pods: to ask "what if it were twenty", edit spec.replicas
//     in the dump. Added pods have the labels that their controllers would give them. For a
//     Deployment these are the labels of the ReplicaSet that runs its template. If the input has no
//     ReplicaSet of the Deployment, they are those of the only ReplicaSet that has pods. Pods whose
//     template names a node are bound to it, and left out if the input lacks the node.
//   - The order of sources, documents and objects does not matter.
//
// Pods without a UID are completed as the API server does (provisioning.Admitted), with the
// RuntimeClasses and PriorityClasses of the input. LimitRanges and webhooks leave their mark on
// pods in a dump, but not on pods made from a template. Controllers are not simulated, with one
// exception: pods of StatefulSets get the claims of its templates.
package manifest
