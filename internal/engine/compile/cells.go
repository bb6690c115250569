package compile

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// CellFinder computes the cells in which classes with constraints over domains may be.
type CellFinder struct {
	P       *Problem
	inPlace [][]bitset.Set // by key and domain: the options that may be in the domain
	Lacking []bitset.Set   // by key: the options that may lack the label
	Beyond  []bitset.Set   // by key: the options that may be in a domain that the table does not list
}

func newCellFinder(p *Problem) *CellFinder {
	f := &CellFinder{P: p}
	for k, key := range p.Table.Keys {
		key = p.Vocabulary.NormalizeKey(key)
		sets := make([]bitset.Set, len(p.Table.Values[k]))
		for d, value := range p.Table.Values[k] {
			sets[d] = p.satisfying(requirements.NewSet(requirements.In(key, value)))
		}
		f.inPlace = append(f.inPlace, sets)
		f.Lacking = append(f.Lacking, p.satisfying(requirements.NewSet(requirements.DoesNotExist(key))))
		f.Beyond = append(f.Beyond, p.satisfying(requirements.NewSet(p.Table.Beyond[k])))
	}
	return f
}

// cells returns the cells of a class over the keys that decide for it: those in which some option
// holds one of its pods, and those of existing nodes with room. The result must not be changed.
// bought caches the cells of options.
func (f *CellFinder) cells(c int, r *catalog.Rater, bought map[cellsKey][]topology.Cell) []topology.Cell {
	spans := f.P.Rules.ByClass[c].Spans
	keys := f.P.Table.Numbers(spans)
	id := cellsKey{f.P.Admission.asks[c], strings.Join(spans, "\x00")}
	out, ok := bought[id]
	if !ok {
		options := f.P.Admission.SuitedToAny(c)
		options.And(f.P.Admission.Fits(f.P.Requests[c]))
		out = f.Launchable(keys, options, f.P.Requests[c], r)
		bought[id] = out
	}
	if len(f.P.Nodes) == 0 {
		return out
	}
	return f.AddNodes(keys, slices.Clone(out), func(node int) int { return f.P.Copies(c, &f.P.Nodes[node]) })
}

// cellsKey identifies the cells of the options that hold pods of a class.
type cellsKey struct {
	ask   int32
	spans string
}

// Launchable returns the cells in which any of some options is, with the unit-price cost of a
// request there. The cost is left out if there is only one cell and no existing node. Results are
// cached, because many classes have equal requirements.
func (f *CellFinder) Launchable(keys []int, options bitset.Set, request []int64, r *catalog.Rater) []topology.Cell {
	id := binary.AppendVarint(make([]byte, 0, 256), int64(len(keys)))
	for _, k := range keys {
		id = binary.AppendVarint(id, int64(k))
	}
	key := options.Key()
	id = append(binary.AppendVarint(id, int64(len(key))), key...)
	for _, n := range request {
		id = binary.AppendVarint(id, n)
	}
	return slices.Clone(ofBytes(&f.P.launchable, id, func() []topology.Cell { return f.find(keys, options, request, r) }))
}

func (f *CellFinder) find(keys []int, options bitset.Set, request []int64, r *catalog.Rater) []topology.Cell {
	var out []topology.Cell
	var within []bitset.Set
	f.product(keys, nil, options, func(at []int, here bitset.Set) {
		out, within = append(out, topology.Cell{At: slices.Clone(at), Room: math.MaxInt}), append(within, here)
	})
	for i := range out {
		if len(out) > 1 || len(f.P.Nodes) > 0 { // existing nodes may be in other cells
			out[i].Cost, _ = r.Best(request, within[i])
		}
	}
	return out
}

// Part is a set of options that are in one cell.
type Part struct {
	At      []int // by key: its domain
	Options bitset.Set
}

// Split divides options of one pool by their cells over some keys, the cell of the cheapest option
// first. An option whose value of a key is open is in several cells.
func (f *CellFinder) Split(keys []int, options bitset.Set) (out []Part) {
	f.product(keys, nil, options, func(at []int, here bitset.Set) { out = append(out, Part{slices.Clone(at), here}) })
	slices.SortStableFunc(out, func(x, y Part) int { return cmp.Compare(x.Options.First(), y.Options.First()) })
	return out
}

// findCounted lists, by class, the keys over which required constraints, their own and those of
// others, count its pods.
func (p *Problem) findCounted() {
	p.Counted = make([][]int, len(p.Classes))
	for c := range p.Classes {
		d := &p.Rules.ByClass[c]
		for _, r := range slices.Concat(d.Owns, d.Joins) {
			rule := &p.Rules.Domain[r]
			if rule.Key >= 0 && rule.Term.Weight == 0 && !slices.Contains(p.Counted[c], rule.Key) {
				p.Counted[c] = append(p.Counted[c], rule.Key)
			}
		}
		slices.Sort(p.Counted[c])
	}
}

// product calls each for every cell in which any of some options is, with these options.
func (f *CellFinder) product(keys, at []int, options bitset.Set, each func(at []int, options bitset.Set)) {
	if options.Empty() {
		return
	}
	if len(at) == len(keys) {
		each(at, options)
		return
	}
	k := keys[len(at)]
	for d, here := range f.inPlace[k] {
		f.product(keys, append(at, d), options.Both(here), each)
	}
	f.product(keys, append(at, topology.None), options.Both(f.Lacking[k]), each)
}

// AddNodes adds the room of existing nodes to cells, and the cells that only existing nodes are in.
// holds returns how many pods, or bundles, a node holds. Several classes may count on the same
// room; the packer resolves that.
func (f *CellFinder) AddNodes(keys []int, cells []topology.Cell, holds func(node int) int) []topology.Cell {
	for i := range f.P.Nodes {
		n := &f.P.Nodes[i]
		free := holds(i)
		if free == 0 || slices.ContainsFunc(keys, func(k int) bool { return n.At[k] == topology.Unknown }) {
			continue
		}
		at := slices.IndexFunc(cells, func(cell topology.Cell) bool { return IsAt(n, keys, cell.At) })
		if at < 0 {
			at = len(cells)
			cells = append(cells, topology.Cell{At: PlaceOf(n, keys), Room: math.MaxInt})
		}
		cells[at].Free += free
	}
	return cells
}

// Copies returns how many pods of a class a node holds.
func (p *Problem) Copies(c int, n *model.Existing) int {
	request, out := p.Takes(c, n.Attached), len(p.Classes[c].Pods)
	if !Within(request, n.Free) || !p.Admits(c, n) {
		return 0
	}
	for r, want := range request {
		if want > 0 {
			out = int(min(int64(out), n.Free[r]/want))
		}
	}
	return out
}

// PlaceOf returns the domains of a node for some keys.
func PlaceOf(n *model.Existing, keys []int) []int {
	at := make([]int, len(keys))
	for j, k := range keys {
		at[j] = n.At[k]
	}
	return at
}

// IsAt says whether a node is in a cell.
func IsAt(n *model.Existing, keys, at []int) bool {
	for j, k := range keys {
		if n.At[k] != at[j] {
			return false
		}
	}
	return true
}
