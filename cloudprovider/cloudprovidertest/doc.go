// Package cloudprovidertest checks a cloudprovider.CloudProvider against its contract. It runs
// under plain go test and needs no cluster; whether it needs a cloud is up to the provider.
//
// # Model
//
//   - A [Harness] is supplied by the author of a provider: it has the provider, a NodePool that
//     something can be launched for, and hooks for rare events of the cloud: out of stock,
//     failures, lost answers, machines that are taken away.
//   - A [Check] enforces one sentence of the contract, its Rule, and prints it
//     when it fails. [Checks] lists them.
//   - [Run] runs all checks as subtests, each with a Harness of its own.
//     [Examine] does the same and returns the results as data.
//
// A test of a provider needs only this, with a pool that has a name and a node class:
//
//	func TestContract(t *testing.T) {
//		cloudprovidertest.Run(t, func(t testing.TB) *cloudprovidertest.Harness {
//			pool := &v1.NodePool{}
//			pool.Name = "general"
//			pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{
//				Group: "example.com", Kind: "PondNodeClass", Name: "default",
//			}
//			return &cloudprovidertest.Harness{Provider: newProvider(), Pool: pool}
//		})
//	}
//
// A check that needs a hook which is nil, or an ability that the provider does not have, is
// skipped. At the end Run logs the skipped checks and what to set for them to run; go test -v shows
// them. Run the suite with -race: the checks of concurrency find most that way.
//
// # Real clouds
//
// Each check deletes at its end what it has launched. No check launches more than eight machines at
// a time; Harness.Only restricts their kind. To let time pass the suite calls Harness.Advance, or
// else waits, for at most Harness.Patience.
//
// # Left out
//
// Whether machines join a cluster, prices are right, and the catalog is complete. A provider that
// passes keeps the contract; its cloud may not.
//
// # Guarantees
//
// The checks come in one order and each is independent of the others. With a
// provider and a cloud that are deterministic, so are the results, messages
// included. Package fake passes; and for every check there is a provider that is
// broken in one way and fails that check alone.
package cloudprovidertest
