package budgets_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// Schedules of random fields hit when a look at every minute says so.
func TestScheduleAgainstEveryMinute(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	zones := []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll", "Pacific/Apia", "America/Sao_Paulo"}
	for i := range testlong.Seeds(21, 42) { // each zone three times or six
		zone := zones[i%len(zones)]
		text, p := anyPlan(rng, zone)
		year := 2009 + rng.IntN(4) // Apia skips 30 December 2011
		from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		to := from.AddDate(1, 0, 10)
		s, err := budgets.ParseSchedule(text)
		require.NoError(t, err, text)

		var want, got []int64
		for hit := range p.hits(from, to) {
			if hit >= from.Unix() && hit < to.Unix() {
				want = append(want, hit)
			}
		}
		slices.Sort(want)
		for h := s.Next(from.Add(-1)); !h.IsZero() && h.Before(to); h = s.Next(h) {
			got = append(got, h.Unix())
		}
		require.True(t, slices.Equal(want, got), "%s in %d: %d hits, want %d", text, year, len(got), len(want))
	}
}

// A schedule is read if and only if validation admits it.
func TestScheduleGrammarIsThatOfValidation(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := strings.Fields("* ? 0 1 5 7 8 31 32 59 60 jan Feb sun SAT fri-mon sat-sun 7-7 5-7 7-2 6-0 */2 */0 */100 1/3 7/2 1-5/2 5-1 *-5 1,,2 , 0,7 L W mon#1 -1 +5 x 1-2-3 1/2/3 a 00 0x1 1_0")
	prefixes := []string{"", "", "", "TZ=UTC ", "CRON_TZ=Europe/Berlin ", "CRON_TZ=Europe/Berlin\t", "TZ= ", "TZ=Local ", " ", "TZ=UTC", "TZ=Nowhere/City "}
	admitted := 0
	tries := testlong.Seeds(10_000, 20_000)
	for range tries {
		fields := make([]string, 5-rng.IntN(30)/29)
		for i := range fields {
			fields[i] = pieces[rng.IntN(len(pieces))]
			if rng.IntN(3) > 0 {
				fields[i] = []string{"*", "1", "3-5"}[rng.IntN(3)]
			}
		}
		text := prefixes[rng.IntN(len(prefixes))] + strings.Join(fields, " ") + []string{"", "", " ", "\n"}[rng.IntN(4)]
		admitted += agrees(t, text)
	}
	require.Greater(t, admitted, tries/10)
	require.Less(t, admitted, tries*9/10)
	for _, macro := range strings.Fields("@annually @yearly @monthly @weekly @daily @midnight @hourly @Daily @every @dailyfoo @") {
		agrees(t, macro)
		agrees(t, "TZ=Asia/Tokyo "+macro)
		agrees(t, macro+" 1h")
		agrees(t, macro+"\n")
		agrees(t, " "+macro)
	}
}

func agrees(t *testing.T, text string) int {
	b := v1.Budget{Schedule: &text, Duration: &metav1.Duration{}}
	valid := len(b.Validate()) == 0
	s, err := budgets.ParseSchedule(text)
	require.Equal(t, valid, err == nil, "%q: %v", text, err)
	if err != nil {
		return 0
	}
	require.Equal(t, text, s.String())
	return 1
}

