package budgets_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
)

func FuzzParseSchedule(f *testing.F) {
	for _, text := range []string{"0 9 * * sat-sun", "@daily", "CRON_TZ=Europe/Berlin 30 2 * * *", "TZ=\t* * * * *", "*/7 1-5/2 ? jan,feb 7/3", "0 0 29 2 *", ", , , , ,"} {
		f.Add(text, int64(1_772_000_000))
	}
	f.Add("@daily", int64(math.MaxInt64)) // too far away
	f.Add("0 9 * * sat-sun", int64(math.MinInt64))
	f.Add("* * * * *", int64(1<<50-2)) // the next hit is
	f.Fuzz(func(t *testing.T, text string, sec int64) {
		s, err := budgets.ParseSchedule(text)
		b := v1.Budget{Schedule: &text, Duration: &metav1.Duration{}}
		if faults := b.Validate(); len(faults) > 0 {
			require.Error(t, err)
			return
		}
		require.NoError(t, err, text)
		now := time.Unix(sec, 0)
		next := s.Next(now)
		if next.IsZero() {
			return
		}
		require.True(t, next.After(now))
		require.Equal(t, next, s.Next(next.Add(-1)))
		require.Equal(t, next, s.Next(now.Add(next.Sub(now)/2)), "no hit in between")
	})
}

func FuzzCompile(f *testing.F) {
	f.Add("15%", "0 9 * * sat-sun", int64(86_400_000_000_000), "Drifted,Empty", int64(1_772_000_000), 20)
	f.Add("", "", int64(0), "", int64(0), 0)
	f.Add("99999999999999999999", "TZ=Asia/Tokyo 0 0 1 * *", int64(-1), "Odd", int64(-1<<63), -1)
	f.Fuzz(func(t *testing.T, nodes, schedule string, length int64, reasons string, sec int64, n int) {
		b := v1.Budget{Nodes: nodes}
		if schedule != "" {
			b.Schedule, b.Duration = &schedule, &metav1.Duration{Duration: time.Duration(length)}
		}
		if reasons != "" {
			for text := range strings.SplitSeq(reasons, ",") {
				b.Reasons = append(b.Reasons, v1.DisruptionReason(text))
			}
		}
		c, err := budgets.Compile([]v1.Budget{b}, nil)
		now := time.Unix(sec, 0)
		for _, reason := range v1.DisruptionReasons() {
			a := c.Allow(now, budgets.Counts{Nodes: n}, reason)
			require.GreaterOrEqual(t, a.Nodes, 0)
			require.True(t, a.Until.IsZero() || a.Until.After(now))
			if err != nil && reasons == "" {
				require.Zero(t, a.Nodes)
			}
		}
		budgets.Lint([]v1.Budget{b})
	})
}
