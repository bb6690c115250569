package provisioning

import (
	"errors"
	"fmt"
)

// MinValuesPolicy says what to do when a minValues of a NodePool cannot be met.
type MinValuesPolicy string

const (
	// Strict refuses to launch a node that misses a minValues. It is the
	// default.
	Strict MinValuesPolicy = "Strict"
	// BestEffort lowers a minValues to the number of values that can be had.
	BestEffort MinValuesPolicy = "BestEffort"
)

// Options tune the engine. The zero value, and nil, mean the defaults.
type Options struct {
	// MinValues says what to do when a minValues cannot be met. Default
	// Strict.
	MinValues MinValuesPolicy

	// MaxSteps bounds the search: the number of patterns built. Default and
	// zero: 1,000,000, far above what ordinary problems need. A plan that ran
	// out of steps is complete and valid, only dearer than it might be.
	MaxSteps int
}

// defaultMaxSteps bounds the search of a Solve. Ordinary problems take
// hundreds to thousands.
const defaultMaxSteps = 1_000_000

// Validate returns an error that joins all faults of the options.
func (o *Options) Validate() error {
	var faults []error
	switch o.MinValues {
	case "", Strict, BestEffort:
	default:
		faults = append(faults, fmt.Errorf("MinValues is %q; use %q or %q", o.MinValues, Strict, BestEffort))
	}
	if o.MaxSteps < 0 {
		faults = append(faults, fmt.Errorf("MaxSteps is %d; use 0 for the default, or a positive number", o.MaxSteps))
	}
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	if o.MinValues == "" {
		o.MinValues = Strict
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = defaultMaxSteps
	}
	return o
}
