// Package aws is the provider for Amazon EC2: it launches, finds and deletes the machines of one
// EKS cluster, as specified by cloudprovider.CloudProvider. EC2NodeClass objects of the API group
// karpenter.k8s.aws configure the machines.
//
// # Model
//
//   - [New] makes a [Provider] from [Clients] of AWS and [Options]. It makes no calls.
//   - The caller supplies EC2NodeClasses by [Options.NodeClasses], and by [Options.NodePools] the
//     NodePools, from which dry runs choose instance types. The Provider resolves the selectors of
//     classes, and [Provider.NodeClass] returns the result.
//   - InstanceTypes lists the instance types that the class can boot, with labels, overhead,
//     prices and reservations. Offerings that EC2 refused recently are not Available.
//   - Create filters the options of a request, makes launch templates, and asks for instances by
//     CreateFleet: one call for each of up to ten requests that arrive together, one call for many
//     if there are more that are alike.
//   - Every instance has tags that name the requests it was launched for, and every call has a
//     client token that is computed from their tokens. So a process that is restarted at any moment
//     finds its instances, and launches nothing twice: see Guarantees.
//   - IsDrifted compares an instance with its class. Interruptions reads the queue of notices of
//     EC2 and AWS Health, and asks EC2 for events of which it sends no notice: failed checks,
//     maintenance, and the end of capacity blocks.
//   - Launch templates and instance profiles that are no longer in use are deleted by
//     [Provider.CollectLaunchTemplates] and [Provider.CollectInstanceProfiles]. Instances without a
//     NodeClaim are found by disruption.Propose, from what List returns.
//
// Labels, tags, names and permissions are those of Karpenter's AWS provider, so that a cluster can
// change from one to the other and keep its nodes. The policies are in the directory iam.
//
// # Look-ups
//
// Answers of AWS are kept for a while: instance types and on-demand prices for twelve hours, spot
// prices for one hour, subnets, security groups, images and reservations for one minute, instance
// profiles for fifteen minutes, whether a launch is allowed for thirty. An answer that is due is
// asked for again in the background, and the caller gets the last one at once; so an API that
// fails, hangs or cannot be reached delays no caller. Built-in prices, marked stale, hold until AWS
// has answered. For any other question callers wait only for the first answer, and get the error at
// once if the last attempt failed. They wait up to two seconds for the price file and for whether
// traffic is shifted away from a zone.
//
// Each look-up is one goroutine of the Provider. It begins when a method needs the answer, and ends
// when AWS has answered, when its time is over (two minutes, ten for prices), or with
// [Provider.Close]. A caller whose context ends does not end it. Options.Now measures the age of
// answers and the pause after a failure; the machine's clock measures how long a look-up takes.
// [Provider.Refresh] waits for what is due, and [Provider.Status] returns the state of each
// question.
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
// No token ever has two instances, even if a process ends while EC2 has yet to carry out its
// CreateFleet calls, and the next process asks for the same tokens in other combinations:
//
//   - A call for a single request has a client token that is computed from the request's token
//     alone. Repeating it returns the same instance, however late.
//   - A call for many requests names launch templates with the tag dovetail/turn, which only the
//     process that made them uses. Before its first launch a process deletes those of earlier
//     processes, so that calls which EC2 has not carried out by then fail. If there were any, it
//     launches nothing for a minute: for tokens of which EC2 lists no instance, Create returns
//     KindUnknown with RetryAfter.
//   - A call for many has a different client token from a call for a single launch. So if another
//     process has launched for the cluster before, every request has its own call for the first
//     three minutes, ten at a time.
//
// So a process launches at once, unless an earlier one has recently launched more than ten at a
// time. The guarantee relies on four properties of EC2: it recognises a client token; it carries
// out a call within two minutes or never; it lists an instance within a minute of its launch; and
// it lists a launch template continuously once it has listed it, older ones before younger ones.
// The caller must prevent two processes from launching at the same time, by electing a leader.
package aws
