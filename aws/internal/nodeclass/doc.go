// Package nodeclass resolves the selectors of an EC2NodeClass with AWS, and writes the results into
// its status, with conditions that say whether nodes can be launched.
//
// Input: an EC2NodeClass, and the clients of AWS. Output: a [Resolution], with a copy of the class
// that has a new status. Invariant: an answer of AWS stays in force until AWS gives another one; a
// failed question changes nothing.
//
// # Model
//
//   - [Sources] has a question for each thing: instance types and their zones, prices, the cluster,
//     zonal shifts, subnets, security groups, capacity reservations, the placement group, images
//     and the parameters that name them. Package cache keeps the answers. Equal questions of
//     several classes are asked once.
//   - [Resolver.Resolve] fills the status of a class from these: a list for each
//     selector, the instance profile, and a condition for each.
//   - A [Keeper] makes the instance profile of a class that names a role. A change of the role
//     makes another profile, because running nodes keep the old one.
//
// The results of a lookup:
//
//	found                          condition True
//	nothing there, or a fault      condition False, the list is empty
//	no answer, but an earlier one   condition True, with a note on its age
//	no answer                      condition Unknown, with the reason LookupFailed;
//	                               an earlier instance profile stays in the status
//
// An earlier answer is the one that Sources keeps, or else the one in the status of the class, if
// that has the same generation. So a restart while AWS cannot be reached loses nothing.
//
// How long answers are used, unless [Options] say otherwise:
//
//	12 hours     instance types and offerings, prices on demand
//	1 hour       spot prices
//	24 hours     parameters that name one release
//	15 minutes   instance profiles
//	5 minutes    other parameters, those that do not exist, the cluster
//	10 minutes   the price file
//	1 minute     subnets, security groups, images, reservations, placement groups
//	30 seconds   zonal shifts
//
// # Left out
//
// Dry runs, for which the caller passes a function. Storing the status. Instance profiles that a
// class names itself: they are not looked up.
//
// # Guarantees
//
// The given class is not modified. The order of lists depends neither on running instances nor on
// the order in which AWS lists things. The same answers at the same instant give the same status.
// Faults name the field, its value and the remedy, all of them at once. An answer is read-only and
// may be shared. All methods may be called concurrently. Making a profile can be repeated after a
// crash at any step and gives one profile.
package nodeclass
