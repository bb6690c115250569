// Package nodecost says what a node costs beside its instance: the volumes of its
// EC2NodeClass, a public IPv4 address, and what is paid by the node for agents and
// licences.
//
//	rates := nodecost.BuiltIn()
//	rates.PerNode = 0.02 // a monitoring agent
//	provider, err := aws.New(clients, aws.Options{NodeRates: rates, ...})
//
// With [aws.Options.NodeRates] and classtypes.Input.NodeRates the offerings of a class cost the
// bill of the whole node, and Offering.NodeCost says how much of it this is. Without, they
// cost the instance alone, as in Karpenter.
//
// A root volume of 50 GiB is 0.0055 USD/h, a fifth of an m5a.large on spot: whoever counts
// instances alone buys more, smaller nodes than are cheapest.
//
// Left out: snapshots, requests to magnetic volumes, traffic, and whether a subnet hands out
// public addresses by itself, which neither the class nor its status says.
//
// [aws.Options.NodeRates]: https://pkg.go.dev/github.com/dovetail-sdk/dovetail/aws#Options
package nodecost
