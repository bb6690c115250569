// Package instances reads EC2 instances as the provider knows them, and asks about
// and terminates many with few calls.
//
// # Model
//
// A [Record] is what EC2 says of an instance, as far as it matters: what it is,
// how it was bought, where it is, and whose it is, by its tags. A [Client] asks for
// records: [Client.Get] and [Client.Terminate] put calls that come together into
// one, [Client.Each] goes through all instances of the cluster page by page.
//
// # Left out
//
// Labels, prices and capacity, which need the catalog; caches.
//
// # Guarantees
//
// A Client may be used by any number of goroutines. It never answers for an
// instance that is not of its cluster. Nothing that EC2 may answer makes it panic.
package instances
