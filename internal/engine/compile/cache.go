package compile

import (
	"sync"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

// Cache stores what is computed on demand for all solvers of the problem. It is the only mutable
// part of a Problem. Each table has a lock of its own, and no result depends on the order of calls.
type Cache struct {
	Traits *catalog.Traits

	fitting    memo[string, bitset.Set]      // by request: options with room for one pod
	pins       memo[string, bitset.Set]      // by text of a pin: options that can satisfy it
	low        memo[int32, bitset.Set]       // by number of the requirements on a node: options that hold a pod with these requirements
	lowerings  memo[loweringKey, *lowering]  //
	looks      memo[looksKey, bitset.Set]    // options that spread rules count
	launchable memo[string, []topology.Cell] // by keys, options and request
	numbers    numbers
	hosts      memo[int, *HostRule] // by number in Rules.Host
}

// memo is a table of computed values.
type memo[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]V
}

// of returns the value of a key, computed by work on first use. Concurrent first calls may both
// compute it.
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

// ofBytes does the same as of, for a key in a reused buffer.
func ofBytes[V any](m *memo[string, V], key []byte, work func() V) V {
	m.mu.Lock()
	out, ok := m.known[string(key)]
	m.mu.Unlock()
	if ok {
		return out
	}
	return m.of(string(key), work)
}

// numbers assigns equal numbers to equal lowerings, and to equal sets of options.
type numbers struct {
	mu       sync.Mutex
	contents map[string]int32 // by text of a lowering
	kinds    bitset.Index     // of sets of options
}

// number returns the number of a lowering's text. write returns the text and may number sets of
// options.
func (n *numbers) number(write func(kindOf func(bitset.Set) int32) []byte) int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.contents == nil {
		n.contents = map[string]int32{}
	}
	text := write(func(options bitset.Set) int32 {
		kind, _ := n.kinds.Of(options)
		return kind
	})
	id, _ := model.Intern(n.contents, text, int32(len(n.contents)))
	return id
}
