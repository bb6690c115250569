package v1

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cronField has the allowed values of a field of a schedule.
type cronField struct {
	name     string
	min, max int
	names    []string // names[i] stands for min+i
}

// cronFields returns the five fields in their order. Day of week includes 7, which is Sunday like
// 0.
func cronFields() []cronField {
	return []cronField{
		{name: "minute", min: 0, max: 59},
		{name: "hour", min: 0, max: 23},
		{name: "day of month", min: 1, max: 31},
		{name: "month", min: 1, max: 12, names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
		{name: "day of week", min: 0, max: 7, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
	}
}

func scheduleMacros() []string {
	return []string{"@annually", "@daily", "@hourly", "@midnight", "@monthly", "@weekly", "@yearly"}
}

// checkSchedule returns the fault of the text of a schedule, with a remedy, or "".
//
// The grammar is that of Karpenter's cron library, and three extensions that Karpenter cannot read:
// a time zone in front (CRON_TZ=Europe/Berlin or TZ=Europe/Berlin), 7 for Sunday, and ranges of
// days of the week that wrap around, such as sat-sun. The zone must be in the time zone database of
// the process: otherwise the budget would never allow a disruption.
//
// One form of Karpenter is refused: a range that begins with a star, such as *-5. In Karpenter it
// means every value, which is not what it looks like.
func checkSchedule(text string) string {
	rest := strings.TrimSpace(text)
	zone, tail, hasZone := cutZone(rest)
	if hasZone {
		if msg := checkZone(zone); msg != "" {
			return msg
		}
		rest = strings.TrimSpace(tail)
	}
	if strings.HasPrefix(rest, "@") {
		return checkMacro(text, rest, hasZone)
	}
	fields, parts := cronFields(), strings.Fields(rest)
	if len(parts) != len(fields) {
		return fmt.Sprintf("want five fields (minute, hour, day of month, month, day of week) or a macro such as @daily, got %d", len(parts))
	}
	for i, f := range fields {
		if msg := f.check(parts[i]); msg != "" {
			return fmt.Sprintf("field %d (%s): %s", i+1, f.name, msg)
		}
	}
	if !storedFields.MatchString(text) {
		return "the API server takes five fields with spaces between them, and no line break after them"
	}
	return ""
}

// storedFields is the pattern of the schema for a schedule that is not a macro.
var storedFields = regexp.MustCompile(`(.+)\s(.+)\s(.+)\s(.+)\s(.+)$`)

// checkMacro checks a schedule that is a macro, possibly after a zone or space. By the schema the
// text must begin with the macro.
func checkMacro(text, macro string, hasZone bool) string {
	switch {
	case !slices.Contains(scheduleMacros(), macro):
		return fmt.Sprintf("%q is not a macro; use %s, or five cron fields", macro, strings.Join(scheduleMacros(), ", "))
	case hasZone:
		return fmt.Sprintf("the API server takes no time zone in front of a macro; write %s as five cron fields", macro)
	case text[0] != '@':
		return "the API server takes no space in front of a macro; remove it"
	}
	return ""
}

// cutZone splits a leading zone from the rest of the schedule.
func cutZone(text string) (zone, rest string, ok bool) {
	for _, prefix := range []string{"CRON_TZ=", "TZ="} {
		if after, found := strings.CutPrefix(text, prefix); found {
			if i := strings.IndexAny(after, " \t\r\n\v\f"); i >= 0 {
				return after[:i], after[i:], true
			}
			return after, "", true
		}
	}
	return "", text, false
}

func checkZone(zone string) string {
	const remedy = "; use a name of the time zone database such as Europe/Berlin"
	if zone == "" {
		return "the time zone is empty" + remedy
	}
	if zone == "Local" {
		// The zone Local depends on the machine.
		return "the time zone Local is not the same everywhere" + remedy
	}
	for _, part := range strings.Split(zone, "/") {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-") != "" {
			return fmt.Sprintf("%q is not a time zone", zone) + remedy
		}
	}
	if _, err := time.LoadLocation(zone); err != nil {
		return fmt.Sprintf("the time zone database has no zone %q; correct the name, or give the program time zone data", zone)
	}
	return ""
}

// check returns what is wrong with one field, or "". A field is a list of terms; empty terms are
// ignored, as in Karpenter.
func (f cronField) check(text string) string {
	for _, term := range strings.Split(text, ",") {
		if term == "" {
			continue
		}
		if msg := f.checkTerm(term); msg != "" {
			return msg
		}
	}
	return ""
}

// checkTerm reads value, low-high, * or ?, each with an optional /step.
func (f cronField) checkTerm(term string) string {
	span, step, hasStep := strings.Cut(term, "/")
	if hasStep {
		if n, err := strconv.Atoi(step); err != nil || n < 1 {
			return fmt.Sprintf("%q: a step is a whole number of 1 or more", term)
		}
	}
	low, high, isRange := strings.Cut(span, "-")
	if low == "*" || low == "?" {
		if isRange {
			return fmt.Sprintf("%q: %s is every value, it cannot begin a range", term, low)
		}
		return ""
	}
	from, ok := f.value(low)
	if !ok {
		return f.wrongValue(low)
	}
	if !isRange {
		return ""
	}
	to, ok := f.value(high)
	if !ok {
		return f.wrongValue(high)
	}
	if from > to && f.name != "day of week" {
		return fmt.Sprintf("%q: a range goes upwards; write two ranges, separated by a comma", term)
	}
	return ""
}

func (f cronField) wrongValue(text string) string {
	if len(f.names) == 0 {
		return fmt.Sprintf("%q is not a number from %d to %d", text, f.min, f.max)
	}
	return fmt.Sprintf("%q is neither a number from %d to %d nor one of %s", text, f.min, f.max, strings.Join(f.names, ", "))
}

func (f cronField) value(text string) (int, bool) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return f.min + i, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= f.min && n <= f.max
}
