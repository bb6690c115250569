// +k8s:deepcopy-gen=package

// Package v1 has the object in which users say how nodes on Amazon EC2 are
// made: EC2NodeClass of the API group karpenter.k8s.aws. It loads from the
// manifests that Karpenter's AWS provider accepts, unchanged, and is written
// back in the same words.
//
// # Model
//
// An EC2NodeClass says where nodes go (subnets, security groups, reservations, placement group),
// what they boot (images, user data, kubelet settings), how they are equipped (role, tags, volumes,
// network interfaces) and, in its status, what all selectors were resolved to. NodePools refer to
// it by nodeClassRef. An EC2NodeClass goes through these steps, as a NodePool does. No step needs
// AWS:
//
//	DecodeEC2NodeClass  text to object; strict, all faults at once, with paths
//	Default             fills in what was left out, as the API server would
//	Validate            judges the object, as the API server and the controller would
//	ValidateExpressions judges the expressions of spec.kubelet
//	Hash                the static drift hash, equal to that of Karpenter 1.15
//
// Image selector terms are those of package amiselect, which also judges them: AMITerms converts.
// Vocabulary, NodePoolRules and NodeOverlayRules describe the labels and resources of AWS to the
// cloud-independent packages.
//
// Empty lists and maps of a spec differ from omitted ones, also when they are written back, because
// the drift hash differs. An empty string is the same as a field left out, except behind a pointer.
// Settings of the kubelet are written back literally, because their text is hashed.
//
// # Where it is stricter than the API server
//
// Validation refuses values that the schema accepts by mistake and with which no launch could work:
// selector terms whose other fields would be ignored, tags without entries, which would select
// everything, a volume size without a number, block devices without name or volume, and tags
// reserved by AWS. Decoding is strict, as on admission: it refuses unknown fields, which a stored
// object may have if another version of the schema stored it, and a status that is not an object,
// which the API server drops. Read such an object with encoding/json.
//
// # What is left out
//
// There is no call to AWS and no AWS SDK, no user data (see package bootstrap)
// and no choice of images (see package amiselect).
//
// Expressions for maxPods and for reserved resources are found, and their values are used, but an
// ExpressionEvaluator evaluates them.
//
// # Guarantees
//
// Everything is a function of its arguments: no clock, no I/O, no log, no package variable that
// changes. Only Default and SetGroupVersionKind modify their receiver. Faults are in the order of
// the fields. No external input causes a panic. All functions may be called concurrently as long as
// their arguments are not modified.
package v1
