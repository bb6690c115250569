package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDidYouMean(t *testing.T) {
	require.Equal(t, "; did you mean kitten?", DidYouMean("sitten", []string{"mitten-x", "kitten"}))
	require.Empty(t, DidYouMean("sitting-room", []string{"kitchen"}))
	require.Empty(t, DidYouMean("x", nil))
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"ab", "ba", 2}} {
		require.Equal(t, tt.want, slips(tt.a, tt.b), "%s %s", tt.a, tt.b)
	}
}
