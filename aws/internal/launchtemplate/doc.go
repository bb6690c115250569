// Package launchtemplate makes launch templates, and keeps them in EC2 while they are in use.
//
// Input: a node class, an image, user data, and how the instance is bought. Output: the template,
// and its existence in EC2. Invariant: two templates with one name are the same, and a template in
// use is never deleted.
//
// # Model
//
//   - [Build] writes the launch template for an [Input]: the node class, the image,
//     the user data, and how the instance is bought. Its name is a hash of all
//     that is in it, so two templates of one name are the same, and a template
//     never changes.
//   - A [Store] makes a template in EC2 before it is used ([Store.Use]) and deletes those that were
//     not used for a while ([Store.Collect]) or whose class is gone ([Store.DeleteClass]).
//   - A template of a turn ([Template.OfTurn]) belongs to one process. The next process that
//     launches deletes it ([Store.EndTurns]), so that calls which name it and were not carried out
//     by then fail.
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
