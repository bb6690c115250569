// Package volume works out what the volumes of a pod ask of a node.
//
// It judges as kube-scheduler does in its plugins VolumeBinding, VolumeZone,
// NodeVolumeLimits and VolumeRestrictions. It does not provision, bind or
// attach anything, knows nothing of prices, and does no I/O.
//
// # Model
//
// An Index is made once from the storage objects of a cluster. For a pod,
// Index.Of gives its Needs, or says in one line why no node will do:
//
//   - a claim that is bound asks for the node affinity of its volume, and for
//     the zone and region that the labels of the volume name;
//   - a claim that is not bound, of a class that waits for its first consumer,
//     asks for a place where some volume that exists would match it, or where
//     the class may make one;
//   - a generic ephemeral volume is the claim that Kubernetes makes for it,
//     whether or not that has happened yet;
//   - any other claim keeps the pod waiting, and is an error.
//
// What all claims ask together is multiplied out into Alternatives, of which
// a node has to satisfy one. That is the question for nodes yet to be
// launched, of which labels are known as far as requirements go. Of a node that
// exists all labels are known, and Index.Admits answers for it to the letter.
//
// Volumes that are attached count against a limit for each driver, which
// Index.Limit reads from the CSINode. Those that VolumeAttachments name and no pod of the
// node uses count as well, which Index.Lingering tells. A driver may publish where it has room for
// new volumes (CSIDriver, CSIStorageCapacity), and keep pods off nodes without it. Some volumes may be used by one pod only;
// these are Needs.Exclusive and Needs.Disks.
//
// # Where Karpenter judges otherwise
//
//   - Karpenter drops the host name from the affinity of local volumes, so that
//     it launches nodes which the pod can then not run on. Here the host name
//     stays, and no new node satisfies it: the volume must be given up first.
//   - Karpenter keeps combinations of volumes that no node can have. Here they
//     are an error.
//   - Karpenter refuses a volume that is being deleted. kube-scheduler does not,
//     as such a volume stays for as long as its claim does.
//   - Karpenter looks at classes only where a claim is not bound. Here volumes
//     that exist and match are taken first, as kube-scheduler does.
//
// # What is left out
//
//   - Pods that compete. Each pod is judged as if it came first. Two pods may
//     count on the same volume that exists, and two that share a claim not yet
//     bound have to go where one volume serves both: see Needs.Reach.
//   - Ephemeral volumes that a CSI driver makes inline. kube-scheduler does not
//     count them either, as they are never attached.
//
// # Guarantees
//
// An Index is immutable and safe for concurrent use. Objects are read only, and
// must not be changed while the Index is in use. The same objects give the same
// answers, whatever their order. Nothing panics on any object.
package volume
