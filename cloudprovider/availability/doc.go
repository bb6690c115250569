// Package availability remembers which offerings a cloud refused to sell, so that the
// next decision does not ask for them again at once. Karpenter calls it the cache of
// unavailable offerings, or the ICE cache.
//
// # Model
//
//   - A [Mark] says that a cloudprovider.Scope, such as one offering or all spot capacity of a
//     zone, is unavailable for a time, and why. It ends by itself, because clouds do not say when
//     stock returns.
//   - A [Cache] holds marks. A scope that is refused again soon after its mark ended is marked for
//     twice as long as before, up to [Options].MaxTTL; successful launches undo that.
//
// A provider keeps one Cache for an account and region, passes its catalogs through [Cache.Apply]
// in InstanceTypes, and in Create
//
//  1. looks for the machine of the token, or leaves that to a cloud with client tokens,
//  2. passes the options of the request through [Cache.Admit], and asks for all of them if
//     none is left and the machine of the token may exist,
//  3. passes the outcome to [Cache.Launched] or [Cache.MarkFromError].
//
// Notices of the cloud go to [Cache.MarkFromInterruption].
//
// # Left out
//
// Keeping marks over a restart: they last for minutes.
//
// # Guarantees
//
// A question about one offering takes up to sixteen look-ups, one for each set of fields that
// a scope can name, however many marks there are.
//
// Any number of goroutines may use a Cache. The answers are a function only of the calls and of the
// instants of the clock. Inputs are never modified.
package availability
