package provisioning

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// attempt is a problem with its domains assigned: each class in parts, one for
// each cell, and parts that are alike to the packer in items.
type attempt struct {
	hints
	levels   []int32 // of priority, highest first, if pods of higher priority come first
	units    []unit  // that domains are assigned to, in the order of service
	problem  *topology.Problem
	assigned *topology.Result
	bundler  *bundler
	kinds    map[int32]int32 // of classes, by that of their lowering

	parts       []part  // those that the packer sees one by one first
	single      int     // how many these are
	bundleParts [][]int // by bundle
	pinnedParts []int   // by pinned pods; -1 if no cell takes them
	items       []item
	packer      *pack.Packer
	origin      *pack.Result // of the attempt that this one comes of in the end, nil if it is the first
}

// part is the pods of a class that are to be in one cell, or anywhere.
type part struct {
	class int
	unit  int // index into attempt.units, -1 for pods that go anywhere
	cell  int // of that unit
	count int
	pin   requirements.Set

	each int // above 0: how many go together, to raise a rule over nodes
	rule int // that rule

	rises bool // it has a rule over nodes that is raised, so that it comes first
}

// item is what the packer sees as one class.
type item struct {
	parts   []int
	units   []int              // for a bundle: how many pods of each part go together
	each    int                // pods that go together, if above 1; all of one class
	content int32              // number of the lowering
	sources []requirements.Set // by variant: what it asks for, as far as that is certain
}

// pods is how many single pods so many of an item stand for; it is for items that are
// no bundles.
func (l *item) pods(n int) int { return n * max(l.each, 1) }

// hints are what is known from attempts before.
type hints struct {
	// rooms bounds, by unit and cell, how many pods go to a cell; nil sets no
	// bounds.
	rooms [][]int
	// incidentalDomains are, by domain rule, domains that nodes for other pods bring
	// along: pods to be spread may not be able to go there, but
	// kube-scheduler counts them.
	incidentalDomains [][]bool
	// relaxed are classes whose preferences are given up, as pods of them found no
	// place.
	relaxed map[int]bool
	// overBudget are classes whose preferences are given up, as they would cost
	// the plan too much.
	overBudget map[int]bool
	// plain gives up all preferences.
	plain bool
	// priorityFirst puts pods of higher priority first, whatever it costs.
	priorityFirst bool
	// raised says, by rule over nodes, how many nodes are to have the same number of
	// its owners at least, where it is above 0.
	raised []int
	// kept are the options that are launched where pods leave the choice; nil
	// for all.
	kept bitset.Set
	// absent are classes whose pods wait until all others have their place.
	absent map[int]bool
	// coarse packs once, as Options.Quick does.
	coarse bool
}

// again are the hints for another try with the same pods, preferences and order of
// service.
func (o *hints) again() hints {
	return hints{overBudget: o.overBudget, plain: o.plain, priorityFirst: o.priorityFirst, absent: o.absent, coarse: o.coarse}
}

// retried says whether these are the hints of another try for pods that were left
// over when all others had made room for them. A coarse one of all pods is as good as
// Options.Quick.
func (o *hints) retried() bool { return o.plain || o.absent != nil }

// givesUp says whether the preferences of a class are given up, as they would cost too
// much.
func (o *hints) givesUp(c int) bool { return o.plain || o.overBudget[c] }

// newAttempt assigns domains and lowers the parts.
func (p *Problem) newAttempt(o hints) *attempt {
	s := &attempt{hints: o, kinds: map[int32]int32{}}
	if s.priorityFirst {
		s.levels = p.levels()
	}
	left := make([]int, len(p.classes))
	for c := range p.classes {
		if p.classes[c].refusal == nil && !o.absent[c] && !p.apart.Has(c) {
			left[c] = len(p.classes[c].pods)
		}
	}
	s.bundler = newBundler(p, left, o.priorityFirst)
	s.units = p.units(s.bundler, left, o)
	if s.problem = s.state(p); len(s.units) > 0 {
		s.assigned = topology.Assign(s.problem)
	}
	s.split(p, left)
	s.lower(p)
	return s
}

