package budgets_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// simulated is what a budget comes to, minute by minute.
type simulated struct {
	nodes   int
	reasons []v1.DisruptionReason
	active  []bool
}

// Allow agrees with a plain simulation of every minute of a year, which has
// both changes of the clock, and its Until with the next minute at which the
// simulation answers otherwise.
func TestAllowAgainstEveryMinute(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	from := at("2025-12-31T22:00:00Z")
	const year = 366 * 24 * 60
	for _, zone := range []string{"Australia/Lord_Howe", "Europe/Berlin", "America/New_York"}[:testlong.Seeds(1, 3)] {
		for range testlong.Seeds(1, 2) {
			var pool []v1.Budget
			var plain []simulated
			for i := range 4 {
				schedule, p := anyPlan(rng, zone)
				length := time.Duration(rng.IntN(3*60)) * time.Minute
				if rng.IntN(3) == 0 {
					length = time.Duration(rng.IntN(100)) * time.Hour
				}
				b := budget([]string{"0", "2", "5%", "30%"}[rng.IntN(4)], schedule, length)
				if i > 1 {
					b.Reasons = []v1.DisruptionReason{budgets.Empty, budgets.Drifted}[:1+rng.IntN(2)]
				}
				pool = append(pool, b)
				plain = append(plain, simulated{
					nodes:   map[string]int{"0": 0, "2": 2, "5%": 3, "30%": 13}[b.Nodes],
					reasons: b.Reasons,
					active:  activity(p, from, year, length),
				})
			}
			compare(t, pool, plain, from, year)
		}
	}
}

// activity marks the minutes of a window's hits, each from scratch.
func activity(p *plan, from time.Time, minutes int, length time.Duration) []bool {
	active := make([]bool, minutes)
	hits := p.hits(from.Add(-5*24*time.Hour), from.Add(time.Duration(minutes)*time.Minute))
	open := int64(0) // until when
	for m := -5 * 24 * 60; m < minutes; m++ {
		t := from.Add(time.Duration(m) * time.Minute)
		if hits[t.Unix()] {
			open = t.Add(length).Unix()
		}
		if m >= 0 {
			active[m] = t.Unix() < open
		}
	}
	return active
}

func compare(t *testing.T, pool []v1.Budget, plain []simulated, from time.Time, minutes int) {
	compiled, err := budgets.Compile(pool, nil)
	require.NoError(t, err)
	counts := budgets.Counts{Nodes: 41, Disrupting: 1}
	reason := budgets.Drifted
	var until time.Time
	last := -1
	for m := range minutes {
		now := from.Add(time.Duration(m) * time.Minute)
		want, binding := math.MaxInt, -1
		for i, s := range plain {
			applies := s.reasons == nil || len(s.reasons) == 2
			if applies && s.active[m] && s.nodes-1 < want {
				want, binding = s.nodes-1, i
			}
		}
		got := compiled.Allow(now, counts, reason)
		if max(0, want) != got.Nodes || got.Unlimited != (binding < 0) || binding >= 0 && binding != got.Decider.Index {
			require.Failf(t, "wrong answer", "at %s: %d by %d, got %+v; %s", now, want, binding, got, texts(pool))
		}
		if m > 0 && (binding != last) != now.Equal(until) {
			require.Failf(t, "wrong until", "%s at %s: %d after %d; %s", until, now, binding, last, texts(pool))
		}
		until, last = got.Until, binding
	}
}

func texts(pool []v1.Budget) (all []string) {
	for _, b := range pool {
		all = append(all, *b.Schedule+" for "+b.Duration.Duration.String())
	}
	return all
}
