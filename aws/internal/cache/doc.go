// Package cache keeps the last good answer to a question.
//
// Input: a function that asks, and a clock. Output: its answer, with a [Reading] that says when it
// was asked. Invariant: an answer is replaced only by another answer, never by a failure; no caller
// waits for a question that has an answer; and each question is asked by one goroutine at a time.
//
// # Model
//
// A [Cell] is one question. When its answer is due it asks again in the background, and callers get
// the last answer at once. [Keyed] is many cells under one name, and [Asking] runs the questions.
//
// "Does not exist" is an answer, and kept like any other. A call that was throttled, denied, cut
// off or never answered gives none: the last answer stays, marked stale, and the next attempt waits
// from the end of the failure, longer after each one. A caller waits only for a question that never
// had an answer, and only until the first attempt has ended.
//
// # Guarantees
//
// Nothing is called before the first Get. Ages and pauses are measured by the caller's clock, the
// duration of a question by the machine's clock. All methods may be called concurrently. A method
// returns soon after its ctx is done, with an error that wraps that of ctx. Its question goes on
// until there is an answer, its time is over, or [Asking.Close].
package cache
