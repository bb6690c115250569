// Package cloudprovider is the interface between decisions and a cloud: what an engine has to know
// about a cloud, and what a cloud has to do to carry out a decision.
//
// # Model
//
//   - A [CloudProvider] lists instance types and creates, deletes, gets and
//     lists instances. Its five methods will not change.
//   - An [InstanceType] is one machine shape with its labels, capacity and
//     overhead. Each [Offering] of it is a way to buy it: zone, capacity type and
//     reservation, with a price in USD per hour.
//   - A [LaunchRequest] asks for one machine, as a list of equally good options
//     ([LaunchOption]), and gives back an [Instance].
//   - Every error is, or wraps, an [Error] of one [Kind] out of a closed list;
//     errors.Is(err, ErrNotFound) and KindOf(err) distinguish them.
//   - Further abilities are interfaces of one method with a package function each, which looks
//     through wrappers. Do not assert the interfaces; call the functions. If the ability is absent,
//     an operation returns an error that wraps [ErrUnsupported] ([IsDrifted], [Reboot],
//     [Interruptions], [Acknowledge]), and a property has its default ([Name], [Vocabulary],
//     [RepairPolicies], [SupportsNodeClass]; and [NodeClassReady], whose error says why a class is
//     not ready). So go on without the ability if errors.Is(err, ErrUnsupported).
//
// # To write a provider
//
// Implement CloudProvider and the abilities that the cloud has:
//
//  1. InstanceTypes: find the node class that pool names; make each type with machine.Machine,
//     which sets DoesNotExist for labels that do not apply; let availability.Cache.Apply mark
//     recently refused offerings as not Available.
//  2. Create: [LaunchRequest.Validate]; look for a machine with the token; availability.Cache.Admit
//     and launch.Select leave the options to ask for; launch with token, name, pool and cluster as
//     tags of the machine; pass refusals to availability.Cache.MarkFromError.
//  3. Get, List and Delete: ask the cloud for machines with the tag of the cluster;
//     labels of an Instance are those of [LaunchOption.NodeLabels].
//  4. Return every error as an *Error with Op, Object, Kind and the cause, also
//     that of a context.
//
// Then run cloudprovidertest, which checks a provider against the contract that is stated here. The
// types of arguments are in packages api/v1 (NodePool and the like), provisioning/requirements
// (labels) and provisioning/resources (amounts) of this module; examples/newprovider is a complete
// provider, and docs/writing-a-provider.md explains it.
//
// Packages below this one have the common parts of providers. Each can be used without the others:
//
//	availability  which offerings were out of stock recently
//	batcher       many small calls made as few large ones
//	devicecel     selectors of devices, in CEL
//	drift         hash annotations of node classes
//	guard         a provider that panics returns an error
//	kubelet       reserved and eviction maths, numbers of pods
//	launch        options of a request filtered, ordered and cut to one call
//	machine       instance types from what a cloud says of machines
//	overlay       prices and capacities changed by NodeOverlays
//	pricing       price book: lists, spot, staleness
//	retry         when to repeat what failed, by Kind
//
// # Left out
//
// Which instance type to launch, when to disrupt a node, and anything that
// talks to a network or a cluster. No function here reads a clock: instants
// are arguments, or come from a function that the caller passes in.
//
// # Guarantees
//
// Inputs are never modified. Every returned slice has a stated order. Results of a provider are
// read-only for provider and callers, and may be shared between goroutines.
package cloudprovider
