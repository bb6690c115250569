package cloudprovidertest

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// Result is what came of one check.
type Result struct {
	// Check is the check.
	Check Check
	// Failures says where the provider broke the rule, one text for each
	// place, in the order in which they were found. Empty is a pass, unless
	// Skipped is set.
	Failures []string
	// Skipped is why the check did not run, and what to do for it to run.
	// Empty if it ran.
	Skipped string
}

// Passed reports whether the check ran and found nothing.
func (r Result) Passed() bool { return r.Skipped == "" && len(r.Failures) == 0 }

// String returns the name of the check and "ok"; or why it was skipped; or the
// rule and below it what broke it, in lines of at most 80 bytes where words allow.
func (r Result) String() string {
	switch {
	case r.Skipped != "":
		return fmt.Sprintf("%s: skipped: %s", r.Check.Name, r.Skipped)
	case len(r.Failures) == 0:
		return r.Check.Name + ": ok"
	}
	var b strings.Builder
	b.WriteString(r.Check.Name + ": the provider breaks a rule of the contract:" + fold("    ", r.Check.Rule))
	for _, f := range r.Failures {
		b.WriteString(fold("  - ", f))
	}
	return b.String()
}

// fold breaks a text into lines, the first of which begins with a bullet. Breaks
// that the text has stay.
func fold(bullet, text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		length := 0
		for word := range strings.SplitSeq(line, " ") {
			if length > 0 && length+1+len(word) <= 80 {
				b.WriteString(" " + word)
				length += 1 + len(word)
				continue
			}
			b.WriteString("\n" + bullet + word)
			length, bullet = len(bullet)+len(word), "    "
		}
	}
	return b.String()
}

// Summary counts the results in its first line, and then lists those that did not
// pass, by Result.String: first the failures, then what was skipped.
func Summary(results []Result) string {
	var failed, skipped []string
	for _, r := range results {
		switch {
		case r.Skipped != "":
			skipped = append(skipped, r.String())
		case !r.Passed():
			failed = append(failed, r.String())
		}
	}
	lines := []string{fmt.Sprintf("%d checks: %d passed, %d failed, %d skipped",
		len(results), len(results)-len(failed)-len(skipped), len(failed), len(skipped))}
	return strings.Join(slices.Concat(lines, failed, skipped), "\n")
}

// Run runs all checks, each as a subtest of its name with a Harness of its own,
// which open makes. Open may fail or skip the subtest by the testing.TB that it
// is given, and clean up after itself with Cleanup. If anything was skipped, Run
// logs at the end what, and what to do about it.
//
// A Harness that no check can do with, as one whose pool has no node class, fails
// t once with all that is wrong with it, and no check runs.
func Run(t *testing.T, open func(testing.TB) *Harness) {
	t.Helper()
	var skipped []string
	for _, c := range Checks() {
		var unfit error
		t.Run(c.Name, func(t *testing.T) {
			h := open(t)
			if unfit = h.complete(t.Context()); unfit != nil {
				t.Skip("the harness is not fit for any check")
			}
			r := c.examine(t, h)
			if r.Skipped != "" {
				skipped = append(skipped, r.String())
				t.Skip(r.Skipped)
			}
			if len(r.Failures) > 0 {
				t.Error(r.String())
			}
		})
		if unfit != nil {
			t.Fatal(unfitText(unfit))
		}
	}
	if len(skipped) > 0 {
		t.Logf("%d of %d checks were skipped:\n%s", len(skipped), len(Checks()), strings.Join(skipped, "\n"))
	}
}

// Examine runs all checks and returns what came of each, in the order of Checks.
// It fails tb for nothing that the provider does; open may, and a Harness that Run
// would not take ends it with tb.Fatal.
func Examine(tb testing.TB, open func(testing.TB) *Harness) []Result {
	tb.Helper()
	var out []Result
	for _, c := range Checks() {
		h := open(tb)
		if err := h.complete(tb.Context()); err != nil {
			tb.Fatalf("%s", unfitText(err))
		}
		out = append(out, c.examine(tb, h))
	}
	return out
}

// unfitText says what is wrong with a harness, in lines of at most 80 bytes where
// words allow.
func unfitText(err error) string {
	text := "the harness is not fit for any check:"
	for line := range strings.SplitSeq(err.Error(), "\n") {
		text += fold("  - ", line)
	}
	return text
}

// examine runs one check on a harness that is complete.
func (c Check) examine(tb testing.TB, h *Harness) (r Result) {
	tb.Helper()
	r.Check = c
	var missing []string
	for _, need := range c.Needs {
		if !h.able(need) {
			missing = append(missing, remedy(need))
		}
	}
	if len(missing) > 0 {
		r.Skipped = strings.Join(missing, "; ")
		return r
	}
	p := &probe{Harness: h, tb: tb, ctx: tb.Context(), check: c.Name}
	defer p.cleanUp()
	defer func() {
		switch v := recover().(type) {
		case nil, halt:
		case skip:
			r.Skipped = string(v)
		default:
			p.fail("panic: %v\n%s", v, debug.Stack())
		}
		r.Failures = p.failures
	}()
	c.run(p)
	return r
}

// remedy says what to do about something that a check needs.
func remedy(need string) string {
	if strings.HasPrefix(need, "Harness.") {
		return "set " + need
	}
	return "implement " + need + " if the cloud can do that"
}
