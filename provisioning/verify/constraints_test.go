package verify

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
)

// TestEngineHasTheSameKinds: each kind of constraint between pods that the engine keeps has
// a rule here, and there is no other.
func TestEngineHasTheSameKinds(t *testing.T) {
	judged := map[string]bool{}
	for _, k := range constraintKinds {
		require.NotEmpty(t, k.rules)
		for _, rule := range k.rules {
			judged[string(rule)] = true
		}
	}
	kept := map[string]bool{}
	for _, k := range kinds.All() {
		require.False(t, kept[k.Name], "two kinds are called %s", k.Name)
		kept[k.Name] = true
	}
	require.Equal(t, judged, kept)
}
