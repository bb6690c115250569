// Package aws is the provider for Amazon EC2: it launches, finds and deletes the
// machines of one EKS cluster as cloudprovider.CloudProvider asks, from EC2NodeClass
// objects of the API group karpenter.k8s.aws.
//
// # Model
//
//   - [New] makes a [Provider] from [Clients] of AWS and [Options]. It calls nothing.
//   - The caller supplies EC2NodeClasses by [Options.NodeClasses]; their selectors
//     are resolved here, and [Provider.NodeClassStatus] says to what.
//   - InstanceTypes lists what EC2 sells to the class, with labels, overhead,
//     prices and reservations. What EC2 refused of late is not available.
//   - Create filters the options of a request, makes launch templates, and asks
//     for instances by CreateFleet, one call for many requests that are alike.
//   - Every instance bears tags that say for which requests it was launched, and
//     every call a token that is made of theirs. So a process that is restarted at
//     any moment finds what it has launched, and launches nothing twice.
//   - IsDrifted compares an instance with its class. Interruptions reads the queue
//     of notices of EC2 and AWS Health, and asks for what nobody sends: failed
//     checks, maintenance, and capacity blocks that end.
//   - What an instance leaves behind is collected by [Provider.CollectInstances],
//     [Provider.CollectLaunchTemplates] and [Provider.CollectInstanceProfiles].
//
// Labels, tags, names and the rights that it takes are those of Karpenter's AWS
// provider, so that a cluster can change from one to the other with the nodes that
// it has. Package iam in the directory iam has the policy.
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
// returns by cloudprovider.ApplyOverlays.
//
// # Guarantees
//
// All methods may be called from any number of goroutines. Every call takes a
// context and returns soon after it is done. Errors are of the kinds of package
// cloudprovider, with the code of AWS as their Reason and the remedy in their text.
// No token ever has two instances. A failed look-up leaves the last good answer in
// force.
package aws
