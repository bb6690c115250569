package page

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// asked returns the calendar of a pool of ten nodes with these budgets.
func asked(t *testing.T, days int, from time.Time, list ...v1.Budget) *Calendar {
	t.Helper()
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Disruption.Budgets = list
	c := &Calendar{Pool: pool, Nodes: 10, From: from, Days: days, Zone: from.Location()}
	require.NoError(t, c.Ask(v1.DisruptionReasons()))
	return c
}

func at(zone *time.Location, month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 0, 0, 0, 0, zone)
}

// An hour has the least that is allowed in any part of it, and nothing where the day has no
// such hour.
func TestLeast(t *testing.T) {
	schedule := "30 9 * * *"
	c := asked(t, 1, at(time.UTC, time.March, 2), v1.Budget{Nodes: "30%"},
		v1.Budget{Nodes: "0", Schedule: &schedule, Duration: &metav1.Duration{Duration: 45 * time.Minute}})
	require.Len(t, c.sections, 1, "all reasons have the same answer")
	s := &c.sections[0]
	for hour, want := range map[int]int{8: 3, 9: 0, 10: 0, 11: 3} {
		got, others, ok := s.least(c.hour(c.day(0), hour))
		require.True(t, ok)
		require.Equal(t, level(want), got, hour)
		require.Equal(t, want == 0, others, hour)
	}
	_, _, ok := s.least(c.day(0), c.day(0))
	require.False(t, ok)
	require.Equal(t, map[level]string{0: ".", 3: "3"}, c.marks())
}

// Numbers of two digits stand apart, an hour with several answers is told, and the legend has
// what is shown.
func TestGrid(t *testing.T) {
	hourly := "0 * * * *"
	c := asked(t, 1, at(time.UTC, time.March, 2), v1.Budget{Nodes: "100%", Schedule: &hourly, Duration: &metav1.Duration{Duration: 15 * time.Minute}})
	text := c.Table()
	require.Contains(t, text, "\nMon  2 "+strings.Repeat("10+", 24)+"\n")
	require.Contains(t, text, "\n             + more in a part of the hour\n")
	require.NotContains(t, text, "* no limit")

	c = asked(t, 1, at(time.UTC, time.March, 2), v1.Budget{Nodes: "12"})
	require.Contains(t, c.Table(), "\nMon  2 "+strings.TrimSpace(strings.Repeat("12 ", 24))+"\n\nFROM")
}

// Reasons with other answers have a section of their own.
func TestSections(t *testing.T) {
	c := asked(t, 1, at(time.UTC, time.March, 2), v1.Budget{Nodes: "2", Reasons: []v1.DisruptionReason{v1.DisruptionReasonDrifted}})
	require.Len(t, c.sections, 2)
	levels := levels(c.sections...)
	require.Len(t, levels, 2)
	require.Equal(t, "2 nodes", levels[0].String())
	require.Equal(t, "no limit", levels[1].String())
}

// A clock that is set forward skips an hour, and one that is set back has an hour twice.
func TestHours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	c := &Calendar{}
	from, to := c.hour(at(berlin, time.March, 29), 2)
	require.Zero(t, to.Sub(from))
	from, to = c.hour(at(berlin, time.October, 25), 2)
	require.Equal(t, 2*time.Hour, to.Sub(from))
}
