package compile

import (
	"sort"

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

// Policy is the input and the options of the solution.
type Policy struct {
	In         model.Input
	Opts       model.Options
	Vocabulary *requirements.Vocabulary
	Passed     map[string]bool // names of pods that give up claims which only one pod may use
}

// Skips says whether a strategy or pass is left out.
func (p *Policy) Skips(name string) bool { return p.Opts.Trace.Skips(name) }

// Workload has the pods to be placed, in classes of pods that are alike, and the daemons.
type Workload struct {
	Pods      []*corev1.Pod        // sorted by namespace and name
	Spare     []*corev1.Pod        // headroom pods
	Headroom  map[*corev1.Pod]bool // headroom pods as a set
	Classes   []workload.Class
	ClassOf   []int // by pod
	Daemons   []workload.Daemon
	Extras    *workload.Extras // volumes and devices of the pods
	Nominated []Nominated      // by pod ID: pods with a nominated node
}

// Launchable describes the options of new nodes.
type Launchable struct {
	Catalog   *catalog.Catalog // shared with what-ifs
	Pools     []catalog.Pool   // in the order in which they are tried
	Static    []static.Pool
	MinValues [][]catalog.MinValue // by pool

	// The following are in the dimensions of the problem.
	LowPools   []pack.Pool
	LowOptions []pack.Option
	Distinct   *levels.Capacities // capacities of LowOptions
	Rates      *catalog.UnitPrices
	onDaemon   []bitset.Set // by daemon: options on which it runs
	Tiers      tiers
	Flexible   *pack.Flexible
}

// Option returns an option by its number among the options of all pools.
func (p *Problem) Option(number int) *catalog.Option {
	i := sort.Search(len(p.Pools), func(i int) bool { return p.Pools[i].First > number }) - 1
	return &p.Pools[i].Options[number-p.Pools[i].First]
}

// Dimensions describe every vector: the resources, followed by the slots.
type Dimensions struct {
	Resources []corev1.ResourceName
	Requests  [][]int64 // by class
}

// OfResources returns the part of a vector without slots.
func (d *Dimensions) OfResources(vector []int64) []int64 { return vector[:len(d.Resources)] }

// OfSlots returns the slots of a vector.
func (d *Dimensions) OfSlots(vector []int64) []int64 { return vector[len(d.Resources):] }

// Constraints are the constraints between pods.
type Constraints struct {
	Rules *Rules
	Table *domainTable

	// For the selections of affinities over the hostname: whether any pod of the selection is
	// running, and on which nodes.
	Running map[int]bool
	Beside  map[int][]bool

	ByDaemon []DaemonRules
	onSure   []bitset.Set  // by DaemonSet: see sureOn; nil until needed
	ofDaemon []int         // by DaemonSet: index of its DaemonRules, -1 for none
	followed map[int][]int // by class: the selections for which FollowsDaemons is true
}

// Cluster has the existing nodes and their pods.
type Cluster struct {
	Nodes     []model.Existing
	Gone      []model.TerminatingNode // terminating nodes
	NodeParts [][]pack.Membership     // by node: memberships of its pods
	NodeClass []int32                 // by class: equal for classes that the same nodes admit
	Hostnames                         // shared by several nodes

	position []int // by Existing.Index: index in Nodes

	rooms      *model.Rooms // shared, as the fields below, with derived problems
	boundKinds *workload.BoundKinds
	indexes    *workload.Indexes
	requests   *workload.RequestsCache
}

// Places describe where the pods of each class may go, and which places they prefer.
type Places struct {
	Admission *Admission
	Finder    *CellFinder
	Cells     [][]topology.Cell // by class with constraints over domains: where it may go
	Counted   [][]int           // by class: the keys of Table over which required constraints count its pods, ascending

	Preferences []preferences // by class
	Preferred   preferred
	SoftScores  softScores

	Unplaceable bitset.Set // classes that no plan can place
	Apart       bitset.Set // those of Unplaceable that are set aside from the search
}
