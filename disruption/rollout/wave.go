package rollout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Node is a node that a rollout replaces.
type Node struct {
	// Name is its name, unique among the nodes. Required.
	Name string
	// NodePool is its pool. Each pool has waves of its own. Required.
	NodePool string
	// Drifted is when it drifted. Zero means unknown, and sorts first.
	Drifted time.Time
	// Created is when it was created.
	Created time.Time
	// Reason is why it is replaced, for the reader.
	Reason string
}

// compareNodes compares nodes by the order of replacement within a pool: by Drifted, then the
// oldest node first, then by name.
func compareNodes(a, b Node) int {
	return cmp.Or(a.Drifted.Compare(b.Drifted), a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
}

// Options set the size of waves and the pause between them. The zero value, and nil, make waves of
// 1, 2, 4, 8 and so on, without a pause.
type Options struct {
	// Canary is how many nodes the first wave has. Default 1.
	Canary int
	// Growth is the factor between the sizes of consecutive waves. Default 2; 1 makes all waves
	// equal.
	Growth int
	// MaxWave is how many nodes a wave has at most. Zero is no limit.
	MaxWave int
	// Soak is the pause between the end of a wave and the beginning of the next.
	Soak time.Duration
}

// complete returns the options with their defaults.
func (o *Options) complete() Options {
	var s Options
	if o != nil {
		s = *o
	}
	s.Canary, s.Growth = cmp.Or(s.Canary, 1), cmp.Or(s.Growth, 2)
	return s
}

// validate returns all faults of completed options.
func (o *Options) validate() (errs []error) {
	for _, n := range []struct {
		name  string
		value int
		least int
	}{{"canary", o.Canary, 1}, {"growth", o.Growth, 1}, {"maxWave", o.MaxWave, 0}} {
		if n.value < n.least {
			errs = append(errs, fmt.Errorf("options.%s: %d must be at least %d", n.name, n.value, n.least))
		}
	}
	if o.Soak < 0 {
		errs = append(errs, fmt.Errorf("options.soak: %s must not be negative", o.Soak))
	}
	return errs
}

// Wave is the nodes of a pool that are replaced before those of the next wave.
type Wave struct {
	// NodePool is the pool.
	NodePool string
	// Number counts the waves of the pool from 1, which is the canary.
	Number int
	// Nodes are the names, in the order of replacement.
	Nodes []string
}

// Waves divides the nodes of each pool into waves: the first has Canary nodes, each later one
// Growth times as many as the previous one, at most MaxWave. Within a pool nodes are replaced in
// the order in which they drifted, then the oldest first, then by name. Waves are sorted by pool,
// then by number.
//
// The error joins all faults of nodes and options.
func Waves(nodes []Node, opts *Options) ([]Wave, error) {
	o := opts.complete()
	if err := errors.Join(append(o.validate(), checkNodes(nodes)...)...); err != nil {
		return nil, err
	}
	sorted := slices.Clone(nodes)
	slices.SortFunc(sorted, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.NodePool, b.NodePool), compareNodes(a, b))
	})
	var out []Wave
	size := 0
	for _, n := range sorted {
		last := len(out) - 1
		switch {
		case last < 0 || out[last].NodePool != n.NodePool:
			size = o.limit(o.Canary)
			out = append(out, Wave{NodePool: n.NodePool, Number: 1})
		case len(out[last].Nodes) == size:
			size = o.limit(o.grow(size, len(nodes)))
			out = append(out, Wave{NodePool: n.NodePool, Number: out[last].Number + 1})
		}
		last = len(out) - 1
		out[last].Nodes = append(out[last].Nodes, n.Name)
	}
	return out, nil
}

// limit returns a size limited to MaxWave.
func (o *Options) limit(size int) int {
	if o.MaxWave > 0 {
		return min(size, o.MaxWave)
	}
	return size
}

// grow returns the size of the next wave, at most all, so that nothing overflows.
func (o *Options) grow(size, all int) int {
	if size >= all || o.Growth > all/size {
		return max(size, all)
	}
	return size * o.Growth
}

func checkNodes(nodes []Node) (errs []error) {
	seen := map[string]bool{}
	for i, n := range nodes {
		if n.Name == "" || seen[n.Name] {
			errs = append(errs, fmt.Errorf("nodes[%d].name: %q is empty or listed twice; name each node once", i, n.Name))
		}
		if n.NodePool == "" {
			errs = append(errs, fmt.Errorf("nodes[%d].nodePool: missing for %q; waves are made for each pool", i, n.Name))
		}
		seen[n.Name] = true
	}
	return errs
}
