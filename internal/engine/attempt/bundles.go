package attempt

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// bundle is pods that must be on one node because they have an affinity to one another over the
// hostname. The packer sees them as one pod.
type bundle struct {
	members []Bundled
	Phase   compile.Phase // phase of the pods that have the affinity
	request []int64
	parts   []pack.Membership
}

// Bundled is a number of pods of a class. A list of them is in the order in which they can be
// bound.
type Bundled struct{ Class, Count int }

// pinned is pods that can go to one existing node only, because the pods that they have an affinity
// to are there.
type pinned struct{ Node, Class, count int }

// bundler handles affinity over the hostname before the other pods are packed.
type bundler struct {
	p       *compile.Problem
	left    []int // by class: pods not handled yet
	free    [][]int64
	parts   [][]pack.Membership // by existing node
	has     [][]int32           // by existing node: volumes that are attached
	Pinned  []pinned
	Bundles []bundle
}

// newBundler removes all pods with an affinity over the hostname from left, and places or bundles
// them:
//
//  1. on nodes with a running pod that they have the affinity to, while there is room;
//  2. with a pod to be placed that has no such affinity itself: each such pod takes as many as
//     fit one node with it;
//  3. or, if no pod that they have the affinity to exists and they may be the first, as many as
//     fit one node together.
//
// Pods that fit none of these have no place. The cost is O(nodes x classes with such an affinity).
//
// Pods that share volumes are bundled after that.
func newBundler(p *compile.Problem, left []int) *bundler {
	b := &bundler{p: p, left: left}
	b.free, b.parts, b.has = make([][]int64, len(p.Nodes)), slices.Clone(p.NodeParts), make([][]int32, len(p.Nodes))
	for i := range p.Nodes {
		b.free[i], b.has[i] = p.Nodes[i].Free, p.Nodes[i].Attached
	}
	for _, s := range p.TogetherOverNodes() {
		b.join(s)
	}
	if len(p.Extras.Attached.Ids) > 0 && !p.Skips(model.SharedWhole) {
		b.bundleShares()
	}
	return b
}

// Wants says whether pods of a class must be on one node with pods of a selection.
func Wants(p *compile.Problem, c, selection int) bool {
	return slices.ContainsFunc(p.Rules.ByClass[c].With, func(t workload.Term) bool { return t.Pods == selection })
}

