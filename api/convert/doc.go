// Package convert rewrites the manifests of earlier versions of Karpenter as
// those of version v1:
//
//	karpenter.sh/v1alpha5       Provisioner, Machine    NodePool, NodeClaim
//	karpenter.k8s.aws/v1alpha1  AWSNodeTemplate         EC2NodeClass
//	karpenter.sh/v1beta1        NodePool, NodeClaim     NodePool, NodeClaim
//	karpenter.k8s.aws/v1beta1   EC2NodeClass            EC2NodeClass
//
// Give Convert all manifests of a cluster at once, because some settings move
// from one object to another. The kubelet section of a pool goes to its EC2NodeClass;
// where pools of one class differ, the class is copied. The provider section of a
// Provisioner becomes an EC2NodeClass. Classes get the tags and the instance profile
// of a ConfigMap karpenter-global-settings.
//
// An object of an old version is decoded strictly into the Go type of that version, converted, and
// written in the order of Karpenter's documentation. Comments in front of it stay; a Note lists the
// lines of the others. In every document, labels and annotations that were renamed are replaced.
// Documents that need no change are passed on byte for byte.
//
// A Note reports a setting that was lost, added, or that has another meaning now. Its severity is
// Action if a person has to complete something, and Error if an object was left unchanged: then a
// program should exit with 1. The result is validated as well.
//
// These are refused: they stay as they are, with a Note that names the line.
//
//   - a template that is not rendered: actions of Helm, directives of Terraform.
//     ${CLUSTER_NAME} in a text is a text like any other.
//   - a Kustomize patch or another part of an object, which lacks a field that its
//     version requires, and a Kustomization whose patches lose their target
//   - an object with a field that its version does not have, or a value of the
//     wrong type: all its faults are Notes
//   - a class with a user's launch template, whose content only AWS knows
//
// The result is a function of the arguments: no clock, no I/O, no log. Converting the result again
// changes nothing. No input causes a panic. Sources and options are not modified, and all functions
// may be called concurrently.
package convert
