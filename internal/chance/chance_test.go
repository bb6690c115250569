package chance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/chance"
)

// The numbers are those that the reference implementation of SplitMix64 gives for a
// state of 1234567.
func TestStream(t *testing.T) {
	s := chance.New(0, 1234567) // Mix of 0 is 0
	for n, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		require.Equal(t, want, chance.New(0, 1234567).At(uint64(n)+1))
		require.Equal(t, want, s.Next())
	}
}

// All 16 values of the first and of the last four bits turn up among 256 texts that
// differ in the last byte only.
func TestHashSpreads(t *testing.T) {
	first, last := map[uint64]bool{}, map[uint64]bool{}
	for i := range 256 {
		h := chance.Hash("m5.large/" + string(rune(i)))
		first[h>>60], last[h&15] = true, true
	}
	require.Len(t, first, 16)
	require.Len(t, last, 16)
}
