package disruption

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Input is the snapshot that decisions are made from. It is read-only, and a
// Cluster points back into it: do not change it while that is in use. The order of
// slices carries no meaning.
//
// Nodes are told apart by name: provisioning.Node.Name, that of the Node, or of
// the NodeClaim while there is no Node. Maps by node have that name as key.
type Input struct {
	// Input is what provisioning decides from. Read here are NodePools,
	// InstanceTypes, Nodes, Overlays and Vocabulary; the rest is for the search
	// that places the pods of the nodes removed.
	provisioning.Input

	// PodDisruptionBudgets are all those of the cluster.
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget

	// Drift holds what the provider said of each NodeClaim by name: see
	// cloudprovider.IsDrifted. A claim that is not there, or has the zero
	// Drift, has not drifted as far as the provider knows.
	Drift map[string]cloudprovider.Drift

	// RepairPolicies say which node conditions ask for repair: see
	// cloudprovider.RepairPolicies. Without any nothing is repaired.
	RepairPolicies []cloudprovider.RepairPolicy

	// Reboots are the reboots that were asked for, by the UID of the NodeClaim.
	// Those of the last 24 hours count; older ones may be left out.
	Reboots map[types.UID][]time.Time

	// MarkedForDeletion holds the nodes that a decision made earlier is dealing with,
	// and why. They are left alone, and count as on their way out for budgets.
	MarkedForDeletion map[string]Reason

	// Nominations say until when a node is kept for pods that were promised a
	// place there, as nomination.State.Nominations does. A node is free again at that
	// instant.
	Nominations map[string]time.Time

	// PodEvents say when a pod, not of a DaemonSet, was last bound to a node,
	// ended or began to end there. The later of this and
	// NodeClaim.Status.LastPodEventTime counts.
	PodEvents map[string]time.Time

	// BufferNodes are the nodes on which spare room is kept: those that hold a
	// virtual pod of a Buffer in the last plan. They are not empty.
	BufferNodes []string

	// Interruptions are the notices of the cloud that were not dealt with yet:
	// see cloudprovider.Interruptions.
	Interruptions []cloudprovider.Interruption

	// Instances is what List of the provider returned: see
	// cloudprovider.CloudProvider. Nil means that it was not asked; then
	// nothing is garbage. Read it before the NodeClaims.
	Instances []*cloudprovider.Instance

	// InstancesAt is when List was asked; zero is now. What is younger than
	// GarbageGrace was then is no garbage, however old the list is by
	// now.
	InstancesAt time.Time

	// CatalogCache is that of an earlier Proposal, so that pools and
	// catalogs need not be read again: where all that Input has of them says the
	// same as then, the answer comes sooner and is the same. It does not matter
	// whether the objects are copies, in which order they are, which
	// resourceVersion they have, and what the status of a NodePool counts.
	// Where something says otherwise, or CatalogCache is nil, they are read. An object
	// that was changed in place since is taken for what it was.
	CatalogCache *CatalogCache

	// UnavailableOfferings are the offerings that the cloud refused to sell lately. For
	// UnavailableHold the search does not count on them to save money,
	// even if the catalog says that they can be had again: else a cluster keeps
	// trying the cheaper type that is out of stock.
	UnavailableOfferings []UnavailableOffering
}

// UnavailableOffering is an offering that could not be had.
type UnavailableOffering struct {
	// Offering is the one.
	Offering cloudprovider.OfferingKey
	// At is when the cloud refused it.
	At time.Time
}
