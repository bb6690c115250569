package provisioning

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// bundle is pods that must be on one node, as they have an affinity over the
// name of the node to one another. The packer sees them as one pod.
type bundle struct {
	members []bundled
	phase   phase // of those that have the affinity
	request []int64
	parts   []pack.Membership
}

// bundled is a number of pods of a class, in the order they can be bound.
type bundled struct{ class, count int }

// pinned is pods that can only go to a node that exists, where the pods are that
// they want to be with.
type pinned struct{ node, class, count int }

// bundler deals with affinity over the name of the node, before the packer
// sees the rest.
type bundler struct {
	p       *Problem
	left    []int // by class
	free    [][]int64
	parts   [][]pack.Membership // by node
	has     [][]int32           // by node: volumes that are attached
	lowered map[int]bitset.Set  // by class, once asked for: options that hold one of its pods
	pinned  []pinned
	bundles []bundle
}

// newBundler takes all pods with such an affinity out of left and places or
// bundles them:
//
//  1. on nodes where a pod runs that they want to be with, while there is room;
//  2. beside a pod still to be placed that has no such affinity itself, each
//     such pod taking as many as fit one node with it;
//  3. or, if nobody runs whom they want to be with and they may be the first,
//     as many as fit one node together.
//
// The rest has no place. It costs O(nodes x classes with such an affinity).
//
// Pods that have volumes in common come after that. If priorityFirst is set, nodes are
// left to those that come first by priority.
func newBundler(p *Problem, left []int, priorityFirst bool) *bundler {
	b := &bundler{p: p, left: left, lowered: map[int]bitset.Set{}}
	for i := range p.nodes {
		b.free = append(b.free, p.nodes[i].free)
		b.parts = append(b.parts, p.nodeParts[i])
		b.has = append(b.has, p.nodes[i].attached)
	}
	for _, s := range p.togetherOverNodes() {
		b.join(s)
	}
	if len(p.extras.attached.ids) > 0 {
		if !priorityFirst && !p.skips(sharedFirst) {
			b.joinAttached()
		}
		if !p.skips(sharedWhole) {
			b.bundleShares()
		}
	}
	return b
}

// togetherOverNodes lists the selections of affinities over the name of the
// node, once each.
func (p *Problem) togetherOverNodes() []int {
	var out []int
	for c := range p.classes {
		for _, t := range p.rules.duties[c].with {
			if !slices.Contains(out, t.pods) {
				out = append(out, t.pods)
			}
		}
	}
	return out
}

// wants says whether pods of a class must be on one node with pods of a
// selection.
func (p *Problem) wants(c, selection int) bool {
	return slices.ContainsFunc(p.rules.duties[c].with, func(t term) bool { return t.pods == selection })
}

func (b *bundler) join(s int) {
	var owners, targets []int
	for c := range b.p.classes {
		switch d := &b.p.rules.duties[c]; {
		case b.left[c] == 0:
		case b.p.wants(c, s):
			owners = append(owners, c)
		case b.p.classes[c].selected.Has(s) && !b.p.classes[c].headroom && len(d.with) == 0 && d.phase == atWill && !b.p.rules.countedOverNodes(b.p, c):
			targets = append(targets, c)
		}
	}
	first := !b.p.running[s]
	for i := range b.p.nodes {
		if b.p.beside[s] != nil && b.p.beside[s][i] {
			b.fix(i, owners)
		}
	}
	for _, t := range targets {
		for b.left[t] > 0 && b.some(owners) {
			if !b.bundle(t, owners) {
				break
			}
			first = false
		}
	}
	if first && b.some(owners) {
		leaders := slices.DeleteFunc(slices.Clone(owners), func(c int) bool { return !b.p.classes[c].selected.Has(s) })
		for _, leader := range leaders {
			if b.left[leader] > 0 && b.bundle(leader, owners) {
				break
			}
		}
	}
	for _, c := range owners {
		b.left[c] = 0
	}
}

func (b *bundler) some(classes []int) bool {
	return slices.ContainsFunc(classes, func(c int) bool { return b.left[c] > 0 })
}

// fix places pods on a node while they fit.
func (b *bundler) fix(node int, classes []int) {
	tally := pack.NewTally(b.p.packRules(), b.parts[node])
	free := slices.Clone(b.free[node])
	for _, c := range classes {
		n := 0
		for n < b.left[c] && b.p.admits(c, &b.p.nodes[node]) && within(b.p.takes(c, b.has[node]), free) && tally.Add(b.p.rules.duties[c].parts) {
			subtract(free, b.p.takes(c, b.has[node]))
			b.has[node] = b.p.attach(b.has[node], c)
			n++
		}
		if n > 0 {
			b.left[c] -= n
			b.pinned = append(b.pinned, pinned{node, c, n})
			for _, part := range b.p.rules.duties[c].parts {
				b.parts[node] = addPart(slices.Clone(b.parts[node]), part.Rule, part.Owners*n, part.Members*n, part.Both*n)
			}
		}
	}
	b.free[node] = free
}

// together adds two requests, if what comes out is a number that nodes have.
func together(a, b []int64) ([]int64, bool) {
	sum := slices.Clone(a)
	for r, n := range b {
		if n > math.MaxInt64-sum[r] {
			return nil, false
		}
		sum[r] += n
	}
	return sum, true
}

func subtract(from, what []int64) {
	for r, n := range what {
		from[r] -= n
	}
}

