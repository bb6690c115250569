// Package pricing reads what instances on EC2 cost and keeps it as a price book.
//
// Input: the price list, the history of spot prices, and a file. Output: [Prices].
// Invariant: a failure loses no price; what was known gets out of date with time.
//
// # Model
//
//   - [ProductQueries] says what to ask the price list for, and [SpotProducts] what
//     to ask of the history of spot prices. The caller asks.
//   - [ParseProducts] and [ParseSpot] read the answers, and [ParseFile] a file with
//     prices for clusters that cannot reach the price list.
//   - [Prices] is what is known from all sources, as a value. [Prices.WithProducts],
//     [Prices.WithSpot] and [Prices.WithFile] add an answer, and
//     [Prices.WithFailure] notes that there was none. Nothing is lost by a failure:
//     what was known stays, and is out of date after a while.
//   - [Prices.Book] is the price book for package instancetype, and [Prices.Status] says
//     of each source how it is.
//
// # Sources
//
// The first of these that has a price in date decides; if none has, the first that
// has one out of date:
//
//	spot price history   spot
//	price file           on-demand and spot
//	price list           on-demand
//	assumed              spot, at the price on demand, until there is any spot price
//	built in             on-demand, of four regions and of a date; always out of date
//
// # Left out
//
// Licences of Windows and dedicated tenancy of machines other than bare metal,
// which cost more than is said here; traffic and volumes. Rates that were
// negotiated and commitments are those of package cloudprovider/pricing, by
// [Options.Book].
//
// Prices are in USD per hour. In the regions of China AWS sells in CNY, and all
// prices there are in CNY: nothing compares prices of two regions.
//
// # Guarantees
//
// Everything is a function of its arguments; the time is one of them. Inputs are
// not modified. Prices is immutable and may be shared. The same input gives the
// same output, whatever the order of its lists. Nothing panics on any input.
package pricing
