// Package pricing is a price book: what each offering of a cloud costs, where
// that is known from, and how far it can be trusted.
//
// # Model
//
//   - A [Layer] is one source of prices, such as a price list or a feed of spot
//     prices: [Entry] values, each with a scope and the instant it is from. The
//     first layer that has a price in date for an offering decides.
//   - A reserved offering costs next to nothing, as it is paid for.
//   - A [Book] is layers, and is a value. [Book.Quote] prices one offering and
//     [Book.Apply] a catalog.
//   - [AddNodeCost] adds what a node costs beside its instance.
//
// # Unknown is not free
//
// A price that is in no layer is [Unknown], and one that is only in entries out
// of date is [Stale]. An offering whose price is unknown is not offered to the
// engine at all: a price of zero would make it the best of all.
//
// # Left out
//
// Fetching prices, currencies other than USD, taxes and traffic.
// What a contract changes of prices (rates, fees, commitments) is said by NodeOverlays,
// which come after the book; see overlay.Apply.
//
// # Guarantees
//
// Nothing here reads a clock: now is an argument. Values are immutable and may
// be shared between goroutines. Inputs are not modified. Every price that a
// Quote has is a number above zero. The same input gives the same output,
// whatever its order, except where an order is said to count.
package pricing
