package fake

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// The names of the calls that a Cloud takes, as conditions and rate limits use
// them. Upper and lower case are the same there, so that method names will do.
const (
	OpInstanceTypes  = "instancetypes"
	OpCreate         = "create"
	OpDelete         = "delete"
	OpGet            = "get"
	OpList           = "list"
	OpNodeClassReady = "nodeclassready"
	OpIsDrifted      = "isdrifted"
	OpReboot         = "reboot"
	OpInterruptions  = "interruptions"
	OpAcknowledge    = "acknowledge"
)

// methods has the method behind each call.
var methods = map[string]string{
	OpInstanceTypes: "InstanceTypes", OpCreate: "Create", OpDelete: "Delete", OpGet: "Get", OpList: "List",
	OpNodeClassReady: "NodeClassReady", OpIsDrifted: "IsDrifted", OpReboot: "Reboot",
	OpInterruptions: "Interruptions", OpAcknowledge: "Acknowledge",
}

func knownOp(op string) error {
	if methods[strings.ToLower(op)] == "" {
		return fmt.Errorf("there is no call %q; the calls are %s", op, strings.Join(opNames(), ", "))
	}
	return nil
}

// opNames lists the calls as their constants do.
func opNames() []string {
	return []string{OpInstanceTypes, OpCreate, OpDelete, OpGet, OpList, OpNodeClassReady, OpIsDrifted, OpReboot, OpInterruptions, OpAcknowledge}
}

// When is a condition on calls: the first half of a Rule. Conditions are values
// that can be combined and used again. Those that count (Nth, Times, Skip,
// Every) count the calls that reach them, from 0 in each rule that Script is
// given: And and Or go from left to right and stop at the first that decides.
// So And(InZone("a"), Times(3)) is the first three calls in zone a, and
// And(Times(3), InZone("a")) those of the first three calls that are in zone a.
//
// The zero When is every call, as Always.
type When struct {
	text  string
	errs  []error
	build func(c *Cloud) test // nil is always true
}

// test says whether a call meets a condition. It may count.
type test func(*call) bool

// String returns the condition as it is written, without the package name.
func (w When) String() string {
	if w.text == "" {
		return "Always()"
	}
	return w.text
}

func (w When) compile(c *Cloud) test {
	if w.build == nil {
		return func(*call) bool { return true }
	}
	return w.build(c)
}

// plain is a condition that does not count.
func plain(text string, err error, is test) When {
	w := When{text: text, build: func(*Cloud) test { return is }}
	if err != nil {
		w.errs = []error{fmt.Errorf("%s: %w", text, err)}
	}
	return w
}

// Always is every call.
func Always() When { return When{} }

// On is calls of the given names, such as OpCreate.
func On(ops ...string) When {
	var errs []error
	lower := make([]string, len(ops))
	for i, op := range ops {
		lower[i] = strings.ToLower(op)
		errs = append(errs, knownOp(op))
	}
	return plain(fmt.Sprintf("On(%s)", quoted(ops)), errors.Join(errs...), func(in *call) bool { return slices.Contains(lower, in.op) })
}

// Nth is the n-th call of the name, counting from 1.
func Nth(n int, op string) When {
	lower, count := strings.ToLower(op), countingText("Nth", n, op)
	w := counting(count, n, 1, func(seen int) bool { return seen == n }, func(in *call) bool { return in.op == lower })
	if err := knownOp(op); err != nil {
		w.errs = append(w.errs, fmt.Errorf("%s: %w", count, err))
	}
	return w
}

// Times is the first n calls.
func Times(n int) When {
	return counting(countingText("Times", n, ""), n, 0, func(seen int) bool { return seen <= n }, nil)
}

// Skip is all calls but the first n.
func Skip(n int) When {
	return counting(countingText("Skip", n, ""), n, 0, func(seen int) bool { return seen > n }, nil)
}

// Every is every n-th call: the n-th, the 2n-th and so on.
func Every(n int) When {
	return counting(countingText("Every", n, ""), n, 1, func(seen int) bool { return seen%max(n, 1) == 0 }, nil)
}

func countingText(name string, n int, op string) string {
	if op != "" {
		return fmt.Sprintf("%s(%d, %q)", name, n, op)
	}
	return fmt.Sprintf("%s(%d)", name, n)
}

