// Package volume computes what the volumes of a pod require of a node.
//
// It follows kube-scheduler's plugins VolumeBinding, VolumeZone, NodeVolumeLimits and
// VolumeRestrictions. It does not provision, bind or attach anything, knows no prices, and does no
// I/O.
//
// # Model
//
// An Index is made once from the storage objects of a cluster. For a pod, Index.Of returns its
// Needs, or says in one line why no node can take it:
//
//   - a bound claim requires the node affinity of its volume, and the zone and region in the
//     labels of the volume;
//   - a claim that is not bound, of a class that waits for its first consumer, requires a place
//     where some existing volume matches it, or where the class can make one;
//   - a generic ephemeral volume is the claim that Kubernetes makes for it,
//     whether or not that has happened yet;
//   - any other claim is an error, because the pod has to wait for it.
//
// The requirements of all claims are combined into Alternatives, of which a node must satisfy one.
// They describe new nodes, whose labels are known as far as requirements go. All labels of an
// existing node are known, and Index.Admits checks them exactly.
//
// Attached volumes count against a limit for each driver, which Index.Limit reads from the CSINode.
// Volumes that VolumeAttachments name and no pod of the node uses count too; Index.Lingering
// returns them. A driver may publish where it has room for new volumes (CSIDriver,
// CSIStorageCapacity), which excludes nodes without room. Some volumes may be used by one pod only:
// Needs.Exclusive and Needs.Disks.
//
// # Differences from Karpenter
//
//   - Karpenter drops the hostname from the affinity of local volumes, so it launches nodes on
//     which the pod cannot run. Here the hostname stays and no new node satisfies it: the volume
//     must be given up first.
//   - Karpenter keeps combinations of volumes that no node can have. Here they
//     are an error.
//   - Karpenter refuses a volume that is being deleted. kube-scheduler does not, because such a
//     volume exists as long as its claim does.
//   - Karpenter reads classes only where a claim is not bound. Here existing volumes that match
//     are taken first, as in kube-scheduler.
//
// # What is left out
//
//   - Pods that compete. Each pod is treated as the first one. Two pods may count on the same
//     existing volume, and two that share an unbound claim must be where one volume serves both:
//     see Needs.Reach.
//   - Ephemeral volumes that a CSI driver makes inline. kube-scheduler does not
//     count them either, as they are never attached.
//
// # Guarantees
//
// An Index is immutable and safe for concurrent use. Objects are read only, and
// must not be changed while the Index is in use. The same objects give the same
// answers, whatever their order. Nothing panics on any object.
package volume
