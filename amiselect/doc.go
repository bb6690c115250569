// Package amiselect decides which machine images nodes on Amazon EC2 boot. It
// reads amiSelectorTerms as they stand in an EC2NodeClass, says what to ask AWS
// for, picks from the answer, and explains when a node's image is no longer the
// one picked. It also pins, locks and rolls out.
//
// # Model
//
//   - A [Term] selects images, by alias, id, name, owner, SSM parameter or tags.
//     Terms are ORed, the fields of one term are ANDed. An [Alias], such as
//     al2023@latest, stands for the images that AWS publishes for a [Family].
//   - [Queries] turns terms into SSM parameters to read and calls of
//     DescribeImages to make. The caller makes them.
//   - [Select] picks from the images: for each set of requirements (the
//     architecture, and for an alias the accelerator too) the best one wins, as
//     [Compare] orders them: newest first, deprecated ones last.
//   - [Selection.For] says which image boots an instance type, and
//     [Selection.Drifted] whether and why an image is no longer selected.
//   - [Lock] turns what dynamic terms resolved to into terms that will not move,
//     and [Diff] says which nodes a change of terms would replace, and by what. In
//     which order and by when is told by Preview of package disruption/rollout.
//
// A term is static if it can only ever give one image: an id, a name without
// wildcards, an alias with a version. All others are dynamic. A version of an
// alias is the exception within the exception: it stays the same release, but of
// the image for the Kubernetes version of the control plane, so it moves when
// that does.
//
// Beyond what Karpenter offers, [Options] hold back images that are too young
// and refuse bad ones, and an alias may end in latest~1 for the release before
// the latest.
//
// # Left out
//
// There is no call to AWS here, nor a cache of its answers, and no user data:
// what an image needs to join a cluster is not this package's affair.
//
// # Guarantees
//
// Everything is a function of its arguments: the time and the Kubernetes version
// are arguments too. Inputs are never modified. The same input gives the same
// output to the byte, in any order of images. Bad input gives errors that name
// the field and the remedy, all of them at once, and nothing panics. All types
// may be used from several goroutines. Where a function says nothing else it takes
// time in proportion to terms times images at most.
package amiselect
