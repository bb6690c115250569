package disruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A node that was nominated is left alone until then, and not after.
func TestNominationsReachTheRules(t *testing.T) {
	in := newInput(newNode("idle", "web"))
	in.Nominations = map[string]time.Time{"idle": noon.Add(time.Second)}
	require.Empty(t, observe(t, in, nil).Emptiness().Actions)
	in.Nominations = map[string]time.Time{"idle": noon}
	require.Len(t, observe(t, in, nil).Emptiness().Actions, 1)
}
