package cloudprovidertest

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// Result is the result of one check.
type Result struct {
	Check Check
	// Failures has a text for each violation of the rule, in the order in which they were found. If
	// it is empty the check passed, unless Skipped is set.
	Failures []string
	// Skipped is why the check did not run, and what to do for it to run.
	// Empty if it ran.
	Skipped string
}

// Passed reports whether the check ran without a failure.
func (r Result) Passed() bool { return r.Skipped == "" && len(r.Failures) == 0 }

// String returns the name of the check and "ok"; or why it was skipped; or the rule and below it
// the failures, in lines of at most 80 bytes where words allow.
func (r Result) String() string {
	switch {
	case r.Check.Name == "":
		return "no check"
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

// fold breaks a text into lines, the first of which begins with a bullet. Line breaks of the text
// stay.
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

// Summary returns a text that counts the results in its first line, and then lists those that did
// not pass, by Result.String: first the failures, then the skipped checks.
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

// Run runs all checks, each as a subtest of its name with a new Harness, which open makes. Open may
// fail or skip the subtest by its testing.TB, and clean up with Cleanup. At the end Run logs the
// skipped checks and their remedies.
//
// If no check can run with the Harness, because its pool has no node class for example, t fails
// once with all faults of the Harness, and no check runs.
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

// Examine runs all checks and returns their results, in the order of Checks. Failures of the
// provider do not fail tb; open may, and a Harness that Run would refuse ends it with tb.Fatal.
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

// remedy says how to meet a need of a check.
func remedy(need string) string {
	if strings.HasPrefix(need, "Harness.") {
		return "set " + need
	}
	return "implement " + need + " if the cloud can do that"
}
