package provisioning

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// The engine has types of its own for input and output. This file converts the input; publish.go
// converts the output.

// forModel converts the input, without buffers, for the engine.
func (in *Input) forModel() model.Input {
	out := model.Input{
		NodePools:     in.NodePools,
		InstanceTypes: in.InstanceTypes,
		Nodes:         forModel(in.Nodes),
		Pods:          in.Pods,
		Nominated:     in.Nominated,
		DaemonSetPods: in.DaemonSetPods,
		Namespaces:    in.Namespaces,
		Volumes:       model.Volumes(in.Volumes),
		Devices:       model.Devices(in.Devices),
		Overlays:      in.Overlays,
		Services:      in.Services,
		Vocabulary:    in.Vocabulary,
	}
	for _, c := range in.Controllers {
		out.Controllers = append(out.Controllers, model.Controller(c))
	}
	return out
}

// forModel converts nodes for the engine.
func forModel(nodes []Node) []model.Node {
	out := make([]model.Node, len(nodes))
	for i, n := range nodes {
		out[i] = model.Node(n)
	}
	return out
}

// forModel converts the options for the engine, with the defaults filled in.
func (o *Options) forModel() model.Options {
	full := o.withDefaults()
	kubernetes, _ := minors.Parse(full.Kubernetes) // Validate reports the fault
	return model.Options{
		MinValues:       model.MinValuesPolicy(full.MinValues),
		Preferences:     model.PreferencePolicy(full.Preferences),
		PreferenceCost:  full.PreferenceCost,
		DefaultSpread:   full.DefaultSpread,
		SchedulerNames:  full.SchedulerNames,
		Reserved:        model.ReservedPolicy(full.Reserved),
		NodeFee:         full.NodeFee,
		CapacityMix:     (*model.CapacityMix)(full.CapacityMix),
		SpotFlexibility: full.SpotFlexibility,
		MaxSteps:        full.MaxSteps,
		NoBounds:        full.NoBounds,
		Quick:           full.Quick,
		Kubernetes:      kubernetes,
		Parallel:        full.Parallel,
		Trace:           full.trace,
	}
}
