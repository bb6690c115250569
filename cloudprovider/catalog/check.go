package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Severity says what a Problem does.
type Severity string

const (
	// Fault is against the contract of cloudprovider.CloudProvider. What is
	// decided with such a catalog may be wrong.
	Fault Severity = "Fault"
	// Warning is allowed, and most likely not meant.
	Warning Severity = "Warning"
)

// Problem is one thing that is wrong with a catalog.
type Problem struct {
	// Provider is the name that Check was given.
	Provider string
	// Index is the place of the instance type in the catalog, from zero, and
	// InstanceType its name, empty if it is nil or has none.
	Index        int
	InstanceType string
	// Field is where in the instance type it is, as in "capacity" or
	// "offering 2 (m5.large/zone-a/spot): price". Empty for the type as a
	// whole.
	Field string
	// Severity says what it does.
	Severity Severity
	// Detail is what is wrong, and the remedy.
	Detail string
}

// String returns one line with everything but the severity.
func (p Problem) String() string {
	name := p.InstanceType
	if name == "" {
		name = "without a name"
	}
	parts := []string{fmt.Sprintf("provider %s: instance type %s (%d)", p.Provider, name, p.Index)}
	if p.Field != "" {
		parts = append(parts, p.Field)
	}
	return strings.Join(append(parts, p.Detail), ": ")
}

// Error returns nil if no problem is a Fault, and otherwise an error with a line
// for each that is.
func Error(problems []Problem) error {
	var faults []error
	for _, p := range problems {
		if p.Severity == Fault {
			faults = append(faults, errors.New(p.String()))
		}
	}
	return errors.Join(faults...)
}

// Options tune Check. The zero value, and nil, mean the defaults.
type Options struct {
	// WellKnown are the labels that the provider adds to v1.WellKnownLabels.
	WellKnown []string
}

// CheckProvider asks p for the instance types of the pool and checks them under
// the name of p. The error is that of the call.
func CheckProvider(ctx context.Context, p cloudprovider.CloudProvider, pool *v1.NodePool, opts *Options) ([]Problem, error) {
	types, err := p.InstanceTypes(ctx, pool)
	if err != nil {
		return nil, err
	}
	name := cloudprovider.Name(p)
	if name == "" {
		name = fmt.Sprintf("%T", p)
	}
	return Check(name, types, opts), nil
}

// Check judges what a provider returned from InstanceTypes. The problems are in
// the order of the types; of one type in this order:
//
//   - faults: a nil entry; a name that is there twice; one that is out of order,
//     as the list is sorted by name; everything that InstanceType.Validate finds,
//     such as an offering that is there twice, or a price that is negative, not a
//     number, or zero; offerings that are not in the order of OfferingKey;
//   - warnings: a resource of which overhead leaves nothing, so that no pod fits;
//     a well-known label that is left open; a type that has no offering.
//
// An empty catalog has no problems.
func Check(provider string, types []*cloudprovider.InstanceType, opts *Options) []Problem {
	if opts == nil {
		opts = &Options{}
	}
	c := checker{provider: provider}
	first := map[string]int{}
	last := ""
	for i, t := range types {
		c.index, c.name = i, ""
		if t == nil {
			c.add(Fault, "", "nil; leave it out")
			continue
		}
		c.name = t.Name
		if at, twice := first[t.Name]; twice {
			c.add(Fault, "name", "there already at %d; list each type once, with all its offerings", at)
		} else {
			first[t.Name] = i
		}
		if t.Name < last {
			c.add(Fault, "name", "after %s; sort the list by name", last)
		}
		last = max(last, t.Name)
		c.instanceType(t, opts)
	}
	return c.problems
}

type checker struct {
	provider string
	index    int
	name     string
	problems []Problem
}

func (c *checker) add(s Severity, field, format string, args ...any) {
	c.problems = append(c.problems, Problem{Provider: c.provider, Index: c.index, InstanceType: c.name,
		Field: field, Severity: s, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) instanceType(t *cloudprovider.InstanceType, opts *Options) {
	for _, err := range joined(t.Validate()) {
		field, detail := place(err)
		c.add(Fault, field, "%s", detail)
	}
	if !slices.IsSortedFunc(t.Offerings, func(a, b cloudprovider.Offering) int { return a.Key(t.Name).Compare(b.Key(t.Name)) }) {
		c.add(Fault, "offerings", "not in order; sort them by OfferingKey.Compare")
	}
	if total, err := t.Overhead.Total(); err == nil {
		for name, amount := range total.All() {
			if size, listed := t.Capacity.Lookup(name); listed && amount > 0 && amount >= size {
				c.add(Warning, "overhead", "%s: all of the capacity or more, so that no pod fits; compare the units of both", name)
			}
		}
	}
	if open := OpenLabels(t, opts.WellKnown...); len(open) > 0 {
		c.add(Warning, "requirements", "open labels, which admit any value: %s; name each, with DoesNotExist where it does not apply",
			strings.Join(open, ", "))
	}
	if len(t.Offerings) == 0 {
		c.add(Warning, "offerings", "none; list every way to buy it, with available false for those that cannot be had")
	}
}

// joined takes apart what errors.Join joined.
func joined(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	if err != nil {
		return []error{err}
	}
	return nil
}

// place takes a fault of InstanceType.Validate apart. Its text is the instance
// type, which is left out here, the place, and what is wrong; the place of an
// offering has two parts.
func place(err error) (field, detail string) {
	text := err.Error()
	if inner := errors.Unwrap(err); inner != nil {
		text = inner.Error()
	}
	field, detail, found := strings.Cut(text, ": ")
	if !found {
		return "", text
	}
	if strings.HasPrefix(field, "offering ") {
		if part, rest, more := strings.Cut(detail, ": "); more {
			return field + ": " + part, rest
		}
	}
	return field, detail
}
