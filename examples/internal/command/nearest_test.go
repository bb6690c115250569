package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDidYouMean(t *testing.T) {
	require.Equal(t, "; did you mean kitten?", DidYouMean("sitten", []string{"mitten-x", "kitten"}))
	require.Empty(t, DidYouMean("sitting-room", []string{"kitchen"}))
	require.Empty(t, DidYouMean("x", nil))
}
