// Package retry says when to repeat a failed call to a cloud, by the kind of the failure.
//
// # Left out
//
// Timers and loops, which the caller has; the number of failed attempts, which package nodeclaim
// stores in the objects (EditRetry); budgets over several calls, and the retries of a client
// library.
//
// # Guarantees
//
// The same attempt, error and token give the same answer.
package retry
