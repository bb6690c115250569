// Package pricing is a price book: the price of each offering of a cloud, its source, and whether
// it is current.
//
// # Model
//
//   - A [Layer] is one source of prices, such as a price list or a feed of spot prices: [Entry]
//     values, each with a scope and the instant it is from. The first layer that has a current
//     price for an offering decides.
//   - A reserved offering costs next to nothing, because it is paid for already.
//   - A [Book] is layers, and is a value. [Book.Quote] prices one offering and
//     [Book.Apply] a catalog.
//   - [AddNodeCost] adds what a node costs in addition to its instance.
//
// # Unknown prices
//
// A price that is in no layer is [Unknown], and one that is only in outdated entries is [Stale]. An
// offering with an unknown price is not Available: a price of zero would make it the best one.
//
// # Left out
//
// Fetching prices, currencies other than USD, taxes and traffic. Contracts (rates, fees,
// commitments) are described by NodeOverlays, which are applied after the book; see overlay.Apply.
//
// # Guarantees
//
// Nothing here reads a clock: now is an argument. Values are immutable and may be shared between
// goroutines. Inputs are not modified. Every price in a Quote is above zero. The same input gives
// the same output, whatever its order, except where the order is said to matter.
package pricing
