// Package batcher collects calls that come in one by one and makes them in
// batches: many launches of one shape, many instances to describe or to
// terminate, each one call to a cloud that counts calls.
//
// # Model
//
//   - A [Group] has a backend, which answers a list of items at once. Callers
//     of [Group.Do] give one item each and get one answer each.
//   - Items with equal keys share a batch. A batch goes to the backend when no
//     item has joined it for [Options.Idle], when it is [Options.Max] old, or
//     when it has [Options.MaxItems] items, whichever comes first.
//   - A caller whose context ends leaves at once and alone. If the batch has
//     not gone yet, its item is taken out; if it has, the others are served as
//     before. Only when every caller has left is the backend's context
//     cancelled.
//   - A [Window] is the rule of when to go as a value, for a program with a loop of
//     its own that gathers something else, such as pods.
//   - [Distinct] makes a backend of a call that clouds have: "describe these ids".
//
// # Left out
//
// Retries, rate limits and caches. A Group does not read a clock: it is given a
// function that calls another function later, as time.AfterFunc does, so a test
// can have its own, and need not sleep.
//
// # Guarantees
//
// Any number of goroutines may use a Group. Every call of Do returns: with its
// answer, with the end of its context, or with the backend's failure; a panic in
// the backend is an error to its callers. A Group starts one goroutine for each
// call of the backend, at most [Options.MaxRunning] at a time, and it ends with
// that call. After [Group.Close] has returned nil, nothing is left.
package batcher
