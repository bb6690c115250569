// Package launch turns the options of a launch request into the list for the cloud: filtered,
// ordered, and cut to the limit of one call.
//
// # Model
//
// [Select] takes a LaunchRequest and [Options], and gives a [Selection]: the options to send, best
// first, and every other option with the reason why it is not sent. It works in steps:
//
//  1. Options that cannot be launched are left out.
//  2. So is spot capacity that is dearer than the cheapest on-demand capacity.
//  3. So are capacity types that one call cannot mix.
//  4. Exotic machines go last, unless the request asks for them. The rest is cheapest first.
//  5. The list is cut to the limit, so that minValues hold as far as possible.
//
// Before it, the controller calls Request of package provisioning/nodeclaim, which makes the
// request from the stored NodeClaim and a catalog, so that no other state is needed between a
// decision and its launch.
//
// # Left out
//
// Subnets, images, launch templates, and the choice among reservations, which depend on the cloud.
// A LaunchRequest has only options that fit the pods, so resources are not checked again.
//
// # Guarantees
//
// The same request gives the same Selection, whatever the order of its options. Inputs are not
// modified. A Selection contains only options of the request, and each option is either selected or
// dropped with a reason.
package launch
