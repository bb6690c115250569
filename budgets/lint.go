package budgets

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Fault is a kind of Finding.
type Fault string

// The kinds of findings.
const (
	// Malformed: the budget cannot be read, and allows no node for its reasons, or for none at all if one
	// of them is unknown.
	Malformed Fault = "Malformed"
	// AppliesToNothing: the list of reasons is set and empty.
	AppliesToNothing Fault = "AppliesToNothing"
	// NeverFires: the schedule has no hits, or the duration is zero.
	NeverFires Fault = "NeverFires"
	// BlocksForever: for some reason no node may ever be disrupted.
	BlocksForever Fault = "BlocksForever"
	// Inverted: a window seems to be meant to allow more than another budget, or to be the only
	// time for disruption; but a budget can only restrict.
	Inverted Fault = "Inverted"
	// HiddenPercentage: another budget allows at most one node, so that the percentage, which is at
	// least one node, never decides.
	HiddenPercentage Fault = "HiddenPercentage"
	// NeverBinds: another budget is at least as strict whenever this one is in force.
	NeverBinds Fault = "NeverBinds"
	// ClockGap: windows that join or overlap by the wall clock leave a gap when the clock is put
	// back, because durations are elapsed time.
	ClockGap Fault = "ClockGap"
	// UnreadableToKarpenter: the schedule is valid here, but Karpenter 1.15 cannot read it and then
	// disrupts no node of the pool.
	UnreadableToKarpenter Fault = "UnreadableToKarpenter"
)

// Finding is a probable mistake in budgets.
type Finding struct {
	// Fault is the kind of the mistake.
	Fault Fault
	// Budget is the index of the budget.
	Budget int
	// Field is the field of the budget to change first, such as schedule.
	Field string
	// Why says what is wrong, and Remedy what to do, each in one or two sentences without a full
	// stop at the end.
	Why, Remedy string
}

// String returns the finding in one line.
func (f Finding) String() string {
	return fmt.Sprintf("budgets[%d].%s: %s: %s; %s", f.Budget, f.Field, f.Fault, f.Why, f.Remedy)
}

// Lint finds probable mistakes in budgets. Findings are in the order of the budgets, and always in
// the same order for the same budgets. Only problems for every size of a pool are findings. A
// budget that is malformed, or never in force, has no findings of other kinds. A budget of 100%
// that is always in force is no mistake: it lifts the default of 10%, which holds without any
// budget. Whether budgets leave no time for disruption, or a time without any limit, is found by
// simulating one leap year, which costs hundreds of calls of Compiled.Allow. The caller owns the
// slice.
func Lint(bs []v1.Budget) []Finding {
	l := linter{budgets: bs}
	for i := range bs {
		l.read(i)
	}
	for i := range bs {
		if l.live(i) {
			l.karpenter(i)
			l.blocks(i)
			l.hidden(i)
			l.clock(i)
		}
	}
	l.opens()
	l.blocksTogether()
	slices.SortStableFunc(l.findings, func(a, b Finding) int { return a.Budget - b.Budget })
	return l.findings
}

// linter collects findings.
type linter struct {
	budgets     []v1.Budget
	constraints []constraint // one for each budget
	findings    []Finding
}

func (l *linter) add(i int, fault Fault, field, why, remedy string) {
	l.findings = append(l.findings, Finding{fault, i, field, why, remedy})
}

// read checks a budget on its own.
func (l *linter) read(i int) {
	r := reader{}
	r.budget(i, &l.budgets[i])
	k := r.constraints[0]
	prefix := fmt.Sprintf("budgets[%d].", i)
	for _, f := range r.faults {
		l.add(i, Malformed, strings.TrimPrefix(f.Field, prefix), f.ErrorBody(),
			"correct it; until then it allows no node for "+reasonsText(k.scope))
	}
	switch {
	case k.decider.Malformed:
	case !k.scope.all && len(k.scope.reasons) == 0:
		l.add(i, AppliesToNothing, "reasons", "the list of reasons is empty, so the budget applies to none",
			"remove the list to apply it to all reasons, or remove the budget"+l.afterRemoval())
	case k.form == never:
		l.add(i, NeverFires, "duration", "windows of no length are never open", "give a duration such as 8h")
	case k.form == inside && k.windows[0].schedule.set.never:
		l.add(i, NeverFires, "schedule", "the schedule names no time that exists, so the budget is never in force",
			"correct the day of the month or the month")
		k.form = never
	}
	l.constraints = append(l.constraints, k)
}

// live reports whether a budget is ever in force for any reason.
func (l *linter) live(i int) bool {
	k := &l.constraints[i]
	return !k.decider.Malformed && k.form != never && (k.scope.all || len(k.scope.reasons) > 0)
}

// constant reports whether a budget is in force at all times.
func (l *linter) constant(i int) bool {
	k := &l.constraints[i]
	return k.form == always || k.form == inside && k.windows[0].always()
}

