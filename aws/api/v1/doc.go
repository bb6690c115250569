// +k8s:deepcopy-gen=package

// Package v1 has the object in which users say how nodes on Amazon EC2 are
// made: EC2NodeClass of the API group karpenter.k8s.aws. It loads from the
// manifests that Karpenter's AWS provider accepts, unchanged, and is written
// back in the same words.
//
// # Model
//
// An EC2NodeClass says where nodes go (subnets, security groups, reservations,
// placement group), what they boot (images, user data, kubelet settings), what
// they are (role, tags, volumes, network interfaces) and, in its status, what
// all selectors were resolved to. NodePools point at it by nodeClassRef. As for
// a NodePool, an object goes through these steps, none of which needs AWS:
//
//	DecodeEC2NodeClass  text to object; strict, all faults at once, with paths
//	Default             fills in what was left out, as the API server would
//	Validate            judges the object, as the API server and the controller would
//	ValidateExpressions judges the expressions of spec.kubelet
//	Hash                the static drift hash, equal to that of Karpenter 1.15
//
// Image selector terms are those of package amiselect, which also judges them:
// AMITerms converts. Vocabulary, NodePoolRules and NodeOverlayRules carry what is
// known about labels and resources on AWS to the packages that know no cloud.
//
// Lists and maps of a spec that are empty are told from ones that were left out,
// also when they are written back, because the drift hash tells them apart. An
// empty string is the same as a field left out, except behind a pointer. Settings of
// the kubelet are written back to the letter, as the hash is one of their text.
//
// # Where it is stricter than the API server
//
// Validation refuses what the schema lets through by mistake and no launch could
// work with: selector terms whose other fields would be ignored, tags without
// entries, which would select everything, a volume size without a number, block
// devices without name or volume, tags that EC2 keeps for itself. Decoding judges as the
// API server does, strictly: it refuses unknown fields, which an object that is stored may
// have if another version of the schema stored it, and a status that is no object, which the
// API server drops. Read such an object with encoding/json.
//
// # What is left out
//
// There is no call to AWS and no AWS SDK, no user data (see package bootstrap)
// and no choice of images (see package amiselect).
//
// Expressions for maxPods and for reserved resources are found, and their values
// put to use, but not evaluated: an ExpressionEvaluator does that.
//
// # Guarantees
//
// Everything is a function of its arguments: no clock, no I/O, no log, no
// package variable that changes. Only Default and SetGroupVersionKind write to
// what they are given. Faults come in the order of the fields. No input from
// outside makes a function panic. All functions may be called concurrently as
// long as nobody writes to their arguments.
package v1
