// Package fake is a small cloud in memory: a catalog of instance types and a
// cloudprovider.CloudProvider that sells them. It is for tests, examples,
// simulations and what-if tools, and needs no network, account or cluster.
//
// # Catalog
//
// [Catalog] is what EC2 sells, or nearly, from package fake/catalog, which also makes
// a part of it, or one with other zones, and reads and writes catalogs of any cloud.
//
// # Cloud
//
// A [Cloud] launches instances of a catalog, remembers them and deletes them.
// With no options it works at once and without end:
//
//	cloud, err := fake.New(nil)
//	types, err := cloud.InstanceTypes(ctx, pool)
//	instance, err := cloud.Create(ctx, request)
//	err = cloud.Delete(ctx, instance.ID)
//
// [Options] make it behave as clouds do. It has a clock, which [Cloud.Advance]
// moves, and a seed for all that is chance; nothing sleeps or runs by itself.
//
//   - [Timing]: a machine boots (its Node appears), is registered, becomes ready;
//     going down takes time too. [Cloud.Nodes] has the Nodes of the moment. A
//     program that plays the autoscaler sets [Options].Unregistered, and registers
//     them itself.
//   - [Stock], [Reservation]: each offering has so many machines, several can
//     share a reservation; what is deleted comes back, what runs dry is refused.
//   - [Spot]: prices walk, machines are interrupted, with a warning and perhaps
//     advice before. [Cloud.Interruptions] has the notices.
//   - [Lag], [RateLimit]: answers are old, calls are throttled.
//   - [Image], [NodeClass]: what machines boot, and when they have drifted.
//   - [Breakdown]: nodes break, with conditions that repair policies know; a
//     [Cloud.Reboot] may mend them.
//
// [Cloud.Do] and [Cloud.After] make things happen now and later: stock is
// refilled, machines are interrupted, an image is published ([Action]).
//
// [Cloud.Script] makes calls go wrong. A [Fault] says which, and how:
//
//	fake.Fault{Op: "create", Nth: 2, Err: cloudprovider.ErrThrottled}
//	fake.Fault{Op: "create", Zone: "us-east-1a", Times: 3, Err: fake.ErrLost}
//
// [Cloud.Log] tells the story in text, [Cloud.Stats] in numbers.
//
// # Left out
//
// Pods, and what controllers write into Nodes, are the business of the
// simulation around it. There are no CSINodes and no ResourceSlices.
//
// # Guarantees
//
// The same calls give the same answers, byte for byte, on every machine. Nothing
// reads a clock or a source of chance: the clock of a Cloud is given to it, and
// what happens to one machine depends on Seed and that machine, not on what else
// there is. Everything returned is sorted in an order that is stated. The
// methods of a Cloud may be called from any number of goroutines.
//
// In any order of calls and events: the machines listed are those launched less
// those gone; stock is never below zero; a token never has two machines.
//
// With n machines that are not gone, Create and Delete take O(log n) and one move
// of up to n pointers, beside the look at each option of the request; Get takes
// O(log n), List O(n), Nodes O(n log n) of which it builds anew only what
// changed; Advance O(log n) for each event that happens, and O(1) if none does.
package fake
