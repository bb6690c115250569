// Package batcher combines single calls into batches, for clouds that limit the rate of calls: many
// launches of one shape, or many instances to describe or to terminate, become one call.
//
// # Model
//
//   - A [Group] has a backend, which answers a list of items at once. Each call of [Group.Do] has
//     one item and gets one answer.
//   - Items with equal keys share a batch. A batch goes to the backend when no
//     item has joined it for [Options.Idle], when it is [Options.Max] old, or
//     when it has [Options.MaxItems] items, whichever comes first.
//   - A caller whose context ends returns at once. If the batch was not sent yet, its item is
//     removed; otherwise the other callers still get their answers. The backend's context is
//     cancelled only when every caller has left.
//   - A [Window] is the same rule as a value, for a program that collects something else in its own
//     loop, such as pods.
//   - [Distinct] makes a backend from a call that takes a list of ids, such as "describe these
//     instances".
//
// # Left out
//
// Retries, rate limits and caches. A Group does not read a clock: [Options.AfterFunc] calls
// functions later, so that tests can replace it and need not sleep.
//
// # Guarantees
//
// Any number of goroutines may use a Group. Every call of Do returns: with its
// answer, with the end of its context, or with the backend's failure; a panic in
// the backend is an error to its callers. A Group starts one goroutine for each
// call of the backend, at most [Options.MaxRunning] at a time, and it ends with
// that call. After [Group.Close] has returned nil, nothing is left.
package batcher
