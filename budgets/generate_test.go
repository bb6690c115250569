package budgets_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	_ "time/tzdata"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// plan is a schedule as sets of values. It is made together with its text, so
// that tests need no second parser.
type plan struct {
	zone                              string
	minutes, hours, dom, months, days *values
	domStar, daysStar                 bool
}

// values are those of a field.
type values [60]bool

func (p *plan) matches(wall time.Time) bool {
	if !p.minutes[wall.Minute()] {
		return false
	}
	dom, day := p.dom[wall.Day()], p.days[int(wall.Weekday())]
	match := dom || day
	if p.domStar || p.daysStar {
		match = dom && day
	}
	return match && p.months[int(wall.Month())] && p.hours[wall.Hour()]
}

// anyPlan makes a random schedule and its text.
func anyPlan(rng *rand.Rand, zone string) (string, *plan) {
	p := &plan{zone: zone}
	texts := make([]string, 5)
	texts[0], p.minutes, _ = anyField(rng, 0, 59, nil, false)
	texts[1], p.hours, _ = anyField(rng, 0, 23, nil, false)
	texts[2], p.dom, p.domStar = anyField(rng, 1, 31, nil, rng.IntN(2) > 0)
	texts[3], p.months, _ = anyField(rng, 1, 12, strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec"), rng.IntN(2) > 0)
	texts[4], p.days, p.daysStar = anyField(rng, 0, 6, strings.Fields("Sun MON tue Wed thu FRI sat"), rng.IntN(3) == 0)
	text := strings.Join(texts, " ")
	if zone != "" {
		text = []string{"CRON_TZ=", "TZ="}[rng.IntN(2)] + zone + " " + text
	}
	return text, p
}

func anyField(rng *rand.Rand, low, high int, names []string, star bool) (text string, set *values, isStar bool) {
	set = &values{}
	var terms []string
	for range 1 + rng.IntN(2) {
		a, b, step := low+rng.IntN(high-low+1), low+rng.IntN(high-low+1), 1+rng.IntN(8)
		if a > b && len(names) != 7 {
			a, b = b, a
		}
		kind := rng.IntN(5)
		if star {
			kind = 5
		}
		from, to, by := a, b, 1
		switch kind {
		case 0, 1:
			terms, to = append(terms, spell(rng, a, names)), a
		case 2:
			terms = append(terms, spell(rng, a, names)+"-"+spell(rng, b, names))
		case 3:
			terms, by = append(terms, fmt.Sprintf("%s-%s/%d", spell(rng, a, names), spell(rng, b, names), step)), step
		case 4:
			terms, to, by = append(terms, fmt.Sprintf("%d/%d", a, step)), high, step
		case 5:
			terms, from, to, isStar = append(terms, []string{"*", "?", "*/1"}[rng.IntN(3)]), low, high, true
		}
		if to < from {
			to += 7
		}
		for v := from; v <= to; v += by {
			set[low+(v-low)%(high-low+1)] = true
		}
	}
	return strings.Join(terms, ","), set, isStar
}

func spell(rng *rand.Rand, v int, names []string) string {
	switch {
	case names == nil || rng.IntN(2) == 0:
		return fmt.Sprint(v)
	case len(names) == 12:
		return names[v-1]
	}
	return names[v]
}

// hits lists the instants of a plan from a first minute to a last, by looking
// at every minute that a wall clock can show.
func (p *plan) hits(from, to time.Time) map[int64]bool {
	loc := time.UTC
	if p.zone != "" {
		loc, _ = time.LoadLocation(p.zone)
	}
	first, end := from.AddDate(0, 0, -3), to.AddDate(0, 0, 3)
	offsets := map[int64]bool{}
	for t := first; t.Before(end); t = t.Add(6 * time.Hour) {
		_, offset := t.In(loc).Zone()
		offsets[int64(offset)] = true
	}
	hits := map[int64]bool{}
	for wall := first; wall.Before(end); wall = wall.Add(time.Minute) {
		if !p.matches(wall) {
			continue
		}
		var shown []int64 // when the clock shows it
		for offset := range offsets {
			t := wall.Unix() - offset
			if _, actual := time.Unix(t, 0).In(loc).Zone(); int64(actual) == offset {
				shown = append(shown, t)
			}
		}
		switch len(shown) {
		case 0: // skipped: by the clock of the day before
			_, offset := wall.AddDate(0, 0, -1).In(loc).Zone()
			hits[wall.Unix()-int64(offset)] = true
		case 1:
			hits[shown[0]] = true
		case 2:
			first, second := min(shown[0], shown[1]), max(shown[0], shown[1])
			hits[first] = true
			if p.matches(wall.Add(time.Duration(second-first) * time.Second)) {
				hits[second] = true
			}
		}
	}
	return hits
}

// budget makes one; a schedule that is empty is none.
func budget(nodes, schedule string, length time.Duration, reasons ...v1.DisruptionReason) v1.Budget {
	b := v1.Budget{Nodes: nodes, Reasons: reasons}
	if schedule != "" {
		b.Schedule, b.Duration = &schedule, &metav1.Duration{Duration: length}
	}
	return b
}

// documented returns the four budgets of Karpenter's documentation.
func documented() []v1.Budget {
	return []v1.Budget{
		budget("15%", "", 0),
		budget("3", "", 0),
		budget("0", "0 9 * * sat-sun", 24*time.Hour),
		budget("0", "0 17 * * mon-fri", 16*time.Hour, v1.DisruptionReasonDrifted),
	}
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}
