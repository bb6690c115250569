// Package retry says when to repeat a call to a cloud that failed, by the kind of the
// failure.
//
// # Left out
//
// Timers and loops, which are the caller's; a memory of calls that failed, which package
// nodeclaim keeps in the objects (EditRetry); budgets over several calls, and what a
// client library retries by itself.
//
// # Guarantees
//
// The same attempt, error and token give the same answer.
package retry
