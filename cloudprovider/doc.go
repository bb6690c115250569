// Package cloudprovider is the border between decisions and a cloud: what an
// engine must know of a cloud to decide, and what a cloud must do to carry a
// decision out.
//
// # Model
//
//   - A [CloudProvider] lists instance types and creates, deletes, gets and
//     lists instances. Its five methods will not change.
//   - An [InstanceType] is one machine shape with its labels, capacity and
//     overhead. Its [Offering]s are the ways to buy it: zone, capacity type and
//     reservation, each with a price in USD per hour.
//   - A [LaunchRequest] asks for one machine, as a list of equally good
//     [LaunchOption]s, and gives back an [Instance].
//   - Every error is, or wraps, an [Error] of one [Kind] out of a closed list;
//     errors.Is(err, ErrNotFound) and KindOf(err) tell them apart.
//   - Further abilities are interfaces of one method with a package function
//     each, which looks through wrappers. Do not assert the interfaces; call the
//     functions. What they do where the ability is absent is one habit: a call that
//     can fail fails, with an error that wraps [ErrUnsupported] ([IsDrifted],
//     [Reboot], [Interruptions], [Acknowledge]), and a property has the value that
//     holds without ([Name], [Vocabulary], [RepairPolicies], [SupportsNodeClass]; and
//     [NodeClassReady], whose error says why a class is not ready). So do without
//     if errors.Is(err, ErrUnsupported).
//
// # To write a provider
//
// Implement CloudProvider and the abilities that the cloud has. Filter the
// catalog through an availability.Cache, return errors as *Error, and take the labels
// of an Instance from [LaunchOption.NodeLabels]. What providers have in common
// is in packages below this one, each of use without the others:
//
//	availability  which offerings were out of stock of late
//	catalog   instance types from what a cloud says of machines; checks
//	kubelet   reserved and eviction maths, numbers of pods
//	pricing   price book: lists, spot, staleness
//	launch    options of a request filtered, ordered and cut to one call
//	batcher  many small calls made as few large ones
//	retry     when to repeat what failed, by Kind
//	drift     hash annotations of node classes
//
// devicecel evaluates selectors of devices, and cloudprovidertest holds a provider
// against the contract that is stated here.
//
// # Left out
//
// Which instance type to launch, when to disrupt a node, and anything that
// talks to a network or a cluster. No function here reads a clock: instants
// are arguments, or come from a function that the caller passes in.
//
// # Guarantees
//
// Inputs are never modified. Every returned slice has a stated order. Values
// handed out by a provider are read-only for everybody and may be shared
// between goroutines.
package cloudprovider
