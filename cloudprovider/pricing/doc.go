// Package pricing is a price book: what each offering of a cloud costs, where
// that is known from, and how far it can be trusted.
//
// # Model
//
//   - A [Layer] is one source of prices, such as a price list or a feed of spot
//     prices: [Entry] values, each with a scope and the instant it is from. The
//     first layer that has a price in date for an offering decides.
//   - An [Adjustment] is a rate that was negotiated. A [Fee] is paid for every
//     node, such as a licence of a monitoring agent. A reserved offering costs
//     next to nothing, as it is paid for.
//   - A [Book] is layers, adjustments, fees and commitments, and is a value:
//     [Book.Update] returns another one. [Book.Quote] prices one offering and
//     [Book.Apply] a catalog.
//   - A [Commitment] is so many USD per hour, or so many instances, at a lower
//     price: a savings plan, a committed use discount. All node pools draw on
//     it. [Book.Account] says what running instances use up of it, what they
//     cost in all, and what one more of each would cost; see [Statement].
//
// # Unknown is not free
//
// A price that is in no layer is [Unknown], and one that is only in entries out
// of date is [Stale]. An offering whose price is unknown is not offered to the
// engine at all: a price of zero would make it the best of all.
//
// # Left out
//
// Fetching prices, currencies other than USD, taxes, volumes and traffic.
// NodeOverlays come after the book; see cloudprovider.ApplyOverlays.
//
// # Guarantees
//
// Nothing here reads a clock: now is an argument. Values are immutable and may
// be shared between goroutines. Inputs are not modified. Every price that a
// Quote has is a number above zero. The same input gives the same output,
// whatever its order, except where an order is said to count.
package pricing
