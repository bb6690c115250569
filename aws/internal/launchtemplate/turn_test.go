package launchtemplate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/launchtemplate"
)

func TestATurnEndsWithItsTemplates(t *testing.T) {
	c := newCloud(t)
	first := c.store()
	one, found, others, err := first.EndTurns(t.Context(), c.Now())
	require.NoError(t, err)
	require.False(t, found)
	require.False(t, others)

	plain := built(t)
	mine := plain.OfTurn(one)
	require.NotEqual(t, plain.Name, mine.Name)
	require.Equal(t, plain.Data, mine.Data)
	require.NotContains(t, plain.Tags, launchtemplate.TurnKey)
	use(t, first, plain)()
	use(t, first, mine)
	require.Len(t, c.names(), 2)
	others, err = first.Others(t.Context())
	require.NoError(t, err)
	require.False(t, others, "it has made them itself")

	// The clock of the next process may be behind that of the one before.
	next := c.store()
	two, found, others, err := next.EndTurns(t.Context(), c.Now().Add(-keep))
	require.NoError(t, err)
	require.True(t, found)
	require.True(t, others)
	require.Equal(t, []string{plain.Name}, c.names())
	require.NotEqual(t, mine.Name, plain.OfTurn(two).Name, "it does not come back")

	use(t, next, plain.OfTurn(two))
	c.fail("DeleteLaunchTemplate", "UnauthorizedOperation")
	_, _, _, err = c.store().EndTurns(t.Context(), c.Now())
	require.ErrorContains(t, err, "DeleteLaunchTemplate")
}
