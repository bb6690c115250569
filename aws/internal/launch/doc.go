// Package launch gets instances from EC2.
//
// Input: the options of LaunchRequests. Output: calls of CreateFleet, and which instance belongs to
// which request. Invariant: no token ever has two instances, even if a process ends with calls
// under way and the next one groups its requests differently.
//
// # Model
//
//   - [Select] filters and orders the options of a LaunchRequest, in the order that Karpenter has:
//     reservations first, one kind of them; capacity blocks down to one; then it drops unusual
//     machines, spot capacity dearer than on demand, and instance types beyond sixty.
//   - A [Spec] is what a launch asks for, except subnets and counts. Launches with equal keys
//     ([Spec.Key]) can share a call. [Spec.Request] makes the input of the call.
//   - [Addresses] chooses subnets: in each zone the one with the most free addresses. EC2 updates
//     their number with a delay, so [Addresses.Choose] subtracts what a launch may need, and
//     [Claim.Settle] gives back what it did not use.
//   - [ReadAnswer] reads the answer into [Launched] and failures ([Failure]), and [Judge] turns the
//     failures into one error, each refusal with its scope: an offering, a reservation, a zone, a
//     quota.
//   - One call may launch for many requests, and gives all instances the same tags. A
//     [Roster] lists the requests in those tags, in order: of each a mark, which is a
//     hash of its token, and the name of its NodeClaim. The instances, in the order of
//     their ids, belong to the requests in the order of the roster.
//   - A [Record] is an instance as EC2 describes it. [Instances] asks for records and terminates
//     instances; it combines concurrent calls into one.
//   - A [Book] makes sure that a launch happens once. [Book.Find] looks for the instance of a
//     token, [Book.Begin] records the calls of a batch before they are made, [Book.End] the answer
//     of each; [Book.Once] runs the three in order. Launches of earlier processes are read from the
//     tags of instances and waited for, and calls without an answer are repeated unchanged.
//
// # Left out
//
// Launch templates: see package launchtemplate. Labels, prices and capacity of instances, which
// need the catalog. Recent refusals are an argument.
//
// # Guarantees
//
// [Instances], [Addresses] and [Book] may be used by any number of goroutines. Everything else is a
// function of its arguments, which are not modified. The same Spec gives the same request to the
// byte. No answer of EC2 and no tag causes a panic, and malformed tags are not read as a roster.
// Instances of other clusters are left out.
package launch
