// Package subnets chooses the subnets of a launch: in each zone the one with the
// most free addresses.
//
// # Model
//
// EC2 says how many addresses of a subnet are free, but only now and then, and
// what was launched since is not in that number. A [Ledger] keeps what was
// launched: [Ledger.Choose] takes the addresses that a launch may need off the
// subnets it chooses, before the launch, so that launches that go together spread
// over subnets. [Claim.Settle] gives back what was not needed. A reading that is newer than a
// claim has it in its number, and the claim no longer counts.
//
// A subnet of which EC2 said that it has no free addresses is not chosen until a
// newer reading says that it has some, or a quarter of an hour has passed.
//
// # Left out
//
// Calls to AWS, and clocks: every instant is an argument.
//
// # Guarantees
//
// Any number of goroutines may use a Ledger. A choice depends on what was chosen
// and settled before, the readings and the instants, and on nothing else; of
// subnets with equally many free addresses the one with the smaller id is chosen.
package subnets
