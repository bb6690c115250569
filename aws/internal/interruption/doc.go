// Package interruption reads what AWS announces about instances that it takes away or repairs: the
// events that EventBridge puts into a queue, and the status that EC2 gives when asked. It converts
// them into the notices of package cloudprovider.
//
// Input: the text of a message, or the status of instances. Output: a [Message], and its
// notices. Invariant: a message is deleted after the last of its instances.
//
// # Model
//
//	queue  --ReceiveMessage-->  Parse  -->  Message  -->  Ledger.Deliver  -->  []cloudprovider.Interruption
//	EC2    --DescribeInstanceStatus-->  FromStatuses  -->  []Message  -->  Interruptions
//
// A [Message] is one event: its [Kind], its instances, when it was issued and when it takes effect.
// Kinds are spelled as Karpenter spells them in metrics; [Kind.Interruption] returns the
// cloud-independent kind.
//
// # Delivery
//
// The queue delivers a message at least once, in any order, and again some
// seconds after each delivery until it is deleted. EventBridge may put the same
// event into the queue twice. So:
//
//   - Acting on a notice must be idempotent, as deleting a node is.
//   - A message is deleted only after its notices were acted on. A message about several instances
//     is deleted after the last of them: [Ledger] keeps count.
//   - An event that needs no action is not an error but [KindNoOp]: delete its message.
//   - A text that is not an event would be delivered again until the queue drops it. Parse returns
//     a [PoisonError] for it: report it and delete the message.
//
// # What is left out
//
// There is no queue here, and no decision about nodes. The caller finds out which instances are
// nodes of the cluster, because the queue gets the events of all instances of the account and
// region.
//
// # Guarantees
//
// Everything except the Ledger is a function of its arguments. No text makes a function panic.
// Inputs are not changed.
package interruption
