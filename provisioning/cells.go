package provisioning

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// cellFinder works out where the classes with constraints over domains may go.
type cellFinder struct {
	p       *Problem
	a       *admission
	inPlace [][]bitset.Set // by key and domain: the options that may be there
	lacking []bitset.Set   // by key: the options that may lack the label

	bought map[cellsKey][]topology.Cell // where options are that hold pods of a class

	mu    sync.Mutex                 // guards the rest
	known map[string][]topology.Cell // what launchable found, by what it was asked
}

func newCellFinder(p *Problem, a *admission) *cellFinder {
	f := &cellFinder{p: p, a: a, known: map[string][]topology.Cell{}, bought: map[cellsKey][]topology.Cell{}}
	for k, key := range p.table.keys {
		sets := make([]bitset.Set, len(p.table.values[k]))
		for d, value := range p.table.values[k] {
			sets[d] = f.admitting(requirements.In(p.vocabulary.NormalizeKey(key), value))
		}
		f.inPlace = append(f.inPlace, sets)
		f.lacking = append(f.lacking, f.admitting(requirements.DoesNotExist(p.vocabulary.NormalizeKey(key))))
	}
	return f
}

func (f *cellFinder) admitting(r requirements.Requirement) bitset.Set {
	out := bitset.New(f.a.domains.total)
	for i := range f.p.pools {
		if p := &f.p.pools[i]; len(p.options) > 0 {
			p.window(out).Or(f.a.domains.admitting(i, r))
		}
	}
	return out
}

// cells lists the cells of a class, over the keys that decide for it: those
// where some option holds one of its pods, and those of existing nodes with
// room. They must not be changed.
func (f *cellFinder) cells(c int, r *rater) []topology.Cell {
	spans := f.p.rules.duties[c].spans
	keys := f.p.table.numbers(spans)
	id := cellsKey{f.a.asks[c], strings.Join(spans, "\x00")}
	out, ok := f.bought[id]
	if !ok {
		options := bitset.New(f.a.domains.total)
		for _, set := range f.a.suited[c] {
			options.Or(set)
		}
		options.And(f.a.fits(f.p.requests[c]))
		out = f.launchable(keys, options, f.p.requests[c], r)
		f.bought[id] = out
	}
	if len(f.p.nodes) == 0 {
		return out
	}
	return f.addNodes(keys, slices.Clone(out), func(node int) int { return f.p.copies(c, &f.p.nodes[node]) })
}

// cellsKey is what decides where options that hold pods of a class are.
type cellsKey struct {
	ask   int32
	spans string
}

// launchable lists the cells that some option is in, at what a request costs there
// on paper. Where there is no choice that does not matter. Many classes ask alike, so
// answers are kept.
func (f *cellFinder) launchable(keys []int, options bitset.Set, request []int64, r *rater) []topology.Cell {
	id := binary.AppendVarint(make([]byte, 0, 256), int64(len(keys)))
	for _, k := range keys {
		id = binary.AppendVarint(id, int64(k))
	}
	key := options.Key()
	id = append(binary.AppendVarint(id, int64(len(key))), key...)
	for _, n := range request {
		id = binary.AppendVarint(id, n)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out, ok := f.known[string(id)]
	if !ok {
		out = f.find(keys, options, request, r)
		f.known[string(id)] = out
	}
	return slices.Clone(out)
}

func (f *cellFinder) find(keys []int, options bitset.Set, request []int64, r *rater) []topology.Cell {
	var out []topology.Cell
	f.product(keys, nil, options, &out)
	for i := range out {
		if len(out) > 1 {
			out[i].Cost, _ = r.best(request, f.within(keys, out[i].At, options))
		}
	}
	return out
}

// product adds the cells that some option is in.
func (f *cellFinder) product(keys, at []int, options bitset.Set, out *[]topology.Cell) {
	if options.Empty() {
		return
	}
	if len(at) == len(keys) {
		*out = append(*out, topology.Cell{At: slices.Clone(at), Room: math.MaxInt})
		return
	}
	k := keys[len(at)]
	for d := range f.inPlace[k] {
		here := options.Clone()
		here.And(f.inPlace[k][d])
		f.product(keys, append(at, d), here, out)
	}
	here := options.Clone()
	here.And(f.lacking[k])
	f.product(keys, append(at, topology.None), here, out)
}

// within returns those of some options that are in a cell.
func (f *cellFinder) within(keys, at []int, options bitset.Set) bitset.Set {
	out := options.Clone()
	for j, k := range keys {
		if at[j] >= 0 {
			out.And(f.inPlace[k][at[j]])
		} else {
			out.And(f.lacking[k])
		}
	}
	return out
}

// addNodes adds what existing nodes hold to cells, and the cells that only they are
// in. holds says how many pods, or bundles, a node holds by itself; several classes may
// count on the same room, which shows when nodes are filled.
func (f *cellFinder) addNodes(keys []int, cells []topology.Cell, holds func(node int) int) []topology.Cell {
	for i := range f.p.nodes {
		n := &f.p.nodes[i]
		free := holds(i)
		if free == 0 || slices.ContainsFunc(keys, func(k int) bool { return n.at[k] == topology.Unknown }) {
			continue
		}
		at := slices.IndexFunc(cells, func(cell topology.Cell) bool { return isAt(n, keys, cell.At) })
		if at < 0 {
			at = len(cells)
			cells = append(cells, topology.Cell{At: placeOf(n, keys), Room: math.MaxInt})
		}
		cells[at].Free += free
	}
	return cells
}

// copies says how many pods of a class a node holds.
func (p *Problem) copies(c int, n *existing) int {
	request, out := p.takes(c, n.attached), len(p.classes[c].pods)
	if !within(request, n.free) || !p.admits(c, n) {
		return 0
	}
	for r, want := range request {
		if want > 0 {
			out = int(min(int64(out), n.free[r]/want))
		}
	}
	return out
}

// placeOf returns the domains of a node.
func placeOf(n *existing, keys []int) []int {
	at := make([]int, len(keys))
	for j, k := range keys {
		at[j] = n.at[k]
	}
	return at
}

// isAt says whether a node is in a cell.
func isAt(n *existing, keys, at []int) bool {
	for j, k := range keys {
		if n.at[k] != at[j] {
			return false
		}
	}
	return true
}
