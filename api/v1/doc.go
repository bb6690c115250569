// +k8s:deepcopy-gen=package

// Package v1 has the objects that users of a node autoscaler write and read:
// NodePool, NodeClaim and NodeOverlay of the API group karpenter.sh. They load
// from the manifests that Karpenter accepts, unchanged, and are written back in
// the same words.
//
// # Model
//
// A NodePool says which nodes may exist: a template of labels, taints and requirements, limits, and
// how nodes are replaced. Its budgets bound how fast. A NodeClaim is the request for one node, made
// from a pool's template. A NodeOverlay corrects a cloud provider's prices and extended resources.
// The configuration of machines is in the provider's NodeClass, which is not in this package; pools
// and claims refer to it.
//
// An object goes through these steps, none of which needs a cluster:
//
//	Decode    text to object; strict, all faults at once, with paths; Document.Line has their lines
//	Default   fills in what was left out, as the API server would
//	Validate  judges the object, as the API server and Karpenter would
//	Hash      the drift hash of a NodePool, equal to Karpenter's
//
// NodePool and NodeClaim are version v1, NodeOverlay is v1alpha1. All live in this one package,
// because they differ only in GroupVersion and GroupVersionAlpha.
//
// Empty lists and maps of a spec differ from omitted ones, also when they are written back: an
// empty list of budgets is not the default budget, and the drift hash of an empty map differs from
// that of none.
//
// # What is left out
//
// There are no clients, informers or controllers here, no cron evaluation of budgets (see package
// budgets), no requirement algebra (see package requirements), and no knowledge of any cloud. Rules
// pass a provider's labels to validation.
//
// # Guarantees
//
// Everything is a function of its arguments: no clock, no I/O, no log, no package variable that
// changes. Only Default, SetGroupVersionKind and the Into functions write to what they are given.
// Faults come in a fixed order that does not depend on the order of maps. No external input causes a panic,
// except in functions whose name begins with Must. All functions may be called concurrently as long
// as their arguments are not modified.
package v1
