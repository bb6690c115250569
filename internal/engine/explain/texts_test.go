package explain

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
)

// TestEveryFilterHasAText: a pool that refuses a pod says why, whichever filter leaves no option.
func TestEveryFilterHasAText(t *testing.T) {
	for f := range compile.Admitted + 1 {
		require.Equal(t, f == compile.Admitted || f.OfOptions(), texts[f] != nil, "filter %d", f)
	}
}
