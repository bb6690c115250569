package manifest

import (
	"errors"
	"strings"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// place is where what the engine is given comes from: an object, and the path
// within it at which the engine's object begins.
type place struct {
	object *object
	prefix []any
}

// Explain translates an error of provisioning.Prepare, which speaks of the
// objects it was given, into Faults, which say where those stand in the
// sources. What it cannot find it leaves as it is. Pods of one workload share
// their faults, so those are told once.
func (c *Cluster) Explain(err error) error {
	told := map[string]bool{}
	var faults Faults
	var rest []error
	for _, in := range provisioning.Faults(err) {
		at, known := c.places[strings.ReplaceAll(in.Object, `"`, "")]
		if !known {
			rest = append(rest, in)
			continue
		}
		bare := provisioning.InputError{Detail: in.Detail, Err: in.Err}
		path := append(append([]any(nil), at.prefix...), parsePath(in.Field)...)
		f := at.object.fault(path, "%s", strings.TrimPrefix(bare.Error(), ": "))
		if !told[f.Error()] {
			told[f.Error()] = true
			faults = append(faults, f)
		}
	}
	if len(faults) == 0 {
		return err
	}
	return errors.Join(append([]error{faults.sorted(c.ranks)}, rest...)...)
}

// placed remembers where an object of the engine's input comes from.
func (c *Cluster) placed(key string, at place) {
	if c.places == nil {
		c.places = map[string]place{}
	}
	c.places[key] = at
}
