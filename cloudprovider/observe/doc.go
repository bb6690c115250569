// Package observe shows what is asked of a CloudProvider: a stream of events,
// one when a call begins and one when it ends, on which logs, metrics and traces
// can sit.
//
// # Model
//
//   - [Wrap] returns a CloudProvider that passes every call on to another one,
//     unchanged, and gives an [Event] to a function, the sink, before and after.
//   - [Started] and [Ended] are all events there are. Ended has the outcome: how
//     long it took, the kind of the error, what came back.
//   - [Tally] is a sink that counts, for a page of status or a test. What writes
//     to log/slog or to a metrics library is a few lines of the program's own;
//     see the Example.
//
// Abilities of the inner provider are found through the wrapper, as
// cloudprovider.As finds them. Calls to DriftDetector, NodeClassChecker,
// Rebooter, InterruptionSource and InterruptionAcknowledger are observed too;
// an ability that the inner provider does not have, the wrapper does not have.
//
// # Left out
//
// Writing anything anywhere. This package imports no logger and no metrics
// library, and reads no clock: it is given one.
//
// # Guarantees
//
// The wrapper changes no argument, result or error. Each Started is followed by
// one Ended with the same number, also if the inner provider panics. The sink is
// called by the goroutine that makes the call, so it must be quick, and safe for
// concurrent use.
package observe
