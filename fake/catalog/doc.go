// Package catalog has the instance types that package fake sells, and reads and writes those of
// any cloud as YAML or JSON.
//
// # Model
//
//   - [All] is generated from a table of facts about Amazon EC2, one line a family (ec2.txt),
//     with labels, capacity and overhead as Karpenter's AWS provider computes them, so that
//     NodePools written for EC2 work unchanged and plans come out as they would there. [New]
//     makes a part of it, or one with other zones.
//   - [Vocabulary] and [NodePoolRules] are what that provider adds to the labels of Kubernetes.
//     The labels themselves are in package aws/api/v1.
//   - [Read] and [Write] read and write a catalog as a file. [Sorted] is the order in which a
//     provider returns one.
//
// # Left out
//
// Of EC2: Windows, the labels of capacity reservations, placement groups, dedicated hosts, Mac
// instances, and some of the oldest and rarest families.
//
// # Guarantees
//
// Everything is a function of its arguments, the same on every machine, and safe for concurrent
// use. What is returned is the caller's, and nothing given is changed or kept.
package catalog
