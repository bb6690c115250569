// Package cache keeps the last good answer to a question.
//
// Input: a function that asks, and a clock. Output: its answer, with a [Reading] that
// says of when it is. Invariant: an answer is replaced by another answer only, never
// by a failure; nobody waits for a question that has an answer; and each question is
// asked by one goroutine at a time.
//
// # Model
//
// A [Cell] is one question. When its answer is due it asks again beside the callers,
// who get the answer there is at once. [Keyed] is many cells under one name, and
// [Asking] what is being asked.
//
// That something does not exist is an answer, and kept like any other. A call that
// was throttled, denied, cut off or never answered is none: the answer before stays,
// marked stale, and the next attempt waits, longer after each failure and from its
// end. Only who asks a question that never had an answer waits, and only until the
// first attempt has ended.
//
// # Guarantees
//
// Nothing is called before the first question. Ages and pauses are by the caller's
// clock, and how long one asking may take by that of the machine. All methods may be
// called concurrently. A method returns soon after its ctx is done, with an error that
// wraps that of ctx. What it has begun to ask goes on until there is an answer, its
// time is over, or [Asking.Close].
package cache
