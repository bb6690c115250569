package catalog

import (
	"sync"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Traits interns what classes ask of contested labels, so that the packer can
// merge by number. Trait 0 asks nothing. It is safe for concurrent use, as
// several goroutines may solve one Problem; the numbers depend on who came
// first, and nothing depends on the numbers.
type Traits struct {
	Domains   *Domains
	contested map[string]bool
	minValues [][]MinValue // by pool

	mu     sync.Mutex
	sets   []requirements.Set // by trait
	number map[string]int32
	bits   map[traitKey]bitset.Set
}

type traitKey struct {
	pool  int
	trait int32
}

// NewTraits begins with no traits; contested are the labels that classes disagree over.
func NewTraits(d *Domains, contested map[string]bool, minValues [][]MinValue) *Traits {
	return &Traits{
		Domains:   d,
		contested: contested,
		minValues: minValues,
		sets:      []requirements.Set{{}},
		number:    map[string]int32{"": 0},
		bits:      map[traitKey]bitset.Set{},
	}
}

// Of returns the trait of what a set asks of contested labels.
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
	t.mu.Lock()
	both := t.sets[a].Intersect(t.sets[b])
	if both.Impossible() {
		t.mu.Unlock()
		return 0, false
	}
	id := t.intern(both)
	t.mu.Unlock()
	return id, !t.Options(pool, id).Empty()
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
