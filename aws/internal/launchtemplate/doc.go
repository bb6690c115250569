// Package launchtemplate makes launch templates, and keeps those in EC2 that are in use.
//
// Input: a node class, an image, user data, and how the instance is bought. Output: the
// template, and its being there. Invariant: two templates of one name are the same, and
// one that is in use is never deleted.
//
// # Model
//
//   - [Build] writes the launch template for an [Input]: the node class, the image,
//     the user data, and how the instance is bought. Its name is a hash of all
//     that is in it, so two templates of one name are the same, and a template
//     never changes.
//   - A [Store] makes a template in EC2 before it is used ([Store.Use]) and deletes
//     those that were not used for a while ([Store.Collect]) or whose class is gone
//     ([Store.DeleteClass]). One that is in use is never deleted.
//   - A template of a turn ([Template.OfTurn]) is for one process. The one that
//     launches next deletes it ([Store.EndTurns]), and with it the effect of calls
//     that name it and that EC2 has not carried out by then.
//
// # Left out
//
// User data (see package bootstrap), and instance types, zones and subnets, which
// are overrides of the launch.
//
// # Guarantees
//
// Build is a function of its argument, which is not modified; the same input gives
// the same bytes. Bad input gives errors that name the EC2NodeClass, the field and
// the remedy. A Store may be used by any number of goroutines; calls about
// different templates do not wait for each other.
package launchtemplate
