// Package nodecost says what a node costs in addition to its instance: the volumes of its
// EC2NodeClass, a public IPv4 address, and what is paid for each node, as for agents and
// licences.
//
//	rates := nodecost.BuiltIn()
//	rates.PerNode = 0.02 // a monitoring agent
//	provider, err := aws.New(clients, &aws.Options{NodeRates: rates, ...})
//
// The price of an offering of a class is that of the whole node, by [BuiltIn] or by the rates of
// [aws.Options.NodeRates] and classtypes.Input.NodeRates. Offering.NodeCost is the part that is not
// for the instance. Rates without a price leave the instance alone, as in Karpenter:
//
//	provider, err := aws.New(clients, &aws.Options{NodeRates: new(nodecost.Rates), ...})
//
// A root volume of 50 GiB is 0.0055 USD/h, a fifth of an m5a.large on spot: without it, plans have
// more and smaller nodes than is cheapest.
//
// Left out: snapshots, requests to magnetic volumes, traffic, and whether a subnet hands out
// public addresses by itself, which neither the class nor its status says.
//
// [aws.Options.NodeRates]: https://pkg.go.dev/github.com/dovetail-sdk/dovetail/aws#Options
package nodecost
