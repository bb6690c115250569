// Package interruption understands what AWS says about instances that it is
// about to take away, or has: the events that EventBridge puts into a queue, and
// the status that EC2 gives when asked. It turns them into the notices of
// package cloudprovider.
//
// Input: the text of a message, or the status of instances. Output: a [Message], and its
// notices. Invariant: a message is deleted after the last of its instances.
//
// # Model
//
//	queue  --ReceiveMessage-->  Parse  -->  Message  -->  Ledger.Deliver  -->  []cloudprovider.Interruption
//	EC2    --DescribeInstanceStatus-->  FromStatuses  -->  []Message  -->  Interruptions
//
// A [Message] is one event: its [Kind], the instances it is about, when it was
// issued and by when it comes true. Kinds are spelled as Karpenter spells them in
// metrics; [Kind.Interruption] gives the one that is the same for every cloud.
//
// # Delivery
//
// The queue delivers a message at least once, in any order, and again some
// seconds after each delivery until it is deleted. EventBridge may put the same
// event into the queue twice. So:
//
//   - What is done about a notice must be safe to do again. Deleting a node that
//     is gone is.
//   - A message is deleted after its consequences are on record, not before. A
//     message that is about several instances is deleted after the last of them:
//     [Ledger] keeps count.
//   - An event that nothing is done about is no error but [KindNoOp]: delete it.
//   - A text that is not an event will never be one, and would come back until
//     the queue drops it. Parse returns a [PoisonError] for it: report it and
//     delete the message.
//
// # What is left out
//
// There is no queue here, and no decision about nodes. Which of the instances
// are nodes of the cluster is for the caller to find out: a queue gets the events
// of all instances of the account and region.
//
// # Guarantees
//
// Everything is a function of its arguments, but for a Ledger, which its owner
// keeps. No text makes a function panic. Inputs are not changed.
package interruption
