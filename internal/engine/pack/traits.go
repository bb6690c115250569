package pack

import "github.com/dovetail-sdk/dovetail/internal/engine/bitset"

// traitCache caches merges of traits, which recur often. It must not be used by several goroutines
// at a time.
type traitCache struct {
	traits Traits
	pools  []Pool
	known  map[traitPair]traitMerge
}

type traitPair struct {
	pool int
	a, b int32
}

type traitMerge struct {
	trait int32
	ok    bool
}

func newTraitCache(p *Problem) *traitCache {
	return &traitCache{traits: p.Traits, pools: p.Pools, known: map[traitPair]traitMerge{}}
}

// join returns the trait of a bin with trait have that takes pods with trait want, or false if it
// cannot take them.
func (t *traitCache) join(b *bin, have, want int32) (int32, bool) {
	if b.option < 0 {
		return 0, true
	}
	merged, ok := t.merge(b.pool, have, want)
	if !ok || merged == have {
		return merged, ok
	}
	return merged, t.traits.Options(b.pool, merged).Has(b.option - bitset.Base(t.pools[b.pool].First))
}

func (t *traitCache) merge(pool int, a, b int32) (int32, bool) {
	switch {
	case b == 0 || a == b:
		return a, true
	case a == 0:
		return b, true
	}
	pair := traitPair{pool, a, b}
	m, ok := t.known[pair]
	if !ok {
		m.trait, m.ok = t.traits.Merge(pool, a, b)
		t.known[pair] = m
	}
	return m.trait, m.ok
}
