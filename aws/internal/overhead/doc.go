// Package overhead computes what a node on EC2 can hold and what it keeps from
// pods: its memory, how many pods it takes, and what is reserved for the kubelet
// and the system.
//
// # Model
//
//   - A [Machine] is what of an EC2 instance type decides that.
//   - [NewSettings] reads the kubelet settings and the network interfaces of an
//     EC2NodeClass once. [Settings.Pods] and [Settings.Overhead] then answer for
//     any machine, and [Settings.For] evaluates the expressions of a class for one.
//   - [Cluster] is what holds for all nodes: interfaces that pods cannot use,
//     address prefixes, and the share of memory that is taken to be lost to the
//     hypervisor and the kernel.
//   - That share is a guess. [Learned] holds what nodes have reported, by instance
//     type and image, and replaces the guess. It is a value, with a text form to
//     keep it over a restart.
//
// The reserves are those of the images of EKS, in package cloudprovider/kubelet:
// only what they are applied to is decided here.
//
// # Left out
//
// CPU, disks and accelerators, which package catalog reads off the instance type;
// what an expression means, which is said at the API; soft eviction, which takes
// nothing from what the scheduler may place.
//
// # Guarantees
//
// Everything is a function of its arguments; the time is one of them. Inputs are
// not modified. Amounts below zero count as zero, and nothing panics.
package overhead
