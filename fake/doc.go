// Package fake is a small cloud in memory: a cloudprovider.CloudProvider that sells the instance
// types of a catalog. It is for tests, examples, simulations and what-if tools, and needs no
// network, account or cluster.
//
// # Catalog
//
// [Catalog] is nearly what EC2 sells. Package fake/catalog makes it, or a part of it, or one
// with other zones, and reads catalogs of any cloud.
//
// # Cloud
//
// A [Cloud] launches instances of a catalog, remembers them and deletes them. Without options it
// works at once and without end:
//
//	cloud, err := fake.New(nil)
//	types, err := cloud.InstanceTypes(ctx, pool)
//	instance, err := cloud.Create(ctx, request)
//	err = cloud.Delete(ctx, instance.ID)
//
// [Options] make it behave as clouds do. It has a clock, which [Cloud.Advance] moves, and a seed
// for everything that is chance; nothing sleeps or runs by itself.
//
//   - [Timing]: a machine boots (its Node appears), is registered, becomes ready; going down
//     takes time too. [Cloud.Nodes] has the Nodes of the moment. A program that plays the
//     autoscaler sets [Options].Unregistered, and registers them itself.
//   - [Stock]: each offering has so many machines; a deleted one comes back, and a request for
//     what ran out is refused. Reserved offerings share the capacity of their reservation.
//   - [Spot]: prices change, machines are interrupted with a warning. [Cloud.Interruptions] has
//     the notices.
//   - Options.ListLag: List is behind.
//   - [Image], [NodeClass]: what machines boot, and when they have drifted.
//
// An [Action] is what happens to the cloud now ([Cloud.Do]) or later ([Cloud.After]): notices,
// broken nodes, other stock, a new image. A [Fault] is what goes wrong with calls:
//
//	cloud.After(time.Hour, fake.Action{Notice: cloudprovider.InterruptionSpot, Warning: 2 * time.Minute})
//	cloud.Script(fake.Fault{Op: "create", Zone: "us-east-1a", Times: 3, Err: fake.ErrLost})
//
// [Cloud.Log] tells what happened in text, [Cloud.Stats] in numbers.
//
// # Left out
//
// Pods, CSINodes and ResourceSlices, and what controllers write into Nodes.
//
// # Guarantees
//
// The same calls give the same answers, byte for byte, on every machine. Nothing reads a clock
// or a source of chance: the clock of a Cloud is given to it, and what happens to one machine
// depends on Seed and that machine alone. Everything returned is sorted in an order that is
// stated. The methods of a Cloud may be called from any number of goroutines.
//
// In any order of calls and events: the machines listed are those launched less those gone;
// stock is never below zero; a token never has two machines.
//
// With n machines, Create, Delete and Get take O(log n) and a look at each option of the request,
// List O(n), Nodes O(n log n), of which it builds anew only what changed.
package fake