// bundle puts one pod of the leader and as many followers as fit one node
// together, and says whether the leader fits at all.
func (b *bundler) bundle(leader int, followers []int) bool {
	return b.bundleSome(leader, followers, following, math.MaxInt)
}

// bundleSome does so for at most so many followers. The bundle has its turn in a
// phase, or earlier if that of its pods with such an affinity is.
func (b *bundler) bundleSome(leader int, followers []int, phase phase, most int) bool {
	p := b.p
	options := bitset.New(p.admission.domains.total)
	options.AddRange(0, p.admission.domains.total)
	nodes := bitset.New(len(p.nodes))
	nodes.AddRange(0, len(p.nodes))
	out := bundle{phase: phase, request: make([]int64, len(p.requests[leader]))}
	tally := pack.NewTally(p.packRules(), nil)
	var attached []int32
	take := func(c int) bool {
		sum, ok := together(out.request, p.takes(c, attached))
		if !ok {
			return false
		}
		fresh, old := options.Clone(), nodes.Clone()
		fresh.And(b.options(c))
		fresh.And(p.admission.fits(sum))
		last := len(out.members) - 1
		again := last >= 0 && out.members[last].class == c // then the nodes that are left admit it
		for i := range old.All() {
			if !within(sum, b.free[i]) || !again && !p.admits(c, &p.nodes[i]) {
				old.Remove(i)
			}
		}
		if fresh.Empty() && old.Empty() || !tally.Add(p.rules.duties[c].parts) {
			return false
		}
		options, nodes, out.request = fresh, old, sum
		attached = p.attach(attached, c)
		if again {
			out.members[last].count++
		} else {
			out.members = append(out.members, bundled{c, 1})
		}
		for _, part := range p.rules.duties[c].parts {
			out.parts = addPart(out.parts, part.Rule, part.Owners, part.Members, part.Both)
		}
		b.left[c]--
		if d := &p.rules.duties[c]; len(d.with) > 0 {
			out.phase = min(out.phase, d.phase)
		}
		return true
	}
	if !take(leader) {
		return false
	}
	for _, c := range followers {
		for ; most > 0 && b.left[c] > 0 && take(c); most-- {
		}
	}
	b.bundles = append(b.bundles, out)
	return true
}

// options returns the options that hold a pod of a class, worked out once.
func (b *bundler) options(c int) bitset.Set {
	if b.lowered[c] == nil {
		b.lowered[c] = b.p.admission.lowered(c)
	}
	return b.lowered[c]
}

// lowerBundle returns a bundle as the packer sees it. Alternatives of its pods
// that leave labels open are not combined: such bundles take only what is
// settled.
func (a *admission) lowerBundle(b *bundle, pin requirements.Set, preferred bitset.Set, kinds map[int32]int32) (pack.Class, item) {
	out := pack.Class{Request: b.request, Count: 1, Memberships: b.parts}
	var options bitset.Set
	var asked requirements.Set
	trait := int32(0)
	for _, m := range b.members {
		class, l := a.lowerWith(m.class, pin, preferred, kinds)
		out.Kind = class.Kind
		if len(class.Variants) == 0 {
			return out, item{}
		}
		v := class.Variants[0]
		if options == nil {
			options = v.Options.Clone()
		}
		options.And(v.Options)
		asked = asked.Intersect(l.sources[0])
	}
	trait = a.traits.of(asked)
	options.And(a.fits(b.request))
	out.Variants = []pack.Variant{{Options: options, Trait: trait}}
	return out, item{sources: []requirements.Set{asked}}
}

// findRunning notes, for each selection of an affinity over the name of the
// node, whether a pod of it runs anywhere, and on which nodes.
func (x *baseline) findRunning(leaving []existing) {
	p := x.p
	p.running, p.beside = map[int]bool{}, map[int][]bool{}
	selections := p.togetherOverNodes()
	if len(selections) == 0 {
		return
	}
	for i := range p.nodes {
		x.noteRunning(&p.nodes[i], i, selections)
	}
	for i := range leaving {
		x.noteRunning(&leaving[i], -1, selections)
	}
}

func (x *baseline) noteRunning(n *existing, index int, selections []int) {
	for i, kind := range n.boundMemberships {
		if !x.counts(n, i, index < 0) {
			continue
		}
		members := x.selected(kind)
		for _, s := range selections {
			if !members.Has(s) {
				continue
			}
			x.p.running[s] = true
			_, named := n.standing.labels[corev1.LabelHostname]
			if index < 0 || !named && x.r.selections[s].claim == "" {
				continue
			}
			if x.p.beside[s] == nil {
				x.p.beside[s] = make([]bool, len(x.p.nodes))
			}
			x.p.beside[s][index] = true
		}
	}
}

// dropCoveredAffinity takes away affinities over other labels from classes that
// have one to the same pods over the name of the node: being on one node is
// being in one zone.
func (r *rules) dropCoveredAffinity(d *duty) {
	if len(d.with) == 0 {
		return
	}
	d.owns = slices.DeleteFunc(d.owns, func(o int) bool {
		same := func(t term) bool { return t.pods == r.domain[o].pods }
		return r.domain[o].Kind == topology.Together && slices.ContainsFunc(d.with, same)
	})
	d.spans = nil
	for _, o := range d.owns {
		d.span(r.domain[o].key)
	}
}
