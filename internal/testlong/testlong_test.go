package testlong_test

import (
	"flag"
	"os"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

func TestMain(m *testing.M) { testlong.Main(m) }

func TestMainCollectsLessOften(t *testing.T) {
	want := 400
	if flag.Lookup("test.bench").Value.String() != "" {
		want = 100
	}
	if asked, err := strconv.Atoi(os.Getenv("GOGC")); err == nil {
		want = asked
	}
	was := debug.SetGCPercent(want)
	require.Equal(t, want, was)
}

func TestOn(t *testing.T) {
	for _, tt := range []struct {
		value string
		want  bool
	}{{"", false}, {"0", false}, {"1", true}, {"all", true}} {
		t.Setenv(testlong.Variable, tt.value)
		want := tt.want && !testing.Short()
		require.Equal(t, want, testlong.On(), "%q", tt.value)
		require.Equal(t, want && tt.value == "all", testlong.All(), "%q", tt.value)
		switch {
		case want:
			require.Equal(t, 500, testlong.Seeds(5, 500))
		case testlong.UnderRace:
			require.Equal(t, 1, testlong.Seeds(5, 500))
		default:
			require.Equal(t, 5, testlong.Seeds(5, 500))
		}
	}
}

func TestOnly(t *testing.T) {
	t.Setenv(testlong.Variable, "")
	skipped := false
	t.Run("by default", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		testlong.Only(t)
	})
	require.True(t, skipped)
}
