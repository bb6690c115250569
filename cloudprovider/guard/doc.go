// Package guard protects a caller from panics of a provider: [New] wraps a provider, and a call
// that panics returns a [PanicError].
//
// # Left out
//
// Retries (package retry) and time limits (the context).
//
// # Guarantees
//
// A provider that does not panic behaves as without the guard. The wrapper has no state, and may be
// used as the provider may.
package guard
