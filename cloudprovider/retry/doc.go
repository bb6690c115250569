// Package retry says when to repeat a call to a cloud that failed, by the kind of the
// failure: [Next] answers for one failed attempt, and [Attempts] remembers those of many
// calls.
//
// # Left out
//
// Timers and loops, which are the caller's; budgets over several calls, and
// what a client library retries by itself.
//
// # Guarantees
//
// The same attempt, error and token give the same answer.
package retry
