// Package retry says when to repeat a call to a cloud that failed, by the kind
// of the failure.
//
// # Model
//
// A [Policy] has a [Rule] for each cloudprovider.Kind: whether to repeat at all,
// how long to wait the first time, how long at the most, how often.
// [Policy.Next] answers for one failed attempt. It waits for nothing and counts
// nothing; the caller does.
//
// # Left out
//
// Timers and loops, budgets over several calls, and what a client library
// retries by itself.
//
// # Guarantees
//
// The same policy, attempt and error give the same answer. Jitter is a function
// of the seed and the attempt, so it can be repeated, and differs between
// callers that pass different tokens to [Policy.For].
package retry
