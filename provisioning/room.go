package provisioning

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// rooms are what is known of the room on each node, by name. They are not
// written after a problem has been compiled, so that all what-ifs on it can share
// them.
type rooms struct {
	base  map[string]room // of the first problem
	since map[string]room // read by what-ifs since: of nodes that are not as they were
}

// with returns the rooms with those that have been read since.
func (r *rooms) with(read map[string]room) *rooms {
	switch {
	case r == nil:
		return &rooms{base: read}
	case len(read) == 0:
		return r
	case len(r.base) == 0:
		return &rooms{base: read}
	}
	out := &rooms{base: r.base, since: maps.Clone(r.since)}
	if out.since == nil {
		out.since = read
		return out
	}
	maps.Copy(out.since, read)
	return out
}

// room is what a node has and what is taken of it, without the volumes and
// devices that are counted like resources.
type room struct {
	node        Node // as it was looked at
	standing    labelsAndTaints
	ready       bool // it is initialised
	leaves      bool // it is on its way out
	capacity    resources.List
	allocatable resources.List
	taken       resources.List // by bound pods, and by daemons that are still to come
	left        resources.List // allocatable less taken
	absent      []int          // the daemons that are still to come
}

// poolName is the pool that the node belongs to, if any.
func (r *room) poolName() string { return r.standing.labels[v1.NodePoolLabelKey] }

// find returns what is known of a node that is the same as it was then.
func (r *rooms) find(n Node) (room, bool) {
	if r == nil {
		return room{}, false
	}
	known, ok := r.since[n.Name()]
	if !ok {
		known, ok = r.base[n.Name()]
	}
	same := ok && known.node.Node == n.Node && known.node.NodeClaim == n.NodeClaim && len(known.node.Pods) == len(n.Pods) &&
		(len(n.Pods) == 0 || &known.node.Pods[0] == &n.Pods[0])
	return known, same
}

// room is what is left on a node for pods.
func (p *Problem) room(e *existing, r *room) (resources.List, error) {
	e.daemons = r.absent
	if p.extras.counts == nil && len(p.extras.drivers) == 0 {
		return r.left, nil
	}
	free := r.allocatable.Merge(p.extras.ofNode(e, p.typeOf(e)))
	taken := r.taken
	for _, i := range r.absent {
		var err error
		if taken, err = taken.Add(p.daemons[i].extra); err != nil {
			return free, fmt.Errorf("bound pods and DaemonSets in sum: %w", err)
		}
	}
	return free.Sub(taken)
}

// readRoom looks at what a node has, at its pods and at the daemons that it is
// still to run.
func (p *Problem) readRoom(e *existing, requests *requestsCache) (room, error) {
	out := room{node: e.Node, standing: e.standing, ready: e.ready, leaves: e.leaving()}
	var err error
	if e.launched() {
		if out.capacity, err = e.capacity(); err != nil {
			out.capacity = resources.List{} // of no matter where no limit counts it
		}
	}
	if out.allocatable, err = p.allocatable(e); err != nil {
		return out, err
	}
	for _, pod := range e.Pods {
		if pod == nil || finished(pod) {
			continue
		}
		used, err := requests.of(pod)
		if err != nil {
			return out, err
		}
		if out.taken, err = out.taken.Add(used); err != nil {
			return out, fmt.Errorf("bound pods in sum: %w", err)
		}
	}
	ready := map[string]string{}
	for i := range p.daemons {
		d := &p.daemons[i]
		if !d.runsOn(e.standing.name, e.standing.labels, e.standing.taints) &&
			!d.runsOn(e.standing.name, e.readyLabels(ready), e.standing.taints) {
			continue
		}
		missing, here, err := d.missing(e, requests)
		if err != nil {
			return out, err
		}
		if !here {
			out.absent = append(out.absent, i)
		}
		if out.taken, err = out.taken.Add(missing); err != nil {
			return out, fmt.Errorf("bound pods and DaemonSets in sum: %w", err)
		}
	}
	out.left, err = out.allocatable.Sub(out.taken)
	return out, err
}

// missing is what a daemon requests beyond the pods of it that are on a node,
// and whether there are any.
func (d *daemon) missing(e *existing, requests *requestsCache) (missing resources.List, here bool, err error) {
	missing = d.requests
	for _, pod := range e.Pods {
		if pod == nil || finished(pod) || !d.owns(pod) {
			continue
		}
		used, err := requests.of(pod)
		if err != nil {
			return missing, here, err
		}
		less, err := missing.Sub(used)
		if err != nil {
			return missing, here, err
		}
		missing, here = less.Max(resources.List{}), true
	}
	return missing, here, nil
}

// allocatable is what a node has for pods before any came. A claim that has not
// been launched is taken at its promise.
func (p *Problem) allocatable(e *existing) (resources.List, error) {
	if e.launched() {
		out, err := e.Node.allocatable()
		if err != nil {
			err = fmt.Errorf("status.allocatable: %w", err)
		}
		return out, err
	}
	for i := range p.pools {
		if p.pools[i].object.Name == e.poolName() {
			claimEstimate, err := p.pools[i].estimated(e.Node, p.vocabulary)
			if len(claimEstimate.allocatable.Negative()) > 0 {
				// Nothing fits on a type that keeps more than it has.
				return resources.List{}, err
			}
			return claimEstimate.allocatable, err
		}
	}
	return resources.List{}, nil
}

// requestsCache remembers what pods request by their containers, as most pods
// on a cluster are one of few kinds.
type requestsCache struct {
	key   podKey
	known map[string]resources.List
}

func newRequestsCache() *requestsCache { return &requestsCache{known: map[string]resources.List{}} }

func (c *requestsCache) of(pod *corev1.Pod) (resources.List, error) {
	key := c.key.resourcesOnly(pod)
	if known, ok := c.known[string(key)]; ok {
		return known, nil
	}
	out, err := resources.PodRequests(pod)
	if err != nil {
		return out, err
	}
	c.known[string(key)] = out
	return out, nil
}
