// Package aws is the provider for Amazon EC2: it launches, finds and deletes the
// machines of one EKS cluster as cloudprovider.CloudProvider asks, from EC2NodeClass
// objects of the API group karpenter.k8s.aws.
//
// # Model
//
//   - [New] makes a [Provider] from [Clients] of AWS and [Options]. It calls nothing.
//   - The caller supplies EC2NodeClasses by [Options.NodeClasses], and NodePools, which say
//     what dry runs try, by [Options.NodePools]; the selectors of classes
//     are resolved here, and [Provider.NodeClass] says to what.
//   - InstanceTypes lists what EC2 sells to the class, with labels, overhead,
//     prices and reservations. What EC2 refused of late is not available.
//   - Create filters the options of a request, makes launch templates, and asks
//     for instances by CreateFleet: a call for each of up to ten requests that come
//     at a time, one call for many of more that are alike.
//   - Every instance bears tags that say for which requests it was launched, and
//     every call a client token that is made of their tokens. So a process that is
//     restarted at any moment finds what it has launched, and launches nothing
//     twice: see Guarantees.
//   - IsDrifted compares an instance with its class. Interruptions reads the queue
//     of notices of EC2 and AWS Health, and asks for what nobody sends: failed
//     checks, maintenance, and capacity blocks that end.
//   - What an instance leaves behind is collected by [Provider.CollectLaunchTemplates] and
//     [Provider.CollectInstanceProfiles]. Instances without a NodeClaim are found by
//     disruption.Propose, from what List returns.
//
// Labels, tags, names and the rights that it takes are those of Karpenter's AWS
// provider, so that a cluster can change from one to the other with the nodes that
// it has. The documents in the directory iam are the policies.
//
// # Look-ups
//
// What AWS says is remembered for a while: instance types and prices on demand for
// twelve hours, spot prices for one, subnets, security groups, images and reservations
// for a minute, instance profiles for fifteen, whether a launch is allowed for thirty.
// What is due is asked again beside the caller, who gets the answer of
// before at once; so an API that fails, hangs or cannot be reached holds up nobody.
// Prices are there from the start: those that are compiled in, marked stale, until
// AWS has said others. Callers wait only for the first answer to any other question,
// and once asking has failed they get that failure at once; and up to two seconds for
// the price file and for whether traffic is shifted away from a zone.
//
// A look-up is a goroutine of the Provider. It begins when a method is called that
// wants the answer, one for each question, and outlives that call: it ends when AWS
// has answered, when its time is over (two minutes, ten for prices), or with
// [Provider.Close]; a caller who gives up does not end it. Options.Now tells the age
// of answers and, from the end of a failure, the time until the next attempt. The time
// that a look-up may take is that of the clock of the machine. [Provider.Refresh]
// waits for what is due, and [Provider.Snapshot] says how each question is.
//
// # Left out
//
// Nothing here reads or writes Kubernetes objects: the caller stores the status of
// classes and the annotations of NodeClaims ([Provider.ClaimAnnotations], and
// [Provider.MigrateClaims] for those of another release of Karpenter) and their
// labels once a reservation has ended ([DemoteClaim]), and calls the collectors.
// Instances are not rebooted but replaced: EC2 takes no token with a reboot, so that
// after a restart of the caller it could be asked for twice, which
// cloudprovider.Rebooter rules out. NodeOverlays are applied to what InstanceTypes
// returns by overlay.Apply.
//
// # Guarantees
//
// All methods may be called from any number of goroutines. Every call takes a
// context and returns soon after it is done. Errors are of the kinds of package
// cloudprovider, with the code of AWS as their Reason and the remedy in their text.
// A failed look-up leaves the last good answer in force.
//
// No token ever has two instances, also if a process ends with calls of CreateFleet under
// way that EC2 carries out later, and the next one asks for the same tokens in other
// company:
//
//   - A request that goes by a call of its own has a client token that is made of its
//     token alone. Whoever repeats it asks EC2 for the same instance, however late.
//   - A call for many names launch templates with the tag dovetail/turn, which only
//     the process that made them launches by. Before its first launch a process
//     deletes those of the processes before it, so that nothing comes of a call that
//     EC2 has not carried out by then. If there were any, it launches nothing for a
//     minute: for tokens that EC2 lists no instance of, Create says KindUnknown, with
//     RetryAfter.
//   - A call for many has another client token than one for a single launch. So where
//     another process has launched for the cluster before, every request goes by a call
//     of its own for the first three minutes, ten at a time.
//
// So a process launches at once, unless one before it has of late launched more than
// ten at a time. The promise rests on this: EC2 knows a client token again; it carries out
// within two minutes what it is asked, or never; it lists what it has launched within a
// minute, and a launch template that it has listed from then on, older ones before younger
// ones. Two processes that launch at the same time are for the caller to rule out, by
// electing a leader.
package aws
