package disruption

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Input is the snapshot from which decisions are made. It is read-only, and a Cluster points into
// it: do not change it while that is in use. The slices may be in any order.
//
// Nodes are identified by name: provisioning.Node.Name, which is that of the Node, or of the
// NodeClaim if there is no Node. It is the key of maps by node.
type Input struct {
	// Input is the input of provisioning. Rules read NodePools, InstanceTypes, Nodes, Overlays and
	// Vocabulary; the search that places the pods of removed nodes reads all of it.
	provisioning.Input

	// PodDisruptionBudgets are all those of the cluster.
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget

	// Drift is, by name of the NodeClaim, the drift that the provider reported: see
	// cloudprovider.IsDrifted. A claim without an entry, or with the zero Drift, has not drifted
	// according to the provider.
	Drift map[string]cloudprovider.Drift

	// RepairPolicies say which node conditions need repair: see cloudprovider.RepairPolicies.
	// Without any nothing is repaired.
	RepairPolicies []cloudprovider.RepairPolicy

	// Reboots are, by UID of the NodeClaim, the reboots that were requested. Those of the last 24
	// hours count; older ones may be left out.
	Reboots map[types.UID][]time.Time

	// MarkedForDeletion has the nodes with which an earlier decision deals, and the reason. They
	// are not disrupted again, and count as being removed for budgets.
	MarkedForDeletion map[string]Reason

	// Nominations are, by node, the instant until which it is kept for nominated pods, as returned
	// by nomination.State.Nominations. At that instant the node is free again.
	Nominations map[string]time.Time

	// PodEvents are, by node, the last instant at which a pod other than a DaemonSet's was bound to
	// it, ended or began to end there. The later of this and NodeClaim.Status.LastPodEventTime
	// counts.
	PodEvents map[string]time.Time

	// BufferNodes are the nodes with headroom: those that have a virtual pod of a Buffer in the
	// last plan. They are not empty.
	BufferNodes []string

	// Interruptions are the notices of the cloud that were not acted on yet: see
	// cloudprovider.Interruptions.
	Interruptions []cloudprovider.Interruption

	// Instances is the result of the provider's List: see cloudprovider.CloudProvider. Nil means
	// that List was not called; then nothing is garbage. Call List before reading the NodeClaims.
	Instances []*cloudprovider.Instance

	// InstancesAt is when List was called; zero means now. An object that was younger than
	// GarbageGrace then is no garbage, however old the list is now.
	InstancesAt time.Time

	// CatalogCache is that of an earlier Proposal, so that unchanged objects need not be read again:
	// those with the same address, as by provisioning.Problem.WithInput, which compares NodePools by
	// content. The result is the same with any CatalogCache, or with none. Changes in place to an
	// object since then are not noticed.
	CatalogCache *CatalogCache

	// UnavailableOfferings are the offerings that the cloud recently refused to sell. For
	// UnavailableHold the search does not rely on them to save money, even if the catalog says that
	// they are available again. Otherwise a cluster would keep trying the cheaper type that is out
	// of stock.
	UnavailableOfferings []UnavailableOffering
}

// UnavailableOffering is an offering that could not be launched.
type UnavailableOffering struct {
	// Offering identifies the offering.
	Offering cloudprovider.OfferingKey
	// At is when the cloud refused it.
	At time.Time
}

// CatalogCache has what a search read of pools, catalogs and nodes, for the next search: see
// Input.CatalogCache. It is read-only and safe for concurrent use. It keeps everything that it was
// made from in memory.
type CatalogCache struct{ compiled *simulation.Compiled }
