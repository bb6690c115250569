package compile

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/levels"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/static"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Policy is the input, and what is asked of a solution.
type Policy struct {
	In         model.Input
	Opts       model.Options
	Vocabulary *requirements.Vocabulary
	Passed     map[string]bool // pods that leave claims for one pod only to others
}

// Skips says whether a strategy or pass is left out.
func (p *Policy) Skips(name string) bool { return p.Opts.Trace.Skips(name) }

// Workload is the pods to be placed, in classes of those that are alike, and those of
// daemons.
type Workload struct {
	Pods      []*corev1.Pod        // by namespace and name
	Spare     []*corev1.Pod        // the pods that stand for buffers
	Headroom  map[*corev1.Pod]bool // the same
	Classes   []workload.Class
	ClassOf   []int // by pod
	Daemons   []workload.Daemon
	Extras    *workload.Extras // their volumes and devices
	Nominated []Nominated      // by pod ID: the places to try first
}

// Launchable is what new nodes can be.
type Launchable struct {
	Catalog   *catalog.Catalog // shared with what-ifs
	Pools     []catalog.Pool   // in the order they are tried
	Static    []static.Pool
	MinValues [][]catalog.MinValue // by pool

	// In the dimensions of the problem.
	LowPools   []pack.Pool
	LowOptions []pack.Option
	Distinct   *levels.Capacities // of LowOptions
	Rates      *catalog.UnitPrices
	onDaemon   []bitset.Set // by daemon: the options where it runs
	Tiers      tiers
	Flexible   *pack.Flexible
}

// Dimensions are those of every vector: resources, and behind them slots.
type Dimensions struct {
	Resources []corev1.ResourceName
	Requests  [][]int64 // by class
}

// OfResources is the part of a vector without slots.
func (d *Dimensions) OfResources(vector []int64) []int64 { return vector[:len(d.Resources)] }

// OfSlots is the part of a vector behind it.
func (d *Dimensions) OfSlots(vector []int64) []int64 { return vector[len(d.Resources):] }

// Constraints are those between pods.
type Constraints struct {
	Rules *Rules
	Table *domainTable

	// For the selections of affinities over the name of the node: whether a pod
	// of one runs, and on which nodes.
	Running map[int]bool
	Beside  map[int][]bool

	DaemonDuties []DaemonDuty
	onSure       []bitset.Set  // by DaemonSet: see sureOn; nil until it is asked for
	ofDaemon     []int         // by DaemonSet: its duty, -1 for none
	followed     map[int][]int // by class: the selections that FollowsDaemons is about
}

// Cluster is the nodes that exist, with the pods that run there.
type Cluster struct {
	Nodes     []model.Existing
	Gone      []model.TerminatingNode // nodes on their way out
	NodeParts [][]pack.Membership     // by node: what its pods count for
	NodeClass []int32                 // by class: equal for those that the same nodes admit
	Hostnames                         // that several nodes have

	position []int // by Existing.Index: place among Nodes

	rooms      *model.Rooms // shared with problems that come of this one, as are:
	boundKinds *workload.BoundKinds
	indexes    *workload.Indexes
	requests   *workload.RequestsCache
}

// Places are where the pods of each class may go, and which of these they prefer.
type Places struct {
	Admission *Admission
	Finder    *CellFinder
	Cells     [][]topology.Cell // by class: where it may go, if it has constraints over domains
	Counted   [][]int           // by class: the keys of Table over which hard constraints count its pods, ascending

	Preferences []preferences // by class
	Preferred   preferred
	SoftScores  softScores

	Hopeless bitset.Set // classes that have no place whatever becomes of others
	Apart    bitset.Set // those of them that have no part in the search
}