// split divides classes into parts: what has a cell goes there, what has no
// constraint goes anywhere, and what no cell takes is no part of any.
func (s *attempt) split(p *Problem, left []int) {
	for u := range s.units {
		if s.units[u].bundle < 0 && s.units[u].pinned < 0 {
			left[s.units[u].members[0].class] -= s.units[u].count
			if s.units[u].leads {
				left[s.units[u].members[0].class] += s.assigned.Blocked[u]
			}
			s.parts = append(s.parts, s.partsOf(p, u)...)
		}
	}
	for c, n := range left {
		if n > 0 {
			s.parts = append(s.parts, part{class: c, unit: -1, count: n})
		}
	}
	slices.SortStableFunc(s.parts, func(a, b part) int { return cmp.Compare(a.class, b.class) })
	s.parts = s.grouped(p, s.parts)
	s.single = len(s.parts)
	s.addBundles(p)
	s.addPinned(p)
}

// partsOf lists the parts of a unit: for each cell that takes some of its pods,
// one for each of its classes.
func (s *attempt) partsOf(p *Problem, u int) []part {
	var out []part
	for cell, n := range s.assigned.Placed[u] {
		if n == 0 {
			continue
		}
		pin := s.pin(p, u, cell)
		for _, m := range s.units[u].members {
			out = append(out, part{class: m.class, unit: u, cell: cell, count: n * m.count, pin: pin})
		}
	}
	return out
}

// addBundles adds the parts of bundles.
func (s *attempt) addBundles(p *Problem) {
	unit := slices.Repeat([]int{-1}, len(s.bundler.bundles))
	for u := range s.units {
		if i := s.units[u].bundle; i >= 0 {
			unit[i] = u
		}
	}
	s.bundleParts = make([][]int, len(unit))
	for i, u := range unit {
		var parts []part
		if u >= 0 {
			parts = s.partsOf(p, u)
		} else {
			for _, m := range s.bundler.bundles[i].members {
				parts = append(parts, part{class: m.class, unit: -1, count: m.count})
			}
		}
		for _, part := range parts {
			s.bundleParts[i] = append(s.bundleParts[i], len(s.parts))
			s.parts = append(s.parts, part)
		}
	}
}

// addPinned adds the parts of pods that can only go to one node.
func (s *attempt) addPinned(p *Problem) {
	s.pinnedParts = slices.Repeat([]int{-1}, len(s.bundler.pinned))
	for i, f := range s.bundler.pinned {
		parts := []part{{class: f.class, unit: -1, count: f.count}}
		for u := range s.units {
			if s.units[u].pinned == i {
				parts = s.partsOf(p, u)
			}
		}
		refused := f.count
		for _, part := range parts {
			s.pinnedParts[i] = len(s.parts)
			s.parts = append(s.parts, part)
			refused -= part.count
		}
		for r, n := range p.takes(f.class, s.bundler.has[f.node]) {
			s.bundler.free[f.node][r] += n * int64(refused)
		}
	}
}

// pin states a cell as requirements.
func (s *attempt) pin(p *Problem, u, cell int) requirements.Set {
	class := &s.problem.Classes[u]
	return p.pinOf(class.Keys, class.Cells[cell].At)
}

// pinOf states domains as requirements.
func (p *Problem) pinOf(keys, at []int) requirements.Set {
	out := requirements.Set{}
	for i, k := range keys {
		key := p.vocabulary.NormalizeKey(p.table.keys[k])
		r := requirements.DoesNotExist(key)
		if d := at[i]; d != topology.None {
			r = requirements.In(key, p.table.values[k][d])
		}
		out = out.Intersect(requirements.NewSet(r)) // two keys may be one by another name
	}
	return out
}

// asksOfNodes says whether a pod selects its nodes by label or name.
func asksOfNodes(pod *corev1.Pod) bool {
	return len(pod.Spec.NodeSelector) > 0 || requiredTerms(pod) != nil
}
