// Package guard keeps a provider that panics from taking its caller down: [New] wraps one,
// and a call that panics returns a [PanicError].
//
// # Left out
//
// Retries, which package retry decides on, and time limits, which are those of the
// context.
//
// # Guarantees
//
// A provider without panics answers as without the guard. The wrapper has no state, and
// may be used as the provider may.
package guard
