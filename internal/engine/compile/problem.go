package compile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/static"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/internal/parallel"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Problem is an Input compiled for solving. Apart from its Cache it is immutable, and it is safe
// for concurrent use. NewProblem makes it; the zero value must not be used. Its sections are filled
// in the order below and only read from then on.
type Problem struct {
	Policy      // what is to be solved
	Workload    // pods, by class
	Launchable  // options of new nodes
	Dimensions  // what pods use of nodes, and what nodes have
	Constraints // between pods
	Cluster     // existing nodes
	Places      // where classes may go, and what they prefer
	*Cache      // what is computed on demand
}

// NewProblem compiles an input and headroom pods. It reuses what is unchanged from another problem,
// like, which may be nil: see inherit. The pods in passed give up claims that only one pod may use.
// It returns nil if it found faults.
//
// It takes O(pods + options x (keys required + classes / 64)) time, and little more memory than the
// input has options and classes.
func NewProblem(in model.Input, spare []*corev1.Pod, opts model.Options, like *Problem, passed map[string]bool, f *model.Faults) *Problem {
	p := &Problem{
		Policy:      Policy{In: in, Opts: opts, Vocabulary: in.Vocabulary, Passed: passed},
		Workload:    Workload{Spare: spare, Headroom: map[*corev1.Pod]bool{}},
		Constraints: Constraints{Rules: &Rules{}},
		Cluster:     Cluster{requests: workload.NewRequestsCache(opts.Kubernetes)},
		Cache:       &Cache{},
	}
	if p.Vocabulary == nil {
		p.Vocabulary = requirements.DefaultVocabulary()
	}
	before := p.inherit(like)
	for _, pod := range spare {
		p.Headroom[pod] = true
	}
	var keys workload.PodKeys
	var ofPools, ofStatic model.Faults // listed after those of nodes
	nodes, sameOffers := p.In.Nodes, p.Catalog != nil
	width := parallel.Width(opts.Parallel)
	if sameOffers {
		width = 1 // there is no catalog to read
	}
	parallel.Each(width, 2, func(i int) {
		if i == 0 {
			p.readCatalog(like, &ofPools)
			return
		}
		p.Pods = model.SortedPods(slices.Concat(in.Pods, spare), "Pods", f)
		keys = workload.NewPodKeys(p.Pods)
	})
	p.readNominated(f)
	if len(f.List)+len(ofPools.List) == 0 {
		p.Static, nodes = static.WithMissing(p.Pools, nodes, len(p.Pods), p.Vocabulary, &ofStatic)
	}
	p.listRooms(nodes, sameOffers, before, f)
	p.checkShared(f)
	if p.Daemons == nil {
		p.Daemons = workload.NewDaemons(in.DaemonSetPods, p.requests, p.Vocabulary, f)
	}
	p.Extras = workload.NewExtras(&in, p.Vocabulary, opts.Kubernetes, p.indexes, f)
	p.indexes = p.Extras.Indexes
	k := &classifier{p: p, f: f, keys: keys, reader: workload.NewTermReader(&in, &p.Opts, f), headroom: p.Headroom}
	p.Extras.Read(&workload.Users{In: &p.In, Pods: p.Pods, Daemons: p.Daemons, Headroom: p.Headroom, Passed: passed,
		Barred: func(pod *corev1.Pod) bool { return k.barred(pod) != nil }})
	k.constraining = p.boundKinds.Constraining(p.rooms)
	k.bound, k.boundLimits = k.readBound(), k.readBoundLimits()
	k.classify()
	f.List = append(f.List, ofPools.List...)
	if f.Err() != nil {
		p.checkRooms(f)
		return nil
	}
	r := p.readRooms(before, f)
	for i := range p.Pools {
		p.Pools[i].SetLimits(p.rooms, p.Vocabulary, f)
	}
	f.List = append(f.List, ofStatic.List...)
	p.Extras.Count(p.Classes, p.Daemons, p.types)
	p.Resources = resourceNames(p.Classes, p.Daemons)
	p.Extras.Attached.SetDimensions(p.Resources)
	p.compile(k, r, f)
	if f.Err() != nil {
		return nil
	}
	return p
}

// types lists the instance types of all pools.
func (p *Problem) types() (out []*cloudprovider.InstanceType) {
	for i := range p.Pools {
		out = append(out, p.Pools[i].Types...)
	}
	return out
}

// readCatalog computes what pools can launch, unless inherit has reused that.
func (p *Problem) readCatalog(like *Problem, f *model.Faults) {
	if p.Catalog == nil {
		var known *catalog.Catalog
		if like != nil && p.Vocabulary == like.Vocabulary {
			known = like.Catalog
		}
		p.Catalog = catalog.New(&p.In, p.Vocabulary, known, f)
	}
	p.Pools = p.Catalog.Take(&p.In)
}

