// Package cloudprovidertest holds a cloudprovider.CloudProvider against its
// contract. It runs under plain go test and needs no cluster; whether it needs
// a cloud is up to the provider.
//
// # Model
//
//   - A [Harness] is what the author of a provider supplies: the provider, a
//     NodePool that something can be launched for, and hooks that make the cloud
//     do what it does rarely: run dry, fail, lose an answer, take a machine away.
//   - A [Check] enforces one sentence of the contract, its Rule, and prints it
//     when it fails. [Checks] lists them.
//   - [Run] runs all checks as subtests, each with a Harness of its own.
//     [Examine] does the same and returns the results as data.
//
// A test of a provider is no more than this, with a pool that has a name and a
// node class:
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
// A check that needs a hook which is nil, or an ability that the provider does
// not have, is skipped. At the end Run logs what was skipped and what to set for
// it to run; see it with go test -v. Run the suite with -race: that is how the
// checks of concurrency find most.
//
// # Clouds that are real
//
// Whatever a check launches it deletes at its end. No check launches more than
// eight machines at a time, and Harness.Only says of which kind. Where time has
// to pass the suite calls Harness.Advance, or else waits, for as long as
// Harness.Patience.
//
// # Left out
//
// Whether machines join a cluster, prices are right, and the catalog is all that
// the cloud sells. That a provider passes says that it keeps its promises, not
// that its cloud does.
//
// # Guarantees
//
// The checks come in one order and each is independent of the others. With a
// provider and a cloud that are deterministic, so are the results, messages
// included. Package fake passes; and for every check there is a provider that is
// broken in one way and fails that check alone.
package cloudprovidertest
