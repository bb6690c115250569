// Package bootstrap makes the user data with which an EC2 instance boots, joins
// an EKS cluster and registers as a Node.
//
// # Model
//
//   - A [Node] is all that a node has to be told: the cluster, labels, taints,
//     [Kubelet] settings and the text that a user wrote in spec.userData.
//   - [Render] makes of it the [UserData] of the node's family: a multipart MIME
//     archive with a shell script (AL2) or a NodeConfig (AL2023), TOML settings
//     (Bottlerocket), PowerShell (Windows), or the user's text as it is (Custom).
//   - [Node.RegistrationLabels] and [Node.RegistrationTaints] are what the Node
//     has when it appears.
//
// # Who wins
//
// Users add to the user data, and do not replace it:
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
// There is one exception. A DNS address that nobody asked for, because it is that
// of kube-dns or was derived from the CIDR, gives way to one in a user's NodeConfig
// or settings. What else the user's text loses is said in UserData.Warnings.
//
// # Left out
//
// There is no call to AWS or to a cluster. The number of pods that an instance
// type can have, the reservations made of CEL expressions and the version of an
// image are arguments. Whether an EC2NodeClass is valid as a whole is not decided
// here, but what would keep a node from joining is refused.
//
// # Guarantees
//
// User data is a function of the Node alone, and the same to the byte each time,
// but for compressed bytes, which the version of Go may change. Inputs are never
// modified. No value ends its quotes: names, labels and taints are checked as
// Kubernetes and EKS do, and whatever remains is quoted for its language. Bad
// input gives errors that name the field and the remedy, all of them at once, and
// nothing panics. All functions may be called from several goroutines.
package bootstrap
