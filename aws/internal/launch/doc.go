// Package launch gets instances from EC2.
//
// Input: the options of LaunchRequests. Output: calls of CreateFleet, and which instance
// belongs to which request. Invariant: no token ever has two instances, also if a process
// ends with calls under way and the next one groups its requests otherwise.
//
// # Model
//
//   - [Select] filters and orders the options of a LaunchRequest, in the order
//     that Karpenter has: reservations first, one kind of them; capacity blocks
//     down to one; then machines out of the ordinary, spot capacity dearer than
//     on demand, and what is beyond sixty instance types.
//   - A [Spec] is what a launch asks for, but for subnets and numbers. Launches
//     with equal keys ([Spec.Key]) can go in one call. [Spec.Request] writes it.
//   - [Addresses] chooses subnets: in each zone the one with the most free addresses.
//     EC2 counts these now and then only, so [Addresses.Choose] takes what a launch may
//     need off before the launch, and [Claim.Settle] gives back what was not needed.
//   - [ReadAnswer] reads the answer into [Launched] and failures ([Failure]), and [Judge] turns
//     the failures into one error, each refusal with the scope that it is about: an
//     offering, a reservation, a zone, a quota.
//   - One call may launch for many requests, and gives all instances the same tags. A
//     [Roster] lists the requests in those tags, in order: of each a mark, which is a
//     hash of its token, and the name of its NodeClaim. The instances, in the order of
//     their ids, belong to the requests in the order of the roster.
//   - A [Record] is what EC2 says of an instance. [Instances] asks for records and
//     terminates instances, and puts calls that come together into one.
//   - A [Book] holds everything that makes a launch happen once. [Book.Find] says what
//     there is for a token, [Book.Begin] enters the calls of a batch before they are
//     made, [Book.End] what came of each; and [Book.Once] is the order of the three.
//     What an earlier process may have asked for is read off the tags and waited for,
//     and calls without an answer are made again, word for word.
//
// # Left out
//
// Launch templates: see package launchtemplate. Labels, prices and capacity of
// instances, which need the catalog. What was refused lately is an argument.
//
// # Guarantees
//
// But for [Instances], [Addresses] and a [Book], which any number of goroutines may use,
// everything is a function of its arguments, which are not modified. The same Spec gives
// the same request to the byte. Nothing panics on any answer of EC2 nor on any tag, and
// what is no roster is not taken for one. Nothing is said of instances of other
// clusters.
package launch
