package spelling_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/spelling"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"abc", "ca", 3}, {"taint", "tiant", 1}} {
		require.Equal(t, tt.want, spelling.Distance(tt.a, tt.b), "%s %s", tt.a, tt.b)
		require.Equal(t, tt.want, spelling.Distance(tt.b, tt.a), "%s %s", tt.b, tt.a)
	}
}

func TestDidYouMean(t *testing.T) {
	require.Equal(t, "; did you mean kitten?", spelling.DidYouMean("sitten", []string{"mitten-x", "kitten"}))
	require.Empty(t, spelling.DidYouMean("sitting-room", []string{"kitchen"}))
	require.Empty(t, spelling.DidYouMean("x", nil))
}
