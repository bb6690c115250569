package provisioning

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// PoolUsage is what a NodePool has, as its limits count it.
type PoolUsage struct {
	// Pool is the pool, as in the Input.
	Pool *v1.NodePool
	// Nodes is how many nodes it has. Those on their way out do not count, and
	// NodeClaims do from the moment they exist.
	Nodes int64
	// Resources is the capacity of these nodes together, and their number under
	// v1.ResourceNodes: what status.resources of the pool shows. A NodeClaim that
	// has not been launched counts with the most that it may turn out to have of
	// each resource.
	Resources resources.List
	// Left is what the limits of the pool leave for new nodes, by limited resource,
	// zero where a limit is used up or exceeded. A resource that is not listed has
	// no limit.
	Left resources.List
}

// Usage says what each NodePool of the Input has, and what its limits leave, by
// name. The error is of nodes whose capacity cannot be read, all at once, as
// *InputError joined by errors.Join.
//
// It takes O(pools x nodes), and a pass over the instance types of its pool for each
// NodeClaim that has not been launched.
func (p *Problem) Usage() ([]PoolUsage, error) {
	var f model.Faults
	nodes := model.SortedNodes(forModel(p.in.Nodes), &f)
	pools := p.compiled.Pools
	out := make([]PoolUsage, 0, len(pools))
	for i := range pools {
		pool := &pools[i]
		// Read anew: capacity that cannot be read is no fault of an input without limits.
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
