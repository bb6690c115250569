package provisioning

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/solve"
	"github.com/dovetail-sdk/dovetail/internal/engine/static"
)

// publish converts a solution to a plan, with the state of buffers and static pools.
func (p *Problem) publish(s *solve.Solution) *Plan {
	reasons := reasons{}
	plan := &Plan{
		Unplaced:       reasons.unplaced(s.Unplaced),
		GivenUp:        reasons.givenUp(s.GivenUp),
		Order:          s.Order,
		Overlays:       p.compiled.Catalog.Overlays,
		Cost:           s.Cost,
		LowerBound:     s.LowerBound,
		PackingBound:   s.PackingBound,
		ObjectiveBound: s.ObjectiveBound,
		Kubernetes:     p.compiled.Opts.Kubernetes.Texts(),
		Stats:          Stats(s.Stats),
		fees:           s.Fees,
		offered:        s.Offered,
	}
	if s.Create != nil {
		plan.Create = make([]NewNode, len(s.Create))
	}
	for i := range s.Create {
		plan.Create[i] = newNode(&s.Create[i])
	}
	if s.Bind != nil {
		plan.Bind = make([]Binding, len(s.Bind))
	}
	for i := range s.Bind {
		plan.Bind[i] = Binding(s.Bind[i])
	}
	plan.Static = publishStatic(p.compiled.Static)
	plan.Buffers = p.bufferStatus(plan, reasons.unplaced(s.Spare))
	plan.moveToStatic()
	return plan
}

func newNode(n *model.NewNode) NewNode {
	return NewNode{Name: n.Name, Pool: n.Pool, Requirements: n.Requirements, Labels: n.Labels, Options: n.Options, Pods: n.Pods,
		Requests: n.Requests, Daemons: n.Daemons, MinValuesRelaxed: n.MinValuesRelaxed, drivers: n.Drivers}
}

// moveToStatic moves pods that are bound to missing nodes of static pools from Bind to Static.
func (p *Plan) moveToStatic() {
	p.Bind = slices.DeleteFunc(p.Bind, func(b Binding) bool {
		pool, missing := model.PoolOfMissing(b.Node)
		if missing {
			i := slices.IndexFunc(p.Static, func(s StaticPool) bool { return s.Pool.Name == pool })
			p.Static[i].Pods = append(p.Static[i].Pods, b.Pods)
		}
		return missing
	})
	if len(p.Bind) == 0 {
		p.Bind = nil
	}
}

func publishStatic(pools []static.Pool) []StaticPool {
	if pools == nil {
		return nil
	}
	out := make([]StaticPool, len(pools))
	for i := range pools {
		out[i] = StaticPool(pools[i])
	}
	return out
}

// reasons are the reasons converted so far: pods that are equal share one.
type reasons map[*model.Reason]*Explanation

func (r reasons) unplaced(list []model.Unplaced) []Unplaced {
	if list == nil {
		return nil
	}
	out := make([]Unplaced, len(list))
	for i, u := range list {
		out[i] = Unplaced{u.Pod, r.of(u.Reason)}
	}
	return out
}

func (r reasons) of(m *model.Reason) *Explanation {
	if m == nil {
		return nil
	}
	if known, ok := r[m]; ok {
		return known
	}
	out := &Explanation{Cause: Cause(m.Cause), Detail: m.Detail}
	for i := range m.Pools {
		out.Pools = append(out.Pools, poolReason(&m.Pools[i]))
	}
	if m.ExistingNodes != nil {
		out.ExistingNodes = make(map[Cause]int, len(m.ExistingNodes))
	}
	for cause, n := range m.ExistingNodes {
		out.ExistingNodes[Cause(cause)] = n
	}
	r[m] = out
	return out
}

func poolReason(m *model.PoolReason) PoolExplanation {
	out := PoolExplanation{NodePool: m.NodePool, Cause: Cause(m.Cause), Taints: m.Taints, Conflicts: m.Conflicts, Detail: m.Detail, Options: m.Options}
	for _, s := range m.Shortfalls {
		out.Shortfalls = append(out.Shortfalls, Shortfall(s))
	}
	for _, s := range m.Steps {
		out.Filters = append(out.Filters, Filter(s))
	}
	return out
}

// bufferStatus returns the status of each buffer, given its unplaced pods.
func (p *Problem) bufferStatus(plan *Plan, spare []Unplaced) []BufferStatus {
	if len(p.buffers) == 0 {
		return nil
	}
	index := map[[2]string]int{}
	out := make([]BufferStatus, len(p.buffers))
	for i, b := range p.buffers {
		index[[2]string{b.Namespace, b.Name}] = i
		out[i] = BufferStatus{Namespace: b.Namespace, Name: b.Name}
	}
	of := func(pod *corev1.Pod) *BufferStatus {
		if !p.compiled.Headroom[pod] {
			return nil // a real pod, whatever its annotations say
		}
		namespace, name, _ := BufferOf(pod)
		return &out[index[[2]string{namespace, name}]]
	}
	for _, b := range plan.Bind {
		for _, pod := range b.Pods {
			if s := of(pod); s != nil {
				s.Existing++
			}
		}
	}
	for i := range plan.Create {
		for _, pod := range plan.Create[i].Pods {
			if s := of(pod); s != nil {
				s.Fresh++
			}
		}
	}
	for _, u := range spare {
		s := of(u.Pod)
		s.Unplaced++
		if s.Explanation == nil {
			s.Explanation = u.Explanation
		}
	}
	return out
}
