package budgets

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Schedule is a set of instants at which windows open, called hits. Each is on a whole minute of
// the wall clock of its zone. The zero value has none, and no schedule has hits beyond 35 million
// years from 1970. A Schedule is immutable and may be used from many goroutines.
type Schedule struct {
	text string
	set  civil
	loc  *time.Location
}

// ParseSchedule reads the schedule of a budget: the five fields minute, hour, day of month, month
// and day of week, or a macro such as @daily, behind an optional CRON_TZ=<zone> or TZ=<zone>.
// v1.Budget documents the grammar. ParseSchedule refuses what v1.Budget.Validate refuses, with the
// same text; in addition the zone must exist.
//
//   - Without a zone the schedule runs in UTC.
//   - Days of the week go from 0 to 7, both 0 and 7 being Sunday. Ranges of them may wrap around:
//     sat-sun, fri-mon, 5-1. A step is counted from the beginning of the range: fri-tue/2 is fri,
//     sun, tue.
//   - A value with a step, a/n, goes up to the last value of the field, which
//     for days of the week is Saturday, or Sunday if it begins with 7.
//   - If both day fields restrict, a day needs to match one of them; if one is * or ?, the other
//     decides. As in Karpenter, */2 restricts.
//
// A schedule for a day that does not exist, such as 30 February, is not an error: it has no hits.
func ParseSchedule(text string) (*Schedule, error) {
	s, err := parseSchedule(text)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", text, err)
	}
	return s, nil
}

// parseSchedule reads a schedule. Errors do not repeat the text.
func parseSchedule(text string) (*Schedule, error) {
	probe := v1.Budget{Schedule: &text, Duration: &metav1.Duration{}}
	if faults := probe.Validate(); len(faults) > 0 {
		return nil, errors.New(faults[0].Detail)
	}
	name, rest := cutZone(strings.TrimSpace(text))
	loc, err := time.LoadLocation(name) // validated before
	if err != nil {
		return nil, err
	}
	parsed, err := cron.ParseStandard(plainDays(rest))
	if err != nil {
		return nil, err
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, errors.New("want five cron fields or a macro such as @daily")
	}
	return &Schedule{text: text, set: civilOf(spec), loc: loc}, nil
}

// cutZone splits a valid schedule into its zone and the rest.
func cutZone(text string) (zone, rest string) {
	_, after, ok := strings.Cut(text, "TZ=")
	if !ok {
		return "UTC", text
	}
	end := strings.IndexAny(after, " \t\r\n\v\f")
	return after[:end], strings.TrimSpace(after[end:])
}

// plainDays rewrites the days of the week of a valid schedule in the form of the cron library:
// single days from 0 to 6, and stars.
func plainDays(text string) string {
	fields := strings.Fields(text)
	if len(fields) != 5 {
		return text // a macro
	}
	var terms []string
	for term := range strings.SplitSeq(fields[4], ",") {
		switch {
		case term == "":
		case term[0] == '*' || term[0] == '?':
			terms = append(terms, term)
		default:
			terms = append(terms, daysOfTerm(term)...)
		}
	}
	fields[4] = strings.Join(terms, ",")
	if fields[4] == "" {
		fields[4] = "," // no day
	}
	return strings.Join(fields, " ")
}

// daysOfTerm lists the days of day, day-day, day/step or day-day/step.
func daysOfTerm(term string) []string {
	span, stepText, hasStep := strings.Cut(term, "/")
	lowText, highText, isRange := strings.Cut(span, "-")
	low, high, step := weekday(lowText), weekday(lowText), 1
	if hasStep {
		step, _ = strconv.Atoi(stepText) // has been validated
		step = min(step, 7)              // more does not change anything
		high = max(6, low)
	}
	if isRange {
		high = weekday(highText)
	}
	if low == 7 && isRange { // Sunday begins a range as 0
		low = 0
		high %= 7
	}
	if high < low {
		high += 7
	}
	var days []string
	for d := low; d <= high; d += step {
		days = append(days, strconv.Itoa(d%7))
	}
	return days
}

func weekday(text string) int {
	names := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	if i := slices.Index(names, strings.ToLower(text)); i >= 0 {
		return i
	}
	n, _ := strconv.Atoi(text) // has been validated
	return n
}

// civilOf returns the sets of minutes, hours and days that the library has parsed. The library's
// own search is not used, because it skips windows where clocks change.
func civilOf(spec *cron.SpecSchedule) civil {
	const star = 1 << 63
	c := civil{
		minutes: spec.Minute &^ star,
		hours:   spec.Hour &^ star,
		months:  spec.Month &^ star,
		dom:     spec.Dom &^ star,
		either:  spec.Dom&star == 0 && spec.Dow&star == 0,
	}
	for first := range c.weeks {
		for day := 1; day <= 31; day++ {
			if spec.Dow>>((first+day-1)%7)&1 == 1 {
				c.weeks[first] |= 1 << day
			}
		}
	}
	const days, months = 1<<32 - 2, 1<<13 - 2
	if c.dom == days && c.months == months && !c.either {
		c.week = spec.Dow & (1<<7 - 1) * (1<<7 + 1)
	}
	if c.minutes == 0 || c.hours == 0 {
		c.never = true
		return c
	}
	c.first = int64(bits.TrailingZeros64(c.hours)*60 + bits.TrailingZeros64(c.minutes))
	c.last = int64((bits.Len64(c.hours)-1)*60 + bits.Len64(c.minutes) - 1)
	_, some := c.dayFrom(0)
	c.never = !some
	return c
}

// String returns the text that was parsed.
func (s *Schedule) String() string { return s.text }

// Next returns the first hit after t, in the location of t, or the zero time if there is none or t
// is too far away.
func (s *Schedule) Next(t time.Time) time.Time {
	if s.loc == nil { // the zero value
		return time.Time{}
	}
	sec := seconds(t)
	hit, ok := s.next(sec + 1)
	if !ok || sec != t.Unix() || max(hit, -hit) > farAway {
		return time.Time{}
	}
	return time.Unix(hit, 0).In(t.Location())
}
