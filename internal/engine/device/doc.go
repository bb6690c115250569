// Package device reduces dynamic resource allocation (DRA) to counts, because the packer works with
// vectors of integers: the resource claims of a pod become amounts of artificial resources, and the
// devices of instance types and nodes become amounts of the same resources.
//
// # Model
//
//   - A selector set is what one request asks of each of its devices: the
//     selectors of its DeviceClass, its own selectors, and the taints it
//     tolerates. A request wants a number of devices of its set.
//   - Each selector set that some pod uses is a dimension. A pod needs the sum
//     of its requests, an instance type or node has the devices that match.
//   - Where sets overlap, one device would count twice. Hall's theorem says
//     when there are devices enough for all: for every group of sets, the
//     requests in sum may not exceed the devices that match any of them. So
//     groups become dimensions too. Only groups that say something new are
//     needed: those connected by overlaps, and holding each set whose devices
//     they cover anyway. With those, counting is exact: what fits by count can
//     be allocated, and the reverse. See closedGroups. The tests hold it against
//     a search by brute force and against kube-scheduler's own allocator.
//   - The groups of sets that overlap may be many. Up to maxGroups of them are
//     kept for sets that hang together; beyond that, pods that use one of
//     these sets are refused.
//   - A request for all devices of a set takes a dimension that a node has one of
//     where that is possible: it has such a device, no more than a claim can
//     hold, and all are free and counted. A further dimension keeps such a pod
//     on a node without others who want devices that may be among them. This
//     is stricter than kube-scheduler, which would let them have those that
//     are not.
//   - A claim that is allocated takes no devices any more, and ties its pods to
//     the nodes of its allocation.
//   - A request with a list of subrequests has one demand for each way to
//     choose, in the order in which kube-scheduler tries them. Where a selector of
//     an earlier one cannot be evaluated for a device of a node, kube-scheduler
//     gives up there: a further dimension keeps later ones off such nodes.
//
// A node has the devices of its complete pools of the newest generation, less
// those that are allocated. Until it has started, what its instance type
// promises stands in for what its drivers have not published yet.
//
// kube-scheduler serves pods one by one and takes the first devices that will
// do. Where sets overlap it may take a device that only a later pod could use;
// that pod then waits for another plan.
//
// # Left out
//
// A pod is refused, with the reason, if its claims ask for administrative
// access, for a matching or distinct attribute, or for a part of a device's
// capacity; or if it shares a claim that is not allocated with other pods.
//
// Devices are not counted that draw on shared counters, that can be allocated
// several times, that provide resources of the node, or that several nodes can
// reach. Extended resources that a DeviceClass stands for, and rules that taint
// devices from outside, are not looked at.
//
// # Guarantees
//
// The same objects in any order give the same answers. Inputs are read-only;
// an Index and Counts are immutable and safe for concurrent use. Names of
// dimensions depend on the selector sets alone, and not on what else is in the
// input.
package device
