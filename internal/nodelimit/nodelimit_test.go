package nodelimit_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/nodelimit"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "3": 3, "2500m": 3, "1n": 1, "9223372036854775807": 9223372036854775807} {
		n, limited, err := nodelimit.Of(v1.Limits{v1.ResourceNodes: resource.MustParse(text)})
		require.NoError(t, err, text)
		require.True(t, limited, text)
		require.Equal(t, want, n, text)
	}
	for text, want := range map[string]string{"-1": "it is negative; a limit is zero or more", "-9E": "it is negative", "-10E": "nodes", "10E": "nodes"} {
		_, limited, err := nodelimit.Of(v1.Limits{v1.ResourceNodes: resource.MustParse(text)})
		require.ErrorContains(t, err, want, text)
		require.True(t, limited, text)
	}
	_, limited, err := nodelimit.Of(v1.Limits{corev1.ResourceCPU: resource.MustParse("1")})
	require.NoError(t, err)
	require.False(t, limited)
}
