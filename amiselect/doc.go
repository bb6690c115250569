// Package amiselect decides which machine images nodes on Amazon EC2 boot. It reads
// amiSelectorTerms of an EC2NodeClass, says what to ask AWS for, selects images from the answer,
// and explains why a node's image is no longer selected. It also turns selections into fixed terms,
// and compares selections.
//
// # Model
//
//   - A [Term] selects images, by alias, id, name, owner, SSM parameter or tags.
//     Terms are ORed, the fields of one term are ANDed. An [Alias], such as
//     al2023@latest, stands for the images that AWS publishes for a [Family].
//   - [Queries] turns terms into SSM parameters to read and calls of
//     DescribeImages to make. The caller makes them.
//   - [Select] picks from the images: for each set of requirements (the architecture, and for an
//     alias the accelerator too) the first one by [Compare]: newest first, deprecated ones last.
//   - [Selection.For] says which image boots an instance type, and
//     [Selection.Drifted] whether and why an image is no longer selected.
//   - [Lock] turns the selection of dynamic terms into static terms, and [Diff] says which nodes a
//     change of terms would replace, and with which image. Preview of package disruption/rollout
//     says in which order and when.
//
// A term is static if it can only ever give one image: an id, a name without wildcards, an alias
// with a version. All others are dynamic. An alias with a version is only half static: the release
// is fixed, but the image is the one for the Kubernetes version of the control plane, and changes
// with that version.
//
// Beyond what Karpenter offers, [Options] hold back images that are too young
// and refuse bad ones, and an alias may end in latest~1 for the release before
// the latest.
//
// # Left out
//
// There is no call to AWS here, no cache of its answers, and no user data.
//
// # Guarantees
//
// Everything is a function of its arguments: the time and the Kubernetes version are arguments too.
// Inputs are never modified. The same input gives the same output to the byte, in any order of
// images. Bad input gives errors that name the field and the remedy, all of them at once, and no
// panic. All types may be used from several goroutines. Unless a function says otherwise, its time
// is at most proportional to terms times images.
package amiselect
