// Package manifest reads a cluster from Kubernetes manifests: the output of `kubectl get -o yaml`,
// or files written by hand.
//
// The example programs share it. It is not part of the library, because a decision engine neither
// reads files nor predicts what controllers will do.
//
// The reference of examples/whatif says what is read of each kind. In addition:
//
//   - A Source is a named text. It holds YAML documents, JSON documents, or Lists of objects, in any
//     mixture. The order of sources, documents and objects does not matter.
//   - Read reports every fault of every source at once, each with file, document, line, object and
//     field. If there is one fault, nothing is returned.
//   - Some contradictions for which an API server refuses an object are faults: a request above its
//     limit, a selector that does not match the template, two default PriorityClasses. Objects with a
//     UID are not checked for them.
//   - A pod that an API server has accepted and that is bound to a node which the input does not have
//     is only noted, if the input has other nodes.
//   - Added pods of a Deployment have the labels of the ReplicaSet that runs its template. If the
//     input has no ReplicaSet of the Deployment, they are those of the only ReplicaSet that has pods.
//   - Pods without a UID are completed as the API server does (provisioning.Admitted), with the
//     RuntimeClasses and PriorityClasses of the input.
//   - Controllers are not simulated, with one exception: pods of StatefulSets get the claims of its
//     templates.
package manifest
