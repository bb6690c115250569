package budgets

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Compiled is a set of parsed budgets. It is immutable and may be used from many goroutines. The
// zero value has no budgets.
type Compiled struct {
	constraints []constraint
	expiry      bool // whether budgets apply to expiry
	separate    bool
}

// Compile parses budgets and a policy, which may be nil. It does not retain its arguments. It costs
// as much as a hundred calls of Compiled.Allow, because it parses schedules and looks up zones:
// keep the result as long as the budgets do not change.
//
// The result can always be used. If the error is not nil it lists every fault, with the field and a
// remedy, and each budget or entry of Policy.Only with a fault allows no node for the reasons that it
// applies to, and for no reason at all if it names one that is unknown.
// No defaults are added, and an empty list means no bound: for a NodePool without budgets in its
// manifest call v1.NodePool.Default first.
//
// A budget applies to the reasons that it names, to all if the list is nil, and to none if the list
// is empty. Empty nodes mean 10%. With neither schedule nor duration it is always in force; with
// both, in the windows [hit, hit+duration), so never if the duration is 0.
func Compile(bs []v1.Budget, policy *Policy) (*Compiled, error) {
	c, faults := compile(bs, policy)
	return c, faults.ToAggregate() // which is nil without faults
}

func compile(bs []v1.Budget, policy *Policy) (*Compiled, field.ErrorList) {
	r := reader{}
	for i := range bs {
		r.budget(i, &bs[i])
	}
	c := &Compiled{}
	if policy != nil {
		c.expiry, c.separate = policy.ExpiryUnderBudgets, policy.SeparateReasons
		for i := range policy.Only {
			r.only(i, &policy.Only[i])
		}
	}
	c.constraints = r.constraints
	return c, r.faults
}

// reader collects constraints and faults.
type reader struct {
	constraints []constraint
	faults      field.ErrorList
}

// add adds a constraint, or one that allows no node if there are faults. What an unknown reason was
// meant to be is not known, so the constraint is then for all reasons.
func (r *reader) add(c constraint, faults field.ErrorList) {
	if len(faults) > 0 {
		c = constraint{decider: c.decider, scope: c.scope}
		if slices.ContainsFunc(c.scope.reasons, func(r Reason) bool { return bit(r) == 0 }) {
			c.scope = newScope(nil)
		}
		c.decider.Malformed = true
		r.faults = append(r.faults, faults...)
	}
	r.constraints = append(r.constraints, c)
}

func (r *reader) budget(i int, b *v1.Budget) {
	path := field.NewPath("budgets").Index(i)
	c := constraint{decider: Decider{Source: FromBudgets, Index: i}, scope: newScope(b.Reasons)}
	faults := b.Validate()
	for _, f := range faults {
		f.Field = path.String() + "." + f.Field
	}
	if len(faults) > 0 {
		r.add(c, faults)
		return
	}
	text := b.Nodes
	if text == "" {
		text = v1.DefaultBudgetNodes
	}
	c.value, faults = readQuantity(path.Child("nodes"), text)
	if b.Schedule != nil {
		c.form = inside
		if b.Duration.Duration == 0 {
			c.form = never
		}
		w, more := r.window(path, Opening{*b.Schedule, b.Duration.Duration})
		c.windows, faults = []windows{w}, append(faults, more...)
	}
	r.add(c, faults)
}

func readQuantity(path *field.Path, text string) (quantity, field.ErrorList) {
	q, ok := parseQuantity(text)
	if !ok {
		return q, field.ErrorList{field.Invalid(path, text, `want a count such as "5" or a share from "0%" to "100%"`)}
	}
	return q, nil
}

// window reads a window whose length is not negative.
func (r *reader) window(path *field.Path, w Opening) (windows, field.ErrorList) {
	s, err := parseSchedule(w.Schedule)
	if err != nil {
		return windows{}, field.ErrorList{field.Invalid(path.Child("schedule"), w.Schedule, err.Error())}
	}
	return newWindows(s, int64(w.Duration/time.Second)), nil
}

// only reads an entry of Policy.Only.
func (r *reader) only(i int, rule *Only) {
	path := field.NewPath("only").Index(i)
	c := constraint{decider: Decider{Source: FromOnly, Index: i}, scope: newScope(rule.Reasons), form: outside}
	var faults field.ErrorList
	if len(rule.Openings) == 0 {
		faults = append(faults, field.Required(path.Child("openings"), "say when disruption is allowed; to forbid it always use a budget of 0"))
	}
	for j, w := range rule.Openings {
		path := path.Child("openings").Index(j)
		if w.Duration <= 0 || w.Duration%time.Minute != 0 {
			faults = append(faults, field.Invalid(path.Child("duration"), w.Duration.String(), "want whole minutes, more than none"))
			w.Duration = time.Minute // so that the schedule is checked too
		}
		one, more := r.window(path, w)
		c.windows, faults = append(c.windows, one), append(faults, more...)
	}
	r.add(c, append(faults, reasonFaults(path.Child("reasons"), c.scope.reasons)...))
}

func reasonFaults(path *field.Path, reasons []Reason) (faults field.ErrorList) {
	for i, r := range reasons {
		if bit(r) == 0 {
			faults = append(faults, unknownReason(path.Index(i), r))
		}
	}
	return faults
}

func unknownReason(path *field.Path, r Reason) *field.Error {
	return field.NotSupported(path, r, append(v1.DisruptionReasons(), Expired))
}
