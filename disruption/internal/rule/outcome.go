package rule

import (
	"fmt"
	"time"
)

// Outcome is the rule that keeps a set of nodes from being consolidated. The zero value is no rule.
type Outcome struct {
	Rule   Rule
	Object string
	Detail string
	Until  time.Time // when the rule no longer applies; zero if time does not change it
}

// Bad reports whether a rule applies.
func (v *Outcome) Bad() bool { return v.Rule != "" }

// Forbid returns an outcome with a rule and its formatted detail.
func Forbid(rule Rule, format string, args ...any) Outcome {
	return Outcome{Rule: rule, Detail: fmt.Sprintf(format, args...)}
}
