// Package fake is a small cloud in memory: a catalog of instance types and a
// cloudprovider.CloudProvider that sells them. It is for tests, examples and
// what-if tools, and needs no network, account or cluster.
//
// # Model
//
// [Catalog] is generated from a table of facts about Amazon EC2, one line a
// family (families.go), with labels, capacity and overhead as Karpenter's AWS
// provider computes them, so that NodePools written for EC2 work unchanged and
// plans come out as they would there. [NewCatalog] makes a part of it, or one
// with other zones. [ReadCatalog] and [WriteCatalog] read and write catalogs of
// any cloud as YAML or JSON.
//
// A [Cloud] launches instances of a catalog, remembers them and deletes them:
//
//	cloud, err := fake.New(nil)
//	types, err := cloud.InstanceTypes(ctx, pool)
//	instance, err := cloud.Create(ctx, request)
//	err = cloud.SetAvailable(instance.OfferingKey(), false) // sold out
//	err = cloud.Delete(ctx, instance.ID)
//
// # Left out
//
// Machines do not boot and make no Nodes; an instance runs from Create to
// Delete. Stock is without end, and a reservation is never used up: an offering
// is on sale or it is not. There are no node classes; every one a request names
// is taken to exist. Of EC2 the catalog leaves out Windows, capacity
// reservations, placement groups, dedicated hosts, Mac instances, and some
// of the oldest and rarest families.
//
// # Guarantees
//
// The same calls give the same answers, byte for byte, on every machine.
// Nothing reads a clock or a random number; the clock of a Cloud is given to
// it. Everything returned is sorted in an order that is stated. The methods of
// a Cloud may be called from any number of goroutines.
package fake