// blocks finds a budget that never allows a node.
func (l *linter) blocks(i int) {
	if k := &l.constraints[i]; k.value.n == 0 && l.constant(i) {
		l.add(i, BlocksForever, "nodes", fmt.Sprintf("it allows no node at any time for %s", reasonsText(k.scope)),
			"raise it, or give it a schedule and a duration")
	}
}

// hidden finds a budget without effect, because of another one or of its own value.
func (l *linter) hidden(i int) {
	k := &l.constraints[i]
	windowed := !l.constant(i)
	if k.value == everything && windowed {
		l.add(i, Inverted, "nodes", "100% in a window restricts nothing, and does not lift other budgets or close the time outside the window", onlyThen)
		return
	}
	for j := range l.constraints {
		if j == i || !l.live(j) || !l.covers(j, i) {
			continue
		}
		o := &l.constraints[j]
		same := l.covers(i, j) && o.value == k.value
		if !o.value.atMost(k.value) || same && j > i {
			continue
		}
		switch {
		case windowed && l.constant(j) && o.value != k.value:
			l.add(i, Inverted, "schedule", fmt.Sprintf("the window never allows more than %s of budgets[%d], which always holds: the smallest budget wins", l.nodes(j), j),
				fmt.Sprintf("if the window is when disruption is to be allowed, give budgets[%d] a schedule that covers the other times, or use Policy.Only", j))
		case k.value.percent && k.value != everything && !o.value.percent:
			l.add(i, HiddenPercentage, "nodes", fmt.Sprintf("%s is one node or more, and budgets[%d] allows at most %s whenever this one is in force", l.nodes(i), j, l.nodes(j)),
				fmt.Sprintf("remove one of the two, or raise budgets[%d]", j))
		default:
			l.add(i, NeverBinds, "nodes", fmt.Sprintf("budgets[%d], %s, is as strict whenever this one is in force", j, l.nodes(j)),
				"remove it, or make it stricter")
		}
		return
	}
}

// onlyThen is the remedy for a window that was meant as the only time for disruption.
const onlyThen = "to allow disruption in the window only, block the time outside with a budget of 0, or use Policy.Only"

// opens finds windows that restrict disruption while no budget is in force outside of them: they
// seem to be meant as the only time for disruption. The first budget with such a window gets the
// finding.
func (l *linter) opens() {
	from := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	free := map[string]bool{} // by the indices of the budgets that apply to a reason
	unlimited := map[int][]Reason{}
	for _, r := range v1.DisruptionReasons() {
		var list []*constraint
		first, key, constant := -1, "", false
		for i := range l.constraints {
			k := &l.constraints[i]
			if k.form == never || !k.scope.has(r) {
				continue
			}
			list, key = append(list, k), fmt.Sprintf("%s %d", key, i)
			constant = constant || l.constant(i)
			if first < 0 && k.value.n > 0 {
				first = i
			}
		}
		if constant || first < 0 {
			continue
		}
		if _, known := free[key]; !known {
			_, free[key] = firstFree(list, from.Unix(), from.AddDate(1, 0, 0).Unix())
		}
		if free[key] {
			unlimited[first] = append(unlimited[first], r)
		}
	}
	for i := range l.constraints {
		if len(unlimited[i]) == 0 || slices.ContainsFunc(l.findings, func(f Finding) bool { return f.Budget == i && f.Fault == Inverted }) {
			continue
		}
		why := fmt.Sprintf("outside of the windows no budget holds for %s, not even the default of %s, so that all nodes may go at once",
			reasonsText(newScope(unlimited[i])), v1.DefaultBudgetNodes)
		l.add(i, Inverted, "schedule", why, onlyThen+"; if there is to be no limit outside, say so with a further budget of 100%")
	}
}

// karpenter finds a schedule that Karpenter cannot read. Karpenter puts a zone in front of it and
// passes it to the cron library.
func (l *linter) karpenter(i int) {
	text := l.budgets[i].Schedule
	if text == nil {
		return
	}
	_, err := cron.ParseStandard("TZ=UTC " + *text)
	if err == nil {
		return
	}
	zone, rest := cutZone(strings.TrimSpace(*text))
	remedy := fmt.Sprintf("write %q, which means the same", plainDays(rest))
	if zone != "UTC" {
		remedy = fmt.Sprintf("write it without the zone, and with the hours of %s in UTC: %q with other hours", zone, plainDays(rest))
	}
	l.add(i, UnreadableToKarpenter, "schedule", fmt.Sprintf("Karpenter 1.15 cannot read the schedule (%v), and then lets no node of the pool go at any time", err), remedy)
}

// afterRemoval returns the text about the default that holds after removing the only budget.
func (l *linter) afterRemoval() string {
	if len(l.budgets) > 1 {
		return ""
	}
	return ", after which the default of " + v1.DefaultBudgetNodes + " holds"
}

