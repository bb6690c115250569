package budgets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
)

func zoned() []v1.Budget {
	pool := documented()
	pool[2] = budget("0", "CRON_TZ=Europe/Berlin 0 9 * * sat-sun", 24*time.Hour)
	pool[3] = budget("0", "CRON_TZ=Europe/Berlin 0 17 * * mon-fri", 16*time.Hour, budgets.Drifted)
	return pool
}

func dense() []v1.Budget {
	return []v1.Budget{{Nodes: "10%"}, budget("0", "* * 1-27 * *", time.Minute), budget("1", "*/5 9-17 * * mon-fri", 5*time.Minute)}
}

func BenchmarkAllow(b *testing.B) {
	for name, pool := range map[string][]v1.Budget{"documented": documented(), "zoned": zoned(), "dense": dense()} {
		b.Run("budgets="+name, func(b *testing.B) {
			c, _ := budgets.Compile(pool, nil)
			counts := budgets.Counts{Nodes: 100, Disrupting: 1}
			b.ReportAllocs()
			now := noon
			for b.Loop() {
				if now = now.Add(47 * time.Minute); now.Year() > 2030 {
					now = noon
				}
				c.Allow(now, counts, budgets.Drifted)
			}
		})
	}
}

func BenchmarkAllowUncompiled(b *testing.B) {
	for b.Loop() {
		allow(noon, zoned(), budgets.Counts{Nodes: 100}, budgets.Drifted)
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		_, _ = budgets.Compile(zoned(), nil)
	}
}

func BenchmarkCalendarOfAYear(b *testing.B) {
	for name, pool := range map[string][]v1.Budget{"documented": documented(), "zoned": zoned(), "dense": dense()} {
		b.Run("budgets="+name, func(b *testing.B) {
			for b.Loop() {
				calendarOf(pool, noon, noon.AddDate(1, 0, 0), budgets.Counts{Nodes: 100}, budgets.Drifted)
			}
		})
	}
}

func TestAllowDoesNotAllocate(t *testing.T) {
	for _, pool := range [][]v1.Budget{documented(), zoned(), dense()} {
		c, err := budgets.Compile(pool, &budgets.Policy{Only: []budgets.Only{{Openings: []budgets.Opening{{Schedule: "@daily", Duration: time.Hour}}}}})
		require.NoError(t, err)
		counts := budgets.Counts{Nodes: 100}
		now := noon
		require.Zero(t, testing.AllocsPerRun(1000, func() {
			now = now.Add(53 * time.Minute)
			c.Allow(now, counts, budgets.Drifted)
		}))
	}
}
