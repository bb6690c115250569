package words_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 7 * 24 * time.Hour: "168h", 90 * time.Minute: "1h30m", time.Hour + time.Second: "1h0m1s",
		10 * time.Minute: "10m", 1400 * time.Millisecond: "1s", -time.Hour: "-1h",
	} {
		require.Equal(t, want, words.Span(d))
	}
}
