// Package device reduces dynamic resource allocation (DRA) to counts, because the packer works with
// vectors of integers: the resource claims of a pod become amounts of artificial resources, and the
// devices of instance types and nodes become amounts of the same resources.
//
// # Model
//
//   - A selector set is the condition of one request on each of its devices: the selectors of its
//     DeviceClass, its own selectors, and the taints that it tolerates. A request is for a number
//     of devices of its set.
//   - Each selector set that some pod uses is a dimension. A pod needs the sum of its requests;
//     an instance type or node has the number of devices that match.
//   - If sets overlap, one device would count twice. By Hall's theorem all requests can be
//     satisfied if, for every group of sets, the sum of the requests is at most the number of
//     devices that match any set of the group. So groups become dimensions too. Most groups follow
//     from others. Those needed are connected by overlaps, and contain every set whose devices they
//     cover. With them counting is exact: requests that fit by count can be allocated, and the
//     reverse. See closedGroups. Tests compare it with a brute-force search and with
//     kube-scheduler's own allocator.
//   - There may be many groups. Up to maxGroups are used for each connected component of sets; if
//     there are more, pods that use a set of the component are refused.
//   - A request for all devices of a set is a dimension of which a node has 1 if it can satisfy
//     the request: it has such a device, at most as many as a claim can hold, and all are free and
//     counted. A further dimension excludes pods that request devices which may be among these.
//     This is stricter than kube-scheduler, which would let such pods have other devices.
//   - An allocated claim needs no further devices, and restricts its pods to the nodes of its
//     allocation.
//   - A request with a list of subrequests has one demand for each way to choose, in the order in
//     which kube-scheduler tries them. If a selector of an earlier demand cannot be evaluated for a
//     device of a node, kube-scheduler refuses the node: a further dimension excludes later demands
//     from such nodes.
//
// A node has the devices of its complete pools of the newest generation, minus the allocated ones.
// Until it has started, the devices of its instance type replace those that its drivers have not
// published yet.
//
// kube-scheduler serves pods one by one and takes the first suitable devices. If sets overlap it
// may take a device that only a later pod could use; that pod then stays pending until another
// plan.
//
// # Left out
//
// A pod is refused, with the reason, if its claims ask for administrative
// access, for a matching or distinct attribute, or for a part of a device's
// capacity; or if it shares a claim that is not allocated with other pods.
//
// Devices are not counted that draw on shared counters, that can be allocated several times, that
// provide resources of the node, or that several nodes can reach. Extended resources that a
// DeviceClass provides, and DeviceTaintRules, are ignored.
//
// # Guarantees
//
// The same objects in any order give the same answers. Inputs are read-only; an Index and Counts
// are immutable and safe for concurrent use. Names of dimensions depend on the selector sets alone.
package device