func (b *bundler) join(s int) {
	var owners, targets []int
	for c := range b.p.Classes {
		switch d := &b.p.Rules.ByClass[c]; {
		case b.left[c] == 0:
		case Wants(b.p, c, s):
			owners = append(owners, c)
		case b.p.Classes[c].Selected.Has(s) && !b.p.Classes[c].Headroom && len(d.With) == 0 && d.Phase == compile.AtWill && !b.p.Rules.CountedOverNodes(b.p, c):
			targets = append(targets, c)
		}
	}
	first := !b.p.Running[s]
	for i := range b.p.Nodes {
		if b.p.Beside[s] != nil && b.p.Beside[s][i] {
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
		leaders := slices.DeleteFunc(slices.Clone(owners), func(c int) bool { return !b.p.Classes[c].Selected.Has(s) })
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

// fix pins pods of some classes to a node while they fit.
func (b *bundler) fix(node int, classes []int) {
	parts, free := slices.Clone(b.parts[node]), slices.Clone(b.free[node])
	for _, c := range classes {
		n := 0
		for n < b.left[c] && b.p.Admits(c, &b.p.Nodes[node]) && compile.Within(b.p.Takes(c, b.has[node]), free) && b.joins(c, parts) {
			parts = pack.AddPods(parts, 1, b.p.Rules.ByClass[c].Parts...)
			Subtract(free, b.p.Takes(c, b.has[node]))
			b.has[node] = b.p.Attach(b.has[node], c)
			n++
		}
		if n > 0 {
			b.left[c] -= n
			b.Pinned = append(b.Pinned, pinned{node, c, n})
		}
	}
	b.free[node], b.parts[node] = free, parts
}

// joins says whether the packer's rules allow one more pod of a class on a node with pods of the
// memberships there.
func (b *bundler) joins(c int, there []pack.Membership) bool {
	return !slices.ContainsFunc(b.p.Rules.ByClass[c].Parts, func(part pack.Membership) bool {
		return !b.p.Rules.Node[part.Rule].Admits(part, there)
	})
}

// Together returns the sum of two requests; false if it overflows, because no node has that much.
func Together(a, b []int64) ([]int64, bool) {
	sum := slices.Clone(a)
	for r, n := range b {
		if n > math.MaxInt64-sum[r] {
			return nil, false
		}
		sum[r] += n
	}
	return sum, true
}

// Subtract subtracts amounts in place.
func Subtract(from, what []int64) {
	for r, n := range what {
		from[r] -= n
	}
}

// bundle bundles one pod of the leader with as many followers as fit one node, and says whether the
// leader fits on any node.
func (b *bundler) bundle(leader int, followers []int) bool {
	return b.bundleSome(leader, followers, compile.Following, math.MaxInt)
}

// bundleSome is bundle for at most the given number of followers. The bundle is assigned in the
// given phase, or in the phase of one of its pods if that is earlier.
func (b *bundler) bundleSome(leader int, followers []int, phase compile.Phase, most int) bool {
	p := b.p
	options := bitset.New(p.Admission.Domains.Total)
	options.AddRange(0, p.Admission.Domains.Total)
	nodes := bitset.New(len(p.Nodes))
	nodes.AddRange(0, len(p.Nodes))
	out := bundle{Phase: phase, request: make([]int64, len(p.Requests[leader]))}
	var attached []int32
	take := func(c int) bool {
		sum, ok := Together(out.request, p.Takes(c, attached))
		if !ok {
			return false
		}
		fresh, old := options.Clone(), nodes.Clone()
		fresh.And(p.Admission.Lowered(c))
		fresh.And(p.Admission.Fits(sum))
		last := len(out.members) - 1
		again := last >= 0 && out.members[last].Class == c // the nodes that are left admit the class
		for i := range old.All() {
			if !compile.Within(sum, b.free[i]) || !again && !p.Admits(c, &p.Nodes[i]) {
				old.Remove(i)
			}
		}
		if fresh.Empty() && old.Empty() || !b.joins(c, out.parts) {
			return false
		}
		options, nodes, out.request = fresh, old, sum
		attached = p.Attach(attached, c)
		if again {
			out.members[last].Count++
		} else {
			out.members = append(out.members, Bundled{c, 1})
		}
		out.parts = pack.AddPods(out.parts, 1, p.Rules.ByClass[c].Parts...)
		b.left[c]--
		if d := &p.Rules.ByClass[c]; len(d.With) > 0 {
			out.Phase = min(out.Phase, d.Phase)
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
	b.Bundles = append(b.Bundles, out)
	return true
}

// lowerBundle returns a bundle as the packer sees it. Alternatives of its pods that leave labels
// open are not combined: such a bundle takes only alternatives that leave none open.
func lowerBundle(p *compile.Problem, b *bundle, pin requirements.Set, kinds map[int32]int32) (pack.Class, Item) {
	out := pack.Class{Request: b.request, Count: 1, Memberships: b.parts}
	var options bitset.Set
	var asked requirements.Set
	for _, m := range b.members {
		class, l := Lower(p.Admission, m.Class, pin, nil, kinds)
		out.Kind = class.Kind
		if len(class.Variants) == 0 {
			return out, Item{}
		}
		v := class.Variants[0]
		if options == nil {
			options = v.Options.Clone()
		}
		options.And(v.Options)
		asked = asked.Intersect(l.Sources[0])
	}
	options.And(p.Admission.Fits(b.request))
	out.Variants = []pack.Variant{{Options: options, Trait: p.Traits.Of(asked)}}
	return out, Item{Sources: []requirements.Set{asked}}
}
