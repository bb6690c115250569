package provisioning

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/state"
)

// State returns the cluster of p with other nodes, as a state in which pods are moved one by one. It
// is for packages of this module: the type of the result cannot be named elsewhere. nodes have only
// the pods that are never moved; pods has the others. p is unchanged and shares its catalog with the
// result. The error is that of Prepare for this input.
func (p *Problem) State(nodes []Node, pods []state.Pod) (*state.State, error) {
	in, f := p.in, model.Faults{}
	in.Nodes = nodes
	out := state.New(in.forModel(), p.opts.forModel(), pods, p.compiled, &f)
	if out == nil {
		return nil, inputErrors(f.Err())
	}
	return out, nil
}