func TestScheduleRows(t *testing.T) {
	from := at("2026-03-01T00:00:00Z") // a Sunday
	for _, row := range []struct{ text, want string }{
		{"0 9 * * sat-sun", "03-01 09:00, 03-07 09:00, 03-08 09:00"},
		{"0 9 * * SAT,SUN", "03-01 09:00, 03-07 09:00, 03-08 09:00"},
		{"0 17 * * mon-fri", "03-02 17:00, 03-03 17:00, 03-04 17:00"},
		{"0 9 * * MON-FRI", "03-02 09:00, 03-03 09:00, 03-04 09:00"},
		{"0 0 * * fri-mon", "03-01 00:00, 03-02 00:00, 03-06 00:00"},
		{"0 0 * * tue-mon", "03-01 00:00, 03-02 00:00, 03-03 00:00"},
		{"0 0 * * 7", "03-01 00:00, 03-08 00:00, 03-15 00:00"},
		{"0 0 * * 5-7", "03-01 00:00, 03-06 00:00, 03-07 00:00"},
		{"0 0 * * 7-2", "03-01 00:00, 03-02 00:00, 03-03 00:00"},
		{"0 0 * * 7/2", "03-01 00:00, 03-08 00:00, 03-15 00:00"},
		{"0 0 * * 7-7", "03-01 00:00, 03-08 00:00, 03-15 00:00"},
		{"0 0 * * fri-tue/2", "03-01 00:00, 03-03 00:00, 03-06 00:00"},
		{"0 0 * * 4/2", "03-05 00:00, 03-07 00:00, 03-12 00:00"},
		{"0 0 13 * fri", "03-06 00:00, 03-13 00:00, 03-20 00:00"}, // either
		{"0 0 */10 * fri", "03-01 00:00, 03-06 00:00, 03-11 00:00"},
		{"0 0 */1 * fri", "03-06 00:00, 03-13 00:00, 03-20 00:00"}, // */1 is a star
		{"0 0 ? * fri", "03-06 00:00, 03-13 00:00, 03-20 00:00"},
		{"@hourly", "03-01 00:00, 03-01 01:00, 03-01 02:00"},
		{"@daily", "03-01 00:00, 03-02 00:00, 03-03 00:00"},
		{"@midnight", "03-01 00:00, 03-02 00:00, 03-03 00:00"},
		{"@weekly", "03-01 00:00, 03-08 00:00, 03-15 00:00"},
		{"@monthly", "03-01 00:00, 04-01 00:00, 05-01 00:00"},
		{"@yearly", "01-01 00:00, 01-01 00:00, 01-01 00:00"},
		{"@annually", "01-01 00:00, 01-01 00:00, 01-01 00:00"},
		{"  5/20 0 * * *\t", "03-01 00:05, 03-01 00:25, 03-01 00:45"},
		{"1,,2 0 * * *", "03-01 00:01, 03-01 00:02, 03-02 00:01"},
		{"*/100 5 * * *", "03-01 05:00, 03-02 05:00, 03-03 05:00"},
		{"CRON_TZ=Asia/Tokyo 0 9 * * *", "03-01 00:00, 03-02 00:00, 03-03 00:00"},
		{"0 0 30 2 *", "01-01 00:00, 01-01 00:00, 01-01 00:00"}, // never
		{", * * * *", "01-01 00:00, 01-01 00:00, 01-01 00:00"},
		{"* , * * *", "01-01 00:00, 01-01 00:00, 01-01 00:00"},
		{"0 0 * * ,", "01-01 00:00, 01-01 00:00, 01-01 00:00"},
		{"0 0 29 2 *", "02-29 00:00, 02-29 00:00, 02-29 00:00"},
	} {
		s, err := budgets.ParseSchedule(row.text)
		require.NoError(t, err, row.text)
		var got []string
		h := from.Add(-1)
		for range 3 {
			if next := s.Next(h); !next.IsZero() {
				h = next
			} else {
				h = time.Time{}
			}
			got = append(got, h.Format("01-02 15:04"))
		}
		require.Equal(t, row.want, strings.Join(got, ", "), row.text)
	}
}

// What the package comment promises of wall times that are skipped or repeated.
func TestScheduleWhereTheClockMoves(t *testing.T) {
	for _, row := range []struct{ text, from, to, want string }{
		// Berlin goes from 2:00 to 3:00 on 29 March 2026, at 1:00 UTC ...
		{"30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z", "29T01:30 30T00:30"},
		{"30 3 * * *", "2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z", "29T01:30 30T01:30"},
		{"30 2,3 * * *", "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z", "29T01:30"},
		{"30 * * * *", "2026-03-28T23:00:00Z", "2026-03-29T03:00:00Z", "28T23:30 29T00:30 29T01:30 29T02:30"},
		// ... and from 3:00 to 2:00 on 25 October, at 1:00 UTC.
		{"30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z", "25T00:30 26T01:30"},
		{"30 3 * * *", "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z", "25T02:30 26T02:30"},
		{"30 * * * *", "2026-10-24T23:00:00Z", "2026-10-25T03:00:00Z", "24T23:30 25T00:30 25T01:30 25T02:30"},
		{"30 2-3 * * *", "2026-10-24T12:00:00Z", "2026-10-25T12:00:00Z", "25T00:30 25T01:30 25T02:30"},
		{"30 1-2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T12:00:00Z", "24T23:30 25T00:30"},
	} {
		s, err := budgets.ParseSchedule("CRON_TZ=Europe/Berlin " + row.text)
		require.NoError(t, err)
		var got []string
		for h := s.Next(at(row.from)); h.Before(at(row.to)); h = s.Next(h) {
			got = append(got, h.Format("02T15:04"))
		}
		require.Equal(t, row.want, strings.Join(got, " "), row.text+" from "+row.from)
	}
}

func TestScheduleFaults(t *testing.T) {
	_, err := budgets.ParseSchedule("0 24 * * *")
	require.EqualError(t, err, `schedule "0 24 * * *": field 2 (hour): "24" is not a number from 0 to 23`)
	_, err = budgets.ParseSchedule("TZ=Europe/Atlantis 0 0 * * *")
	require.EqualError(t, err, `schedule "TZ=Europe/Atlantis 0 0 * * *": the time zone database has no zone "Europe/Atlantis"; correct the name, or give the program time zone data`)
	var zero budgets.Schedule
	require.True(t, zero.Next(at("2026-01-01T00:00:00Z")).IsZero())
}
