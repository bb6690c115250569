package compile

import (
	"sync"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

// Cache is what is worked out when it is first asked for, and kept for all who solve the
// problem. It is all of a Problem that changes: each table is under a lock of its own, and
// no answer depends on who asked before.
type Cache struct {
	Traits *catalog.Traits

	fitting    memo[string, bitset.Set]      // by request: options with room for one pod
	pins       memo[string, bitset.Set]      // by text: the options that can have them
	low        memo[int32, bitset.Set]       // by ask: the options that hold such a pod
	lowerings  memo[loweringKey, *lowering]  //
	looks      memo[looksKey, bitset.Set]    // of spread rules
	launchable memo[string, []topology.Cell] // by keys, options and request
	numbers    numbers
	hosts      hostRules
}

// memo is a table of answers.
type memo[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]V
}

// of returns the answer to a question, which is worked out the first time. Who asks at
// the same time may work it out as well.
func (m *memo[K, V]) of(key K, work func() V) V {
	m.mu.Lock()
	out, ok := m.known[key]
	m.mu.Unlock()
	if ok {
		return out
	}
	out = work()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[K]V{}
	}
	m.known[key] = out
	return out
}

// ofBytes is of for a question that is written anew each time.
func ofBytes[V any](m *memo[string, V], key []byte, work func() V) V {
	m.mu.Lock()
	out, ok := m.known[string(key)]
	m.mu.Unlock()
	if ok {
		return out
	}
	return m.of(string(key), work)
}

// numbers are those of lowerings and of sets of options: equal for those that are alike.
type numbers struct {
	mu       sync.Mutex
	contents map[string]int32 // of lowerings
	kinds    map[string]int32 // of sets of options
}

// number numbers what write says of a lowering, which may number sets of options in turn.
func (n *numbers) number(write func(kindOf func(bitset.Set) int32) []byte) int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.kinds == nil {
		n.contents, n.kinds = map[string]int32{}, map[string]int32{}
	}
	text := write(func(options bitset.Set) int32 { return KindOf(options, n.kinds) })
	id, _ := model.Intern(n.contents, text, int32(len(n.contents)))
	return id
}
