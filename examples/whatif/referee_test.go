package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// TestRefereeNotices makes sure that a plan which breaks a rule is noticed.
func TestRefereeNotices(t *testing.T) {
	const data = "testdata/"
	world, err := offline.Read(offline.Files{Manifests: []string{data + "small.yaml"}, InstanceTypes: data + "types.yaml"}, nil)
	require.NoError(t, err)
	in := world.Input()
	plan, err := provisioning.Solve(t.Context(), in, nil)
	require.NoError(t, err)
	require.NoError(t, check(in, plan, nil))
	require.Equal(t, 4, countOptions(plan))

	plan.Create[0].Pods = plan.Create[0].Pods[1:]
	require.ErrorContains(t, check(in, plan, nil), "the plan breaks a rule, please report this: ")
}
