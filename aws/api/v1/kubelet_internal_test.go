package v1

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A line that cannot be read would have its setting refused.
func TestTheTableOfTheKubeletCanBeRead(t *testing.T) {
	schema := kubeletSchema()
	for path, kind := range schema {
		require.NotEmpty(t, kind, path)
		require.Equal(t, strings.Join(strings.Fields(path), ""), path)
	}
	require.Greater(t, len(schema), strings.Count(kubeletTable, "\n"), "and what holds them")
}