// covers reports whether budget j applies to all reasons of i, and is in force whenever i is, as
// far as can be determined without simulating time.
func (l *linter) covers(j, i int) bool {
	kj, ki := &l.constraints[j], &l.constraints[i]
	if !kj.scope.all && (ki.scope.all || ki.scope.known&^kj.scope.known != 0) {
		return false
	}
	if l.constant(j) {
		return true
	}
	if ki.form != inside {
		return false
	}
	wj, wi := &kj.windows[0], &ki.windows[0]
	return wj.schedule.set == wi.schedule.set && wj.schedule.loc.String() == wi.schedule.loc.String() && wj.length >= wi.length
}

func (l *linter) nodes(i int) string {
	if text := l.budgets[i].Nodes; text != "" {
		return text
	}
	return v1.DefaultBudgetNodes
}

// The years that clock checks. In future years only those rules of the time zone database apply that
// are still in force.
const (
	ruleFrom = 2040
	ruleTo   = 2060
)

// clock finds a gap that exists only because a clock is put back.
func (l *linter) clock(i int) {
	k := &l.constraints[i]
	if k.form != inside {
		return
	}
	w := &k.windows[0]
	start, end := dayOf(ruleFrom, 1, 1)*secondsPerDay, dayOf(ruleTo, 1, 1)*secondsPerDay
	for t := start; t < end; {
		z := spanAt(w.schedule.loc, t)
		t = z.to
		back := z.old - z.offset
		if back <= 0 || z.from < start {
			continue
		}
		hit, ok := w.schedule.next(z.from - w.length)
		if !ok || hit >= z.from {
			continue
		}
		closes, ok := w.closesBy(hit, z.to)
		next, again := w.schedule.next(closes)
		if hole := next - closes; ok && again && closes-w.length < z.from && hole <= back {
			l.add(i, ClockGap, "duration", fmt.Sprintf("in %s its windows join by the wall clock, but leave a hole of %s when the clock is put back",
				w.schedule.loc, plain(hole)), fmt.Sprintf("lengthen the duration by %s", plain(back)))
			return
		}
	}
}

// plain renders seconds as hours and minutes, without parts that are zero.
func plain(seconds int64) string {
	text := (time.Duration(seconds) * time.Second).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = strings.TrimSuffix(short+"m", "h0m")
		if text != short+"m" {
			text += "h"
		}
	}
	return text
}

func reasonsText(s scope) string {
	if s.all || slices.Equal(s.reasons, v1.DisruptionReasons()) {
		return "any reason"
	}
	texts := make([]string, len(s.reasons))
	for i, r := range s.reasons {
		texts[i] = string(r)
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

// blocksTogether finds budgets that together never allow a node, although none does so alone, such
// as one for weekends and one for working days. It simulates one leap year.
func (l *linter) blocksTogether() {
	c := &Compiled{}
	for i := range l.constraints {
		k := &l.constraints[i]
		if !l.live(i) || k.value.n > 0 {
			continue
		}
		if k.scope.all && l.constant(i) {
			return // reported before
		}
		c.constraints = append(c.constraints, *k)
	}
	// Reasons that the same budgets block share one finding.
	var order []string
	reasons := map[string][]Reason{}
	last := map[string]int{}
	for _, r := range v1.DisruptionReasons() {
		by, blocks := c.blockers(r)
		if !blocks || l.saidAlready(r) {
			continue
		}
		names := make([]string, len(by))
		for i, index := range by {
			names[i] = fmt.Sprintf("budgets[%d]", index)
		}
		key := strings.Join(names, " and ")
		if reasons[key] == nil {
			order = append(order, key)
		}
		reasons[key] = append(reasons[key], r)
		last[key] = by[len(by)-1]
	}
	for _, key := range order {
		l.add(last[key], BlocksForever, "schedule", fmt.Sprintf("%s together allow no node at any time for %s", key, reasonsText(newScope(reasons[key]))),
			"shorten one of them, so that there is a time for disruption")
	}
}

// saidAlready reports whether a finding about a single budget has reported that the reason is
// blocked forever.
func (l *linter) saidAlready(r Reason) bool {
	for i := range l.constraints {
		if k := &l.constraints[i]; l.live(i) && k.value.n == 0 && l.constant(i) && k.scope.has(r) {
			return true
		}
	}
	return false
}

// blockers returns the budgets that decide during the year, in order. blocks is true if at every
// time one of them allows no node.
func (c *Compiled) blockers(r Reason) (by []int, blocks bool) {
	from := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	seen := map[int]bool{}
	for w := range c.Windows(from, from.AddDate(1, 0, 0), Counts{Nodes: 1}, r) {
		if w.Unlimited {
			return nil, false
		}
		seen[w.Decider.Index] = true
	}
	for i := range c.constraints {
		if index := c.constraints[i].decider.Index; seen[index] {
			by = append(by, index)
		}
	}
	return by, len(by) > 0
}
