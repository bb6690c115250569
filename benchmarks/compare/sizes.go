package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
)

// sizes returns the scenarios by the value of -sizes. All have seed 1, so that the scenarios are
// not chosen by their results.
func sizes() map[string][]family.Spec {
	return map[string][]family.Spec{
		"small": {
			{Family: "generic", Types: "fake400", Pods: 500, Seed: 1},
			{Family: "generic10", Types: "fake400", Pods: 500, Seed: 1},
			{Family: "diverse", Types: "fake400", Pods: 100, Seed: 1},
			{Family: "preferences", Types: "fake400", Pods: 100, Seed: 1},
			{Family: "production", Types: "aws", Pods: 300, Seed: 1},
			{Family: "mixedexisting", Types: "aws", Pods: 200, Nodes: 50, Seed: 1},
		},
		"full": {
			{Family: "generic", Types: "fake400", Pods: 5000, Seed: 1},
			{Family: "generic10", Types: "fake400", Pods: 5000, Seed: 1},
			{Family: "diverse", Types: "fake400", Pods: 100, Seed: 1},
			{Family: "diverse", Types: "fake400", Pods: 1000, Seed: 1},
			{Family: "diverse", Types: "fake400", Pods: 5000, Seed: 1},
			{Family: "preferences", Types: "fake400", Pods: 1000, Seed: 1},
			{Family: "production", Types: "aws", Pods: 1000, Seed: 1},
			{Family: "production", Types: "aws", Pods: 5000, Seed: 1},
			{Family: "mixedexisting", Types: "aws", Pods: 2000, Nodes: 500, Seed: 1},
		},
		// This library takes a minute; Karpenter takes several for each repetition.
		"huge": {
			{Family: "diverse", Types: "fake400", Pods: 20000, Seed: 1},
			{Family: "production", Types: "aws", Pods: 20000, Seed: 1},
			{Family: "mixedexisting", Types: "aws", Pods: 2000, Nodes: 5000, Seed: 1},
		},
	}
}

func sizeNames() []string { return slices.Sorted(maps.Keys(sizes())) }

// specsOf lists the scenarios of a comma-separated list of sizes.
func specsOf(list string) ([]family.Spec, error) {
	var out []family.Spec
	for size := range strings.SplitSeq(list, ",") {
		specs, ok := sizes()[size]
		if !ok {
			return nil, fmt.Errorf("-sizes has %q; use some of %s", size, strings.Join(sizeNames(), ", "))
		}
		out = append(out, specs...)
	}
	return out, nil
}
