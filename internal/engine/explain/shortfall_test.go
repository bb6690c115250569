package explain_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/explain"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// TestNearest reads the line as a user does: where nothing has the resource, no type comes near.
func TestNearest(t *testing.T) {
	for _, tt := range []struct {
		shortfall model.Shortfall
		want      string
	}{
		{model.Shortfall{Resource: corev1.ResourceCPU, Requested: 100_000, Largest: 8_000, InstanceType: "large"},
			"needs cpu=100, largest allowed 8 (large)"},
		{model.Shortfall{Resource: "nvidia.com/gpu", Requested: 1, InstanceType: "large"},
			"needs nvidia.com/gpu=1, no instance type allowed has any"},
	} {
		require.Equal(t, tt.want, explain.Nearest(&tt.shortfall))
	}
}
