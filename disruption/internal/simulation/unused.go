package simulation

import (
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	engine "github.com/dovetail-sdk/dovetail/internal/engine/state"
)

// Unused returns for each node the share of its price that its movable pods do not account for, at the
// rates of the catalog: see State.Rate of the engine. It is below 0 where the pods would cost more on new
// nodes, -Inf where no new node could have one of them, and 0 where the price is not known. If the engine
// refuses the input, it is the same for all nodes.
func Unused(f *state.Cluster, config Config, nodes []*state.StateNode) map[*state.StateNode]float64 {
	w := withCatalog(f, config)
	w.In.Buffers, w.In.Nominated = nil, nil
	if w.Compile(); w.Refused != nil {
		return nil
	}
	var pods []engine.Pod
	for _, m := range nodes {
		for _, p := range m.Movable() {
			pods = append(pods, engine.Pod{Pod: p})
		}
	}
	s, err := w.Problem.State(nil, pods)
	if err != nil {
		return nil
	}
	out := make(map[*state.StateNode]float64, len(nodes))
	for _, m := range nodes {
		price, _ := m.Price()
		if price <= 0 {
			continue
		}
		load := 0.0
		for _, p := range m.Movable() {
			load += s.Rate(s.Class(p))
		}
		out[m] = 1 - load/price
	}
	return out
}
