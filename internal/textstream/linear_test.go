package textstream

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEachMarkerIsLookedForOnce: no byte of a text is looked at twice for the same marker,
// however many there are of one and none of the other.
func TestEachMarkerIsLookedForOnce(t *testing.T) {
	object := strings.Repeat("a: 1\n", 40)
	for _, tt := range []struct {
		name, document string
		parts          int
	}{
		{"---", "---\n" + object, 501},
		{"...", "... # over\n" + object, 501},
		{"both", "---\n" + object + "...\n", 1_001},
		{"neither", object, 1},
		{"no markers", object + "-----\n.....\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, looked := bytes.Repeat([]byte(tt.document), 500), map[string]int{}
			parts := partsBy(func(text []byte, from int, marker string) int {
				at := findMarker(text, from, marker)
				looked[marker] += at - from
				return at
			}, text)
			require.Len(t, parts, tt.parts)
			for _, marker := range []string{"---", "..."} {
				require.LessOrEqual(t, looked[marker], len(text), marker)
			}
			require.Equal(t, Parts(text), parts)
		})
	}
}