// counting is a condition that counts the calls that pass a filter, and is true
// of those whose number is right.
func counting(text string, n, least int, right func(seen int) bool, filter test) When {
	w := When{text: text, build: func(*Cloud) test {
		seen := 0
		return func(in *call) bool {
			if filter != nil && !filter(in) {
				return false
			}
			seen++
			return right(seen)
		}
	}}
	if n < least {
		w.errs = append(w.errs, fmt.Errorf("%s: %d; use %d or more", text, n, least))
	}
	return w
}

// InZone is calls about a machine in one of the zones. A Create is about the
// offering that the cloud would launch at that moment; Get, Delete, Reboot and
// IsDrifted are about that of the instance. A call about none is in no zone.
func InZone(zones ...string) When {
	return ofOffering(fmt.Sprintf("InZone(%s)", quoted(zones)), func(k cloudprovider.OfferingKey) bool { return slices.Contains(zones, k.Zone) })
}

// InScope is calls about a machine of an offering in the scope, as InZone has it.
func InScope(scope cloudprovider.Scope) When {
	return ofOffering(fmt.Sprintf("InScope(%s)", scope), scope.Covers)
}

func ofOffering(text string, is func(cloudprovider.OfferingKey) bool) When {
	return plain(text, nil, func(in *call) bool {
		if in.offering == nil {
			return false
		}
		key, found := in.offering()
		return found && is(key)
	})
}

// About is calls about one of these objects: the name or the token of a launch
// request, the ID of an instance, the name of a node class.
func About(objects ...string) When {
	return plain(fmt.Sprintf("About(%s)", quoted(objects)), nil, func(in *call) bool {
		return slices.Contains(objects, in.object) || in.token != "" && slices.Contains(objects, in.token)
	})
}

// ForPool is the Create calls for one of these node pools, and the InstanceTypes
// calls.
func ForPool(pools ...string) When {
	return plain(fmt.Sprintf("ForPool(%s)", quoted(pools)), nil, func(in *call) bool { return in.pool != "" && slices.Contains(pools, in.pool) })
}

// Since is calls d or more after the cloud was made, by its clock.
func Since(d time.Duration) When {
	return plain(fmt.Sprintf("Since(%v)", d), nil, func(in *call) bool { return in.elapsed >= d })
}

// Until is calls less than d after the cloud was made, by its clock.
func Until(d time.Duration) When {
	return plain(fmt.Sprintf("Until(%v)", d), nil, func(in *call) bool { return in.elapsed < d })
}

// Chance is so many in a hundred of the calls that reach it. Which ones depends
// on Options.Seed and on how many reached it before.
func Chance(percent int) When {
	w := When{text: fmt.Sprintf("Chance(%d)", percent)}
	if percent < 0 || percent > 100 {
		w.errs = append(w.errs, fmt.Errorf("%s: use 0 to 100", w.text))
	}
	w.build = func(c *Cloud) test {
		c.chances++ // each condition has dice of its own
		d := newDice(c.opts.Seed, "chance", fmt.Sprint(c.chances))
		return func(*call) bool { return d.below(100) < uint64(max(percent, 0)) }
	}
	return w
}

// And is calls that meet all of the conditions; with none, every call.
func And(all ...When) When { return combine("And", all, false) }

// Or is calls that meet one of the conditions; with none, no call.
func Or(any ...When) When { return combine("Or", any, true) }

// Not is calls that do not meet the condition.
func Not(w When) When {
	return When{text: fmt.Sprintf("Not(%s)", w), errs: w.errs, build: func(c *Cloud) test {
		is := w.compile(c)
		return func(in *call) bool { return !is(in) }
	}}
}

// combine asks conditions in turn until one gives the answer that decides.
func combine(name string, parts []When, decides bool) When {
	parts = slices.Clone(parts)
	texts := make([]string, len(parts))
	w := When{}
	for i, p := range parts {
		texts[i] = p.String()
		w.errs = append(w.errs, p.errs...)
	}
	w.text = fmt.Sprintf("%s(%s)", name, strings.Join(texts, ", "))
	w.build = func(c *Cloud) test {
		tests := make([]test, len(parts))
		for i, p := range parts {
			tests[i] = p.compile(c)
		}
		return func(in *call) bool {
			for _, is := range tests {
				if is(in) == decides {
					return decides
				}
			}
			return !decides
		}
	}
	return w
}

func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(out, ", ")
}
