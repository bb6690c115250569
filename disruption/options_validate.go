package disruption

import (
	"errors"
	"fmt"
	"math"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Validate returns an error that joins all faults of the options, those of
// Options.Provisioning included; nil options have none. Observe and Propose list
// the same faults and go on: what is not a number, or infinite, or negative where
// no comment says what that means, counts as left out, and what is above its upper
// bound as it is or as that bound. Only MinimumSaving may be infinite: then nothing
// is removed to save money. Groups and Policies are judged by budgets.NewGroups and
// budgets.Compile.
func (o *Options) Validate() error {
	if o == nil {
		return nil
	}
	c := &optionCheck{}
	c.number("RepairShare", o.RepairShare, math.Inf(-1), math.Inf(1), "a share of the nodes of a pool, from 0 to 1")
	c.number("ExpiryJitter", o.ExpiryJitter, 0, 1, "a share of expireAfter, from 0 to 1")
	if !(o.MinimumSaving >= 0) {
		c.add("MinimumSaving is %v; use an amount of USD per hour, or 0", o.MinimumSaving)
	}
	c.number("MinimumShare", o.MinimumShare, 0, 1, "a share of the price, from 0 to 1")
	c.number("DisruptionPrice", o.DisruptionPrice, 0, math.Inf(1), "an amount of USD per hour, or 0")
	c.number("MinimumScore", o.MinimumScore, math.Inf(-1), math.Inf(1), "a score such as 0.5, 0 for the default, or a negative number for none")
	c.number("BalancedThreshold", o.BalancedThreshold, 0, math.Inf(1), "a score such as 0.5, or 0 for the default")
	if o.MinimumAge < 0 {
		c.add("MinimumAge is %s; use a length of time, or 0", o.MinimumAge)
	}
	if o.MaxNodes < 0 || o.MaxNodes > CommandMaxSources {
		c.add("MaxNodes is %d; use 1 to %d, or 0 for the default", o.MaxNodes, CommandMaxSources)
	}
	if o.Provisioning != nil {
		if err := o.Provisioning.Validate(); err != nil {
			for _, e := range joined(err) {
				c.add("Provisioning.%w", e)
			}
		}
	}
	return errors.Join(c.list...)
}

type optionCheck struct{ list []error }

func (c *optionCheck) add(format string, args ...any) {
	c.list = append(c.list, fmt.Errorf(format, args...))
}

// number asks that an option is a finite number within bounds.
func (c *optionCheck) number(name string, x, least, most float64, remedy string) {
	if !finite(x) || x < least || x > most {
		c.add("%s is %v; use %s", name, x, remedy)
	}
}

// options adds what is wrong with options.
func (l *faultList) options(o *Options) {
	if err := o.Validate(); err != nil {
		for _, e := range joined(err) {
			l.list = append(l.list, &provisioning.InputError{Object: "Options", Err: e})
		}
	}
}
