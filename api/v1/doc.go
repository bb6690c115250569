// +k8s:deepcopy-gen=package

// Package v1 has the objects that users of a node autoscaler write and read:
// NodePool, NodeClaim and NodeOverlay of the API group karpenter.sh. They load
// from the manifests that Karpenter accepts, unchanged, and are written back in
// the same words.
//
// # Model
//
// A NodePool says which nodes may exist: a template of labels, taints and
// requirements, limits, and how nodes are replaced. Budgets within it bound how
// fast. A NodeClaim is one node that was asked for, made from a pool's template.
// A NodeOverlay corrects what a cloud provider says about prices and extended
// resources. What a machine is made of is in the provider's own NodeClass, which
// is not in this package; pools and claims point at it.
//
// An object goes through these steps, none of which needs a cluster:
//
//	Decode    text to object; strict, all faults at once, with paths
//	Default   fills in what was left out, as the API server would
//	Validate  judges the object, as the API server and Karpenter would
//	Hash      the drift hash of a NodePool, equal to Karpenter's
//
// NodePool and NodeClaim are version v1, NodeOverlay is v1alpha1. All live in
// this one package, because an overlay is nothing but its own fields; only
// GroupVersion and GroupVersionAlpha differ.
//
// Lists and maps of a spec that are empty are told from ones that were left out,
// also when they are written back: no budgets is not the default budget, and the
// drift hash of an empty map differs from that of none.
//
// # What is left out
//
// There are no clients, informers or controllers here, no cron evaluation of
// budgets (see package budgets), no requirement algebra (see package
// requirements), and no knowledge of any cloud. Rules carry what a provider
// knows about labels to validation.
//
// # Guarantees
//
// Everything is a function of its arguments: no clock, no I/O, no log, no
// package variable that changes. Only Default, SetGroupVersionKind and the Into
// functions write to what they are given. Faults come in a fixed order, whatever
// the order of maps. No input from outside makes a function panic; only
// functions whose name begins with Must do, and they say so. All functions may
// be called concurrently as long as nobody writes to their arguments.
package v1
