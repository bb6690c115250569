package rule

import (
	"fmt"
	"time"
)

// Outcome is what keeps a set of nodes from being consolidated; the zero value
// is nothing.
type Outcome struct {
	Rule   Rule
	Object string
	Detail string
	Until  time.Time // when it ceases to hold by itself
}

// Bad reports whether anything keeps it.
func (v *Outcome) Bad() bool { return v.Rule != "" }

// Forbid is an outcome with a rule and its detail.
func Forbid(rule Rule, format string, args ...any) Outcome {
	return Outcome{Rule: rule, Detail: fmt.Sprintf(format, args...)}
}
