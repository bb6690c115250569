package fake

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/when"
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
type When struct{ of whenOf }

// whenOf is the condition behind a When.
type whenOf = when.Condition[*Cloud, *call]

// test says whether a call meets a when. It may count.
type test = when.Test[*call]

// String returns the condition as it is written, without the package name.
func (w When) String() string { return w.named().String() }

// named is the condition, where the zero When has the name of what it means.
func (w When) named() whenOf {
	if w.of.String() == "" {
		return Always().of
	}
	return w.of
}

// plain is a condition that does not count.
func plain(text string, err error, is test) When {
	if err != nil {
		return When{when.Plain[*Cloud](text, is, fmt.Errorf("%s: %w", text, err))}
	}
	return When{when.Plain[*Cloud](text, is)}
}

// Always is every call.
func Always() When {
	return plain("Always()", nil, func(*call) bool { return true })
}

// On is calls of the given names, such as OpCreate.
func On(ops ...string) When {
	var errs []error
	lower := make([]string, len(ops))
	for i, op := range ops {
		lower[i] = strings.ToLower(op)
		errs = append(errs, knownOp(op))
	}
	return plain(fmt.Sprintf("On(%s)", when.Quoted(ops)), errors.Join(errs...), func(in *call) bool { return slices.Contains(lower, in.op) })
}

// Nth is the n-th call of the name, counting from 1.
func Nth(n int, op string) When {
	lower, text := strings.ToLower(op), fmt.Sprintf("Nth(%d, %q)", n, op)
	var errs []error
	if err := knownOp(op); err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", text, err))
	}
	return When{when.Counting[*Cloud](text, n, 1, func(seen int) bool { return seen == n },
		func(in *call) bool { return in.op == lower }, errs...)}
}

// Times is the first n calls.
func Times(n int) When { return When{when.Times[*Cloud, *call](n)} }

// Skip is all calls but the first n.
func Skip(n int) When { return When{when.Skip[*Cloud, *call](n)} }

// Every is every n-th call: the n-th, the 2n-th and so on.
func Every(n int) When { return When{when.Every[*Cloud, *call](n)} }

// InZone is calls about a machine in one of the zones. A Create is about the
// offering that the cloud would launch at that moment; Get, Delete, Reboot and
// IsDrifted are about that of the instance. A call about none is in no zone.
func InZone(zones ...string) When {
	return ofOffering(fmt.Sprintf("InZone(%s)", when.Quoted(zones)), func(k cloudprovider.OfferingKey) bool { return slices.Contains(zones, k.Zone) })
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
	return plain(fmt.Sprintf("About(%s)", when.Quoted(objects)), nil, func(in *call) bool {
		return slices.Contains(objects, in.object) || in.token != "" && slices.Contains(objects, in.token)
	})
}

// ForPool is the Create calls for one of these node pools, and the InstanceTypes
// calls.
func ForPool(pools ...string) When {
	return plain(fmt.Sprintf("ForPool(%s)", when.Quoted(pools)), nil, func(in *call) bool { return in.pool != "" && slices.Contains(pools, in.pool) })
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
	text := fmt.Sprintf("Chance(%d)", percent)
	var errs []error
	if percent < 0 || percent > 100 {
		errs = append(errs, fmt.Errorf("%s: use 0 to 100", text))
	}
	return When{when.New(text, func(c *Cloud) test {
		c.chances++ // each condition has dice of its own
		d := newDice(c.opts.Seed, "chance", fmt.Sprint(c.chances))
		return func(*call) bool { return d.below(100) < uint64(max(percent, 0)) }
	}, errs...)}
}

// And is calls that meet all of the conditions; with none, every call.
func And(all ...When) When { return When{when.And(named(all))} }

// Or is calls that meet one of the conditions; with none, no call.
func Or(any ...When) When { return When{when.Or(named(any))} }

// Not is calls that do not meet the when.
func Not(w When) When { return When{when.Not(w.named())} }

func named(parts []When) []whenOf {
	out := make([]whenOf, len(parts))
	for i, w := range parts {
		out[i] = w.named()
	}
	return out
}
