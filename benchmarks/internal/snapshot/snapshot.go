// Package snapshot converts a scenario into the library's types: a provisioning.Input and its
// Options.
//
// The input shares memory with the scenario, which must not change while the input is in use.
package snapshot

import (
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/market"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Input returns the scenario as an input. The error joins all faults of its instance types.
func Input(s *scenario.Scenario) (provisioning.Input, error) {
	sold, err := market.New(s)
	if err != nil {
		return provisioning.Input{}, err
	}
	return provisioning.Input{
		NodePools:     s.NodePools,
		InstanceTypes: sold.Catalogs,
		Pods:          s.Pods,
		DaemonSetPods: s.DaemonSetPods,
		Namespaces:    s.Namespaces,
		Volumes: provisioning.Volumes{
			Claims:   s.PersistentVolumeClaims,
			Volumes:  s.PersistentVolumes,
			Classes:  s.StorageClasses,
			CSINodes: s.CSINodes,
		},
		Vocabulary: sold.Vocabulary,
		Nodes:      Nodes(s),
	}, nil
}

// Nodes returns the nodes of the scenario.
func Nodes(s *scenario.Scenario) []provisioning.Node {
	var out []provisioning.Node
	for _, n := range s.Nodes {
		out = append(out, provisioning.Node{Node: n.Node, NodeClaim: n.NodeClaim, Pods: n.Pods})
	}
	return out
}

// Options returns the settings of the scenario.
func Options(s *scenario.Scenario) *provisioning.Options {
	return &provisioning.Options{
		MinValues:   provisioning.MinValuesPolicy(s.Options.MinValuesPolicy),
		Preferences: provisioning.PreferencePolicy(s.Options.PreferencePolicy),
	}
}