// checkRooms finds, for an input that has faults already, the further faults that show only when
// limits and nodes are computed.
func (p *Problem) checkRooms(f *model.Faults) {
	p.Daemons = nil // faults of daemons and instance types have been reported
	for i := range p.Pools {
		p.Pools[i].Types = nil
	}
	p.rooms = model.NewRooms(p.rooms.Nodes, nil, nil, &model.Faults{})
	for i, n := range p.rooms.Nodes {
		p.rooms.Of[i] = model.NewRoom(n)
	}
	p.rooms.Mark(nil)
	r := p.readRooms(nil, f)
	for i := range p.Pools {
		p.Pools[i].SetLimits(p.rooms, p.Vocabulary, f)
	}
	p.existingNodes(r, f)
}

// compile converts the problem to numbers.
func (p *Problem) compile(k *classifier, r *reading, f *model.Faults) {
	d := p.Catalog.Domains
	p.mixCapacity()
	p.findClassOf()
	x := p.compileRules(k)
	p.setCapacities(f)
	p.findDaemonRules(x)
	p.MinValues = p.Catalog.MinValues
	for c := range p.Classes {
		p.Requests = append(p.Requests, p.request(c))
	}
	p.compileNodes(d, x, r, f)
	p.rooms.Close()
	p.Admission = newAdmission(p, d)
	p.Finder = newCellFinder(p)
	if p.Opts.Placed {
		return
	}
	rates := p.Rates.Rater()
	p.compileCells(rates)
	p.findCounted()
	p.coverDomains()
	for i := range p.Pools {
		p.lowerPool(i)
	}
	p.findTiers()
	p.weighPreferences(rates)
	p.findPreferred()
	p.setFlexible()
	p.findUnplaceable()
}

// findClassOf sets ClassOf, once the classes are known.
func (p *Problem) findClassOf() {
	p.ClassOf = make([]int, len(p.Pods))
	for c := range p.Classes {
		for _, podID := range p.Classes[c].Pods {
			p.ClassOf[podID] = c
		}
	}
}

// compileRules computes the constraints between pods.
func (p *Problem) compileRules(k *classifier) *baseline {
	p.Rules = newRules(p, k.reader.Selections)
	x := newBaseline(p, k)
	x.addBoundRules()
	x.addBoundLimits()
	p.Rules.addHolds(p, x.boundHolds())
	p.Rules.join(p)
	p.Rules.addSlots(p)
	return x
}

// compileNodes computes the room of existing nodes, and counts their pods for the rules.
func (p *Problem) compileNodes(d *catalog.Domains, x *baseline, r *reading, f *model.Faults) {
	staying, leaving := p.existingNodes(r, f)
	p.Nodes, p.Hostnames = staying, p.findHostnames(staying, leaving)
	p.Table = newDomainTable(p, p.Rules, d, r.before)
	judge := newNodeAdmission(p, r.before)
	for _, list := range [][]model.Existing{p.Nodes, leaving} {
		at := make([]int, len(list)*len(p.Table.Keys))
		for i := range list {
			n := &list[i]
			n.At, at = at[:len(p.Table.Keys):len(p.Table.Keys)], at[len(p.Table.Keys):]
			n.Verdict = judge.judge(n)
			p.Table.place(n, p.Vocabulary)
		}
	}
	p.position = make([]int, len(p.rooms.Of))
	for i := range p.Nodes {
		p.position[p.Nodes[i].Index] = i
	}
	p.findSoftScores()
	x.count(leaving)
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if len(p.Extras.Attached.Ids) > 0 {
			n.Attached = p.Extras.AttachedTo(n.Pods)
		}
		p.Rules.setSlots(p.OfSlots(n.Free), p.NodeParts[i])
	}
	if !p.Opts.Placed {
		p.findAdmitted(judge.verdicts)
	}
}

// compileCells computes the cells of classes with constraints over domains.
func (p *Problem) compileCells(r *catalog.Rater) {
	p.Cells = make([][]topology.Cell, len(p.Classes))
	bought := map[cellsKey][]topology.Cell{} // many classes have equal requirements
	for c := range p.Classes {
		if len(p.Rules.ByClass[c].Spans) > 0 {
			p.Cells[c] = p.Finder.cells(c, r, bought)
		}
	}
}

// lowerPool adds a pool for the packer. Pools of one weight form a tier.
func (p *Problem) lowerPool(i int) {
	pl := &p.Pools[i]
	low := pack.Pool{First: pl.First, Last: pl.First + len(pl.Options), BestEffort: p.Opts.MinValues == model.BestEffort}
	for _, mv := range p.MinValues[i] {
		low.MinValues = append(low.MinValues, mv.MinValue)
	}
	if i > 0 {
		low.Tier = p.LowPools[i-1].Tier
		if catalog.Weight(pl.Object) != catalog.Weight(p.Pools[i-1].Object) {
			low.Tier++
		}
	}
	if p.bindable(i) {
		low.Limits, low.Uses, low.Levels = pl.Remaining, p.Catalog.Uses[i], p.Catalog.UseLevels[i]
	}
	p.LowPools = append(p.LowPools, low)
}
