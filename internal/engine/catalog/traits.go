package catalog

import (
	"sync"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Traits numbers the requirements of classes on contested labels, so that the packer can merge them
// by number. Trait 0 requires nothing. Several goroutines may solve one Problem, so Traits is safe
// for concurrent use. The numbers depend on which goroutine asks first; no result depends on the
// numbers.
type Traits struct {
	Domains   *Domains
	contested map[string]bool
	minValues [][]MinValue // by pool

	mu     sync.Mutex
	sets   []requirements.Set // by trait
	number map[string]int32
	merged map[[2]int32]int32 // by two traits; negative if they conflict
	bits   map[traitKey]bitset.Set
}

type traitKey struct {
	pool  int
	trait int32
}

// NewTraits starts with trait 0 only. contested are the labels over which classes disagree.
func NewTraits(d *Domains, contested map[string]bool, minValues [][]MinValue) *Traits {
	return &Traits{
		Domains:   d,
		contested: contested,
		minValues: minValues,
		sets:      []requirements.Set{{}},
		number:    map[string]int32{"": 0},
		merged:    map[[2]int32]int32{},
		bits:      map[traitKey]bitset.Set{},
	}
}

// Of returns the trait of the requirements of a set on contested labels.
func (t *Traits) Of(s requirements.Set) int32 {
	var asked []requirements.Requirement
	for r := range s.All() {
		if t.contested[r.Key()] {
			asked = append(asked, r)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.intern(requirements.NewSet(asked...))
}

func (t *Traits) intern(s requirements.Set) int32 {
	id, fresh := model.Intern(t.number, []byte(s.String()), int32(len(t.sets)))
	if fresh {
		t.sets = append(t.sets, s)
	}
	return id
}

// Merge implements pack.Traits.
func (t *Traits) Merge(pool int, a, b int32) (int32, bool) {
	id := t.both(a, b)
	if id < 0 {
		return 0, false
	}
	return id, !t.Options(pool, id).Empty()
}

// both returns the trait that requires what a and b require, negative if they conflict.
func (t *Traits) both(a, b int32) int32 {
	switch {
	case b == 0 || a == b:
		return a
	case a == 0:
		return b
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.merged[[2]int32{a, b}]; ok {
		return known
	}
	id := int32(-1)
	if both := t.sets[a].Intersect(t.sets[b]); !both.Impossible() {
		id = t.intern(both)
	}
	t.merged[[2]int32{a, b}] = id
	return id
}

// Options implements pack.Traits.
func (t *Traits) Options(pool int, trait int32) bitset.Set {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := traitKey{pool, trait}
	if known, ok := t.bits[id]; ok {
		return known
	}
	out := t.Domains.AdmittingAll(pool, t.sets[trait])
	t.bits[id] = out
	return out
}

// Values implements pack.Traits.
func (t *Traits) Values(pool, minValue int, trait int32) bitset.Set {
	mv := &t.minValues[pool][minValue]
	t.mu.Lock()
	asked := t.sets[trait]
	t.mu.Unlock()
	r, ok := asked.Get(mv.Key)
	if !ok {
		return nil
	}
	return mv.allowed(r)
}
