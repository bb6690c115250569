package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
)

func TestClientToken(t *testing.T) {
	a := api.ClientToken("ab", "c")
	require.NotEqual(t, a, api.ClientToken("a", "bc"))
	require.Equal(t, a, api.ClientToken("ab", "c"))
	require.LessOrEqual(t, len(a), 64)
}
