// Package manifest reads a cluster from Kubernetes manifests: what
// `kubectl get -o yaml` prints and what people write by hand.
//
// It is shared by the example programs and is no part of the library: reading
// files and guessing what a controller would do next is for programs, not for
// a decision engine.
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
//   - What pods refer to is read too: namespaces, services, volumes, devices,
//     priority classes; and what changes the picture: NodeOverlays and
//     CapacityBuffers, with their references resolved, and
//     PodDisruptionBudgets, for programs that remove nodes.
//   - Kinds that have no say in a plan (Secrets, EC2NodeClasses, ...) are
//     counted and ignored.
//   - Pods are bound, pending or out of the picture (finished, gated, being
//     deleted, or waiting for a DaemonSet's node).
//   - Workloads stand for the pods they still lack. A Deployment of five
//     replicas, of which three are in the input, adds two pending pods: to ask
//     "what if it were twenty", edit spec.replicas in the dump. They have the labels
//     that their controllers give: a Deployment's those of the ReplicaSet that runs its
//     template, or of the only one that has pods, if the input has no ReplicaSet of it.
//     Pods whose template names their node are bound to it, and left out where it is not there.
//   - The order of sources, documents and objects does not matter.
//
// Pods without a UID are completed as the API server does (provisioning.Admitted), with the
// RuntimeClasses and PriorityClasses of the input. LimitRanges and webhooks leave their mark
// on pods in a dump, but not on pods made from a template. Controllers are not played
// through, except that the claims are made which pods of StatefulSets get from its templates.
package manifest
