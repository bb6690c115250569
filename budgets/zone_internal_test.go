package budgets

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Dates are those of package time, in leap years and before 1970 as well.
func TestDaysAreThoseOfTheCalendar(t *testing.T) {
	for day := dayOf(-401, 1, 1); day < dayOf(2400, 1, 1); day++ {
		if day == dayOf(1, 1, 1) { // the calendar repeats after 400 years
			day = dayOf(2000, 1, 1)
		}
		date := time.Unix(day*secondsPerDay, 0).UTC()
		year, month, dom := dateOf(day)
		if dayOf(year, month, dom) != day || int64(date.Day()) != dom {
			require.Failf(t, "another day", "%s: %d", date, day)
		}
		if last := date.AddDate(0, 0, 1).Day() == 1; last != (dom == monthLength(year, month)) {
			require.Failf(t, "another length", "%s: %d", date, monthLength(year, month))
		}
	}
}
