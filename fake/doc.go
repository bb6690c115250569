// Package fake is a small cloud in memory: a cloudprovider.CloudProvider that sells the instance
// types of a catalog. It is for tests, examples, simulations and what-if tools, and needs no
// network, account or cluster.
//
// # Catalog
//
// [Catalog] is similar to that of EC2. Package fake/catalog makes it, or a part of it, or one with
// other zones, and reads catalogs of any cloud.
//
// # Cloud
//
// A [Cloud] launches instances of a catalog, remembers them and deletes them. Without options
// machines are ready at once and stock is unlimited:
//
//	cloud, err := fake.New(nil)
//	types, err := cloud.InstanceTypes(ctx, pool)
//	instance, err := cloud.Create(ctx, request)
//	err = cloud.Delete(ctx, instance.ID)
//
// [Options] make it behave like real clouds. It has a clock, which [Cloud.Advance] moves, and a
// seed for all random events; nothing sleeps or runs in the background.
//
//   - [Timing]: a machine boots (its Node appears), is registered, becomes ready; going down takes
//     time too. [Cloud.Nodes] has the current Nodes. A program that takes the role of the
//     autoscaler sets [Options].Unregistered, and registers them itself.
//   - [Stock]: each offering has a number of machines; deleted machines return to it, and a request
//     without stock is refused. Reserved offerings share the capacity of their reservation.
//   - [Spot]: prices change, machines are interrupted with a warning. [Cloud.Interruptions] has
//     the notices.
//   - Options.ListLag: List is delayed.
//   - [Image], [NodeClass]: the images of machines, and when machines have drifted.
//
// An [Action] is an event of the cloud now ([Cloud.Do]) or later ([Cloud.After]): notices, broken
// nodes, other stock, a new image. A [Fault] makes calls fail:
//
//	cloud.After(time.Hour, fake.Action{Notice: cloudprovider.InterruptionSpot, Warning: 2 * time.Minute})
//	cloud.Script(fake.Fault{Op: "create", Zone: "us-east-1a", Times: 3, Err: fake.ErrLost})
//
// [Cloud.Log] has the events as text, [Cloud.Stats] as counts.
//
// # Left out
//
// Pods, CSINodes and ResourceSlices, and changes of Nodes by controllers.
//
// # Guarantees
//
// The same calls give the same answers, byte for byte, on every machine. Nothing reads a clock or a
// random source: Options have both, and the random events of a machine depend only on Seed and that
// machine. All results have a stated order. The methods of a Cloud may be called from any number of
// goroutines.
//
// For any order of calls and events: the listed machines are the launched ones without those that
// are gone; stock is never below zero; a token never has two machines.
//
// With n machines, Create, Delete and Get take O(log n) and time in proportion to the options of
// the request, List O(n), Nodes O(n log n), but only changed Nodes are rebuilt.
package fake
