package provisioning

import "time"

// Options tune nothing.
type Options struct{}

// Late has the instant last.
func Late(name string, now time.Time) {} // want habits: Late: now is the first argument

// Timed has a clock of another name.
func Timed(clock func() time.Time) {} // want habits: Timed: a function that tells the time

// want+4 habits: Wide: options are a pointer
// want+3 habits: Wide: options are the last argument

// Wide takes options in every wrong way.
func Wide(options Options, name string) {} // want habits: Wide: options are an argument of the name opts

// Next returns a number.
func Next() int { return 0 } // want habits: Next: Next is an instant

// Join joins lists.
func Join() {} // want habits: Join: Join is for a Node that joins

// Step is a type.
type Step struct { // want habits: Step: a step is a counted unit of work
	Steps  []int            // want habits: Step.Steps: steps are counted
	Reason int              // want habits: Step.Reason: a reason is one word
	Next   int              // want habits: Step.Next: Next is an instant
	Faults error            // want habits: Step.Faults: a field is overlooked
	Clock  func() time.Time // want habits: Step.Clock: a function that tells the time
}

// Reason is an answer.
type Reason struct{} // want habits: Reason: a reason is one word

// Binding binds nothing.
type Binding struct{} // want habits: Binding: a binding is of pods

// View is a snapshot.
type View struct{} // want habits: View: the snapshot
