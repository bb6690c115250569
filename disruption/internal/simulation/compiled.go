package simulation

import (
	"reflect"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Compiled is the input that a simulation compiled first, for reuse by the next simulation.
type Compiled struct {
	problem *provisioning.Problem
	opts    provisioning.Options
}

// problemWith returns the problem if it has the options, or else nil.
func (c *Compiled) problemWith(opts provisioning.Options) *provisioning.Problem {
	if c == nil || !reflect.DeepEqual(c.opts, opts) {
		return nil
	}
	return c.problem
}

// Compile prepares the engine for what-ifs, which then read only what differs from Problem.
func (w *Simulation) Compile() {
	w.Forget()
	if w.Refused != nil {
		return
	}
	if w.Problem == nil {
		w.Problem, w.Refused = provisioning.Prepare(w.In, &w.Opts)
	} else {
		w.Problem, w.Refused = w.Problem.WithInput(w.In)
	}
	if w.Compiled == nil && w.Refused == nil {
		w.Compiled = &Compiled{w.Problem, w.Opts}
	}
}
