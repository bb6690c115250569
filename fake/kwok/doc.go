// Package kwok is a cloud whose machines are Node objects without a machine behind them, on any API
// server: a controller runs with it as with a cloud that costs money. [kwok] makes such Nodes ready
// and runs pods on them, as far as the API server can tell.
//
// # Model
//
//   - [New] joins a catalog, such as that of package fake/catalog, with a [Store], which reads
//     and writes the Nodes of the cluster and is easily made from any client.
//   - Create makes a Node for the first option of a request that is not sold out, with the
//     labels, taints and resources with which a kubelet would register it. Its name comes from the
//     token, so there is one machine for each token.
//   - Delete annotates the Node with [TerminatedAnnotation]: the machine is gone then, and its
//     Node stays until it is deleted, as in other clouds.
//   - A test or a person annotates a Node with [NoticeAnnotation]; Interruptions returns a notice
//     for it until the notice is acknowledged.
//
// # Left out
//
// Everything that takes time. Use package fake for a cloud with delays, stock and faults.
//
// # Guarantees
//
// All state is in the Nodes, so a second provider, or one after a restart, continues where the
// first stopped. The provider passes cloudprovidertest, and all its methods are safe for concurrent
// use.
//
// [kwok]: https://kwok.sigs.k8s.io
package kwok
