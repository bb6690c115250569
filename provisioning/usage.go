package provisioning

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// PoolUsage is the capacity of a NodePool's nodes, as its limits count it.
type PoolUsage struct {
	// Pool is the pool, as in the Input.
	Pool *v1.NodePool
	// Nodes is the number of its nodes. Terminating nodes do not count; NodeClaims count as soon as
	// they exist.
	Nodes int64
	// Resources is the total capacity of these nodes, and their number under v1.ResourceNodes: what
	// status.resources of the pool shows. A NodeClaim that has not been launched counts, for each
	// resource, with the most that it may turn out to have.
	Resources resources.List
	// Left is, by limited resource, what the limits of the pool leave for new nodes, zero if a
	// limit is used up or exceeded. A resource that is not listed has no limit.
	Left resources.List
}

// Usage returns the capacity of each NodePool's nodes, and what its limits leave, sorted by name of
// the pool. The error lists nodes whose capacity cannot be read, as *InputError joined by
// errors.Join.
//
// It takes O(pools x nodes) time, and a pass over the instance types of its pool for each NodeClaim
// that has not been launched.
func (p *Problem) Usage() ([]PoolUsage, error) {
	var f model.Faults
	nodes := model.SortedNodes(forModel(p.in.Nodes), &f)
	pools := p.compiled.Pools
	out := make([]PoolUsage, 0, len(pools))
	for i := range pools {
		pool := &pools[i]
		// Read again, because unreadable capacity is no fault of an input without limits.
		u := PoolUsage{Pool: pool.Object, Resources: pool.Used(nodes, p.compiled.Vocabulary, &f)}
		u.Nodes = u.Resources.Get(v1.ResourceNodes)
		for k, name := range pool.Limits {
			u.Left = u.Left.With(name, max(0, pool.LimitUsed[k][0]-u.Resources.Get(name)))
		}
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b PoolUsage) int { return strings.Compare(a.Pool.Name, b.Pool.Name) })
	return out, inputErrors(f.Err())
}
