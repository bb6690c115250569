// Package profile keeps the instance profiles of node classes that name a role.
//
// # Model
//
// EC2 gives an instance a role by an instance profile. For each class with a role a
// [Keeper] makes one, whose name is a hash of cluster, region, class and role, on a
// path that says to which class it belongs. A change of the role makes another
// profile, because nodes that run keep the old one; [Keeper.Collect] deletes those
// that nobody has used for an hour, and [Keeper.DeleteClass] all of a class.
//
// # Left out
//
// Profiles that a class names itself. They are never looked at.
//
// # Guarantees
//
// A Keeper may be used by any number of goroutines. Calls about one class wait for
// each other. Making a profile can be repeated after a crash at any step and gives
// one profile.
package profile
