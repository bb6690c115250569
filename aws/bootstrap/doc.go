// Package bootstrap makes the user data with which an EC2 instance boots, joins
// an EKS cluster and registers as a Node.
//
// # Model
//
//   - A [Node] has all inputs of user data: the cluster, labels, taints, [Kubelet] settings and the
//     text that a user wrote in spec.userData.
//   - [Render] makes the [UserData] of the node's family from it: a multipart MIME archive with a
//     shell script (AL2) or a NodeConfig (AL2023), TOML settings (Bottlerocket), PowerShell
//     (Windows), or the user's text as it is (Custom).
//   - [Node.RegistrationLabels] and [Node.RegistrationTaints] are what the Node
//     has when it appears.
//
// # Precedence
//
// The user's text is added to the generated user data and does not replace it:
//
//	AL2          the user's parts run first, the generated script last
//	AL2023       the user's parts come first, the generated NodeConfig last;
//	             nodeadm merges them in order, so what is generated wins, and
//	             kubelet flags add up
//	Bottlerocket the user's settings are merged with those generated, which win;
//	             node-labels are merged label by label
//	Windows      the user's commands run first
//	Custom       there is only the user's text
//
// There is one exception. If the DNS address comes from kube-dns or the CIDR and not from
// spec.kubelet, an address in the user's NodeConfig or settings overrides it. UserData.Warnings
// lists all other values of the user's text that are overridden.
//
// # Left out
//
// There is no call to AWS or to a cluster. The number of pods of an instance type, the values of
// CEL expressions and the version of an image are arguments. An EC2NodeClass is not validated as a
// whole, but values that would prevent a node from joining are refused.
//
// # Guarantees
//
// User data is a function of the Node alone, and the same to the byte each time, except that the
// version of Go may change compressed bytes. Inputs are never modified. No value can break out of
// its quotes: names, labels and taints are checked as Kubernetes and EKS check them, and other
// values are quoted for their language. Bad input gives errors that name the field and the remedy,
// all of them at once, and no panic. All functions may be called from several goroutines.
package bootstrap
