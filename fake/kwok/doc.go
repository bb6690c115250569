// Package kwok is a cloud whose machines are Node objects without a machine behind them, on any
// API server: a controller runs on it as it would run on a cloud that costs money. [kwok] makes
// such Nodes ready and runs pods on them, as far as the API server can tell.
//
// # Model
//
//   - [New] joins a catalog, such as that of package fake/catalog, with a [Store]: the Nodes of
//     the cluster, for which any client of its API will do.
//   - Create makes a Node for the first option of a request that is not sold out, with the
//     labels, taints and room that a kubelet would register it with. Its name comes from the
//     token, so there is one machine for each token.
//   - Delete annotates the Node with [TerminatedAnnotation]: the machine is gone then, and its
//     Node stays until it is deleted, as in other clouds.
//   - Whoever plays the cloud annotates a Node with [NoticeAnnotation], and Interruptions has a
//     notice for it until that is acknowledged.
//
// # Left out
//
// Everything that takes time. Use package fake for a cloud with delays, stock and faults.
//
// # Guarantees
//
// The provider keeps nothing: all that it knows is in the Nodes, so a second one, or one after a
// restart, goes on where the first was. It passes cloudprovidertest, and all its methods may be
// called at once.
//
// [kwok]: https://kwok.sigs.k8s.io
package kwok
