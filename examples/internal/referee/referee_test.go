package referee_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/examples/internal/referee"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// TestCheck makes sure that a plan which breaks a rule is noticed.
func TestCheck(t *testing.T) {
	const data = "../../whatif/testdata/"
	world, err := offline.Read(offline.Files{Manifests: []string{data + "small.yaml"}, InstanceTypes: data + "types.yaml"}, nil)
	require.NoError(t, err)
	in := world.Input()
	plan, err := provisioning.Solve(t.Context(), in, nil)
	require.NoError(t, err)
	require.NoError(t, referee.Check(in, plan, nil))
	require.Equal(t, 4, referee.Options(plan))

	plan.Create[0].Pods = plan.Create[0].Pods[1:]
	require.ErrorContains(t, referee.Check(in, plan, nil), "the plan breaks a rule, please report this: ")
}
