// Package nodeclass asks AWS what an EC2NodeClass selects, and says in its status what
// was found and whether nodes can be launched.
//
// Input: an EC2NodeClass, and the clients of AWS. Output: a [Resolution], with a copy of
// the class whose status is new. Invariant: what AWS said once stays in force until AWS
// says something else: that it cannot be asked changes nothing.
//
// # Model
//
//   - [Sources] has a question for each thing: instance types and their zones,
//     prices, the cluster, zonal shifts, subnets, security groups, capacity
//     reservations, the placement group, images and the parameters that name them.
//     Answers are kept by package cache. Questions of several classes that are the
//     same are asked once.
//   - [Resolver.Resolve] fills the status of a class from these: a list for each
//     selector, the instance profile, and a condition for each.
//   - A [Keeper] makes the instance profile of a class that names a role. A change of
//     the role makes another profile, because nodes that run keep the old one.
//
// What a lookup can come to:
//
//	found                          condition True
//	nothing there, or a fault      condition False, the list is empty
//	no answer, but one of before   condition True, with a note that it is of before
//	no answer                      condition Unknown, with the reason LookupFailed;
//	                               an instance profile of before stays in the status
//
// An answer of before is what Sources remembers, and else what the class has in its
// status, if that is of the same generation: so a restart while AWS cannot be reached
// loses nothing.
//
// How long answers are good for, unless [Options] say otherwise:
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
// Trying out launches, for which the caller gives a function. Writing the status
// anywhere. Profiles that a class names itself: they are never looked at.
//
// # Guarantees
//
// The class given is not modified. Lists are sorted in a way that does not change with
// what runs, nor with the order in which AWS lists things. The same answers at the same
// instant give the same status. Faults name the field, its value and the remedy, all of
// them at once. An answer is read-only and may be shared. All methods may be called
// concurrently. Making a profile can be repeated after a crash at any step and gives one
// profile.
package nodeclass
