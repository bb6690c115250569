package cache

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// idle is how long a question is kept after it was last asked. It is long because an answer takes
// little memory, and may be the only one while AWS cannot be reached.
const idle = 48 * time.Hour

// Keyed is a set of cells for questions of one kind. Create it with NewKeyed.
type Keyed[T any] struct {
	set Settings[T]

	mu    sync.Mutex
	cells map[string]*entry[T]
	swept time.Time
}

type entry[T any] struct {
	cell *Cell[T]
	used time.Time
}

// NewKeyed returns a Keyed without questions. The name in the settings is that of the kind; Keyed
// adds the key to it.
func NewKeyed[T any](set Settings[T]) *Keyed[T] {
	if set.Asking == nil {
		set.Asking = NewAsking()
	}
	return &Keyed[T]{set: set, cells: map[string]*entry[T]{}}
}

// Get is Cell.Get for the question of the key. The functions of calls with equal keys must ask the
// same question. A question that was not used for two days is dropped with its answer.
func (k *Keyed[T]) Get(ctx context.Context, key string, ask func(context.Context) (T, error)) (T, Reading, error) {
	return k.cell(key).Get(ctx, ask)
}

func (k *Keyed[T]) cell(key string) *Cell[T] {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.set.Now()
	k.sweep(now)
	e := k.cells[key]
	if e == nil {
		set := k.set
		set.Name += " " + key
		e = &entry[T]{cell: NewCell(set)}
		k.cells[key] = e
	}
	e.used = now
	return e.cell
}

// Answers returns the last answers, without asking, sorted by key.
func (k *Keyed[T]) Answers() []T {
	var out []T
	for _, c := range k.all() {
		out = append(out, c.Answer())
	}
	return out
}

// sweep drops idle questions. It runs only once in a while, because it visits all questions.
func (k *Keyed[T]) sweep(now time.Time) {
	if since := now.Sub(k.swept); since >= 0 && since < idle/8 {
		return
	}
	k.swept = now
	maps.DeleteFunc(k.cells, func(_ string, e *entry[T]) bool { return now.Sub(e.used) >= idle })
}

// Renew is Cell.Renew for all questions, one function for each.
func (k *Keyed[T]) Renew(ctx context.Context) (waits []func() error) {
	for _, c := range k.all() {
		waits = append(waits, c.Renew(ctx))
	}
	return waits
}

// Drop is Cell.Drop for all questions.
func (k *Keyed[T]) Drop() {
	for _, c := range k.all() {
		c.Drop()
	}
}

// Forget drops the questions and answers of the keys for which the function returns true.
func (k *Keyed[T]) Forget(which func(key string) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.cells, func(key string, _ *entry[T]) bool { return which(key) })
}

// Health returns the state of each question, sorted by name.
func (k *Keyed[T]) Health() []Health {
	var out []Health
	for _, c := range k.all() {
		out = append(out, c.Health())
	}
	return out
}

// all returns the cells, sorted by key.
func (k *Keyed[T]) all() []*Cell[T] {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []*Cell[T]
	for _, key := range slices.Sorted(maps.Keys(k.cells)) {
		out = append(out, k.cells[key].cell)
	}
	return out
}
