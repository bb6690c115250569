// Package launch makes of the options of a launch request the list that goes to
// the cloud: filtered, put in order, and cut to what one call takes.
//
// # Model
//
// [Select] takes a LaunchRequest and [Options], and gives a [Selection]: the
// options to send, best first, and for every other one the reason why it is not
// among them. It works in steps:
//
//  1. What cannot be launched is left out.
//  2. So is spot capacity that is dearer than the cheapest capacity on demand.
//  3. So are capacity types that one call cannot mix.
//  4. Machines that are out of the ordinary go last, unless they were asked for.
//     The rest is cheapest first.
//  5. What is beyond the limit is cut, so that minValues hold as far as they can.
//
// Request of package provisioning/nodeclaim comes before it, on the side of the
// controller: it makes the request out of a NodeClaim as it is stored and a catalog, so
// that nothing has to be remembered between a decision and its launch.
//
// # Left out
//
// Subnets, images, launch templates, and which reservation to use of several:
// they are each cloud's own. A LaunchRequest has only options that fit the pods,
// so resources are not looked at again.
//
// # Guarantees
//
// The same request gives the same Selection, whatever the order of its options.
// Inputs are not modified. Nothing is ever in a Selection that is not in the
// request, and each option of the request is either selected or dropped with a
// reason.
package launch
