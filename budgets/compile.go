package budgets

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Compiled is a set of budgets in a form that answers quickly. It does not
// change and may be used from many goroutines. The zero value has no budgets.
type Compiled struct {
	constraints []constraint
	expiry      bool // whether budgets apply to expiry
	separate    bool
}

// Compile reads budgets and a policy, of which nil is none. Nothing given is
// kept.
//
// The result can always be used. If the error is not nil it lists every fault,
// with the field and a remedy, and each budget or rule with a fault allows no
// node for the reasons that it applies to. The budgets are taken as they are:
// a caller whose NodePool has none in its manifest wants v1.NodePool.Default
// first, for a list that is empty is no bound at all.
//
// A budget applies to the reasons that it names, to all if the list is nil, and
// to none if the list is empty. Its nodes are 10% if they are empty. With
// neither schedule nor duration it is always in force; with both, in the
// windows [hit, hit+duration), which is never if the duration is 0.
func Compile(bs []v1.Budget, policy *Policy) (*Compiled, error) {
	c, faults := compile(bs, policy, true)
	if len(faults) > 0 {
		return c, faults.ToAggregate()
	}
	return c, nil
}

// compile reads budgets. It may be asked to tabulate time zones, which pays if
// the result is used often.
func compile(bs []v1.Budget, policy *Policy, tabulate bool) (*Compiled, field.ErrorList) {
	r := reader{tabulate: tabulate}
	for i := range bs {
		r.budget(i, &bs[i])
	}
	c := &Compiled{}
	if policy != nil {
		c.expiry, c.separate = policy.ExpiryUnderBudgets, policy.SeparateReasons
		for i, rule := range policy.Rules {
			r.rule(i, rule)
		}
	}
	c.constraints = r.constraints
	return c, r.faults
}

// reader collects constraints and faults.
type reader struct {
	tabulate    bool
	constraints []constraint
	faults      field.ErrorList
	zones       []zone // those seen
}

// add takes a constraint over, one that blocks if there are faults.
func (r *reader) add(c constraint, faults field.ErrorList) {
	if len(faults) > 0 {
		c = constraint{binding: c.binding, scope: c.scope}
		c.binding.Malformed = true
		r.faults = append(r.faults, faults...)
	}
	r.constraints = append(r.constraints, c)
}

func (r *reader) budget(i int, b *v1.Budget) {
	path := field.NewPath("budgets").Index(i)
	c := constraint{binding: Binding{Source: FromBudgets, Index: i}, scope: newScope(b.Reasons)}
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
	if r.tabulate {
		r.share(&s.zone)
	}
	return newWindows(s, int64(w.Duration/time.Second)), nil
}

// share gives z the table of its zone, which budgets mostly have in common.
func (r *reader) share(z *zone) {
	for _, known := range r.zones {
		if known.loc.String() == z.loc.String() {
			*z = known
			return
		}
	}
	z.tabulate()
	r.zones = append(r.zones, *z)
}

func (r *reader) rule(i int, rule Rule) {
	path := field.NewPath("rules").Index(i)
	c := constraint{binding: Binding{Source: FromRules, Index: i}}
	var faults field.ErrorList
	switch rule := rule.(type) {
	case Rate:
		c.scope, c.form, c.per = newScope(rule.Reasons), rate, rule.Per
		c.value, faults = readQuantity(path.Child("nodes"), rule.Nodes)
		if rule.Per <= 0 {
			faults = append(faults, field.Invalid(path.Child("per"), rule.Per.String(), "want a positive length of time such as 24h"))
		}
	case Only:
		c.scope, c.form = newScope(rule.Reasons), outside
		c.windows, faults = r.only(path.Child("openings"), rule.Openings)
	case Freeze:
		c.scope, c.form, c.from, c.to = newScope(rule.Reasons), between, rule.From, rule.To
		if rule.Nodes != "" {
			c.value, faults = readQuantity(path.Child("nodes"), rule.Nodes)
		}
		if !rule.From.Before(rule.To) {
			faults = append(faults, field.Invalid(path.Child("to"), rule.To.Format(time.RFC3339), "want an instant after from"))
		}
	case Keep:
		c.scope, c.form = newScope(rule.Reasons), keep
		c.value, faults = readQuantity(path.Child("nodes"), rule.Nodes)
	default:
		c.scope = newScope(nil)
		faults = field.ErrorList{field.Invalid(path, fmt.Sprintf("%T", rule), "want a value of type Rate, Only, Freeze or Keep")}
	}
	r.add(c, append(faults, reasonFaults(path.Child("reasons"), c.scope.reasons)...))
}

func (r *reader) only(path *field.Path, list []Opening) (all []windows, faults field.ErrorList) {
	if len(list) == 0 {
		return nil, field.ErrorList{field.Required(path, "say when disruption is allowed; to forbid it always use a budget of 0")}
	}
	for i, w := range list {
		path := path.Index(i)
		if w.Duration <= 0 || w.Duration%time.Minute != 0 {
			faults = append(faults, field.Invalid(path.Child("duration"), w.Duration.String(), "want whole minutes, more than none"))
			w.Duration = time.Minute // the schedule is still to be judged
		}
		one, more := r.window(path, w)
		all, faults = append(all, one), append(faults, more...)
	}
	return all, faults
}

func reasonFaults(path *field.Path, reasons []Reason) (faults field.ErrorList) {
	for i, r := range reasons {
		if bit(r) == 0 {
			faults = append(faults, field.NotSupported(path.Index(i), r, append(v1.DisruptionReasons(), Expired)))
		}
	}
	return faults
}
