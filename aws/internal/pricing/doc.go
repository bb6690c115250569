// Package pricing reads what instances on EC2 cost and keeps it as a price book.
//
// Input: the price list, the history of spot prices, and a file. Output: [Prices]. Invariant: a
// failure loses no price; known prices go out of date with time.
//
// # Model
//
//   - [ProductQueries] returns the questions to the price list, and [SpotProducts] those to the
//     history of spot prices. The caller asks them.
//   - [ParseProducts] and [ParseSpot] read the answers, and [ParseFile] a file with
//     prices for clusters that cannot reach the price list.
//   - [Prices] has the prices of all sources, as a value. [Prices.WithProducts], [Prices.WithSpot]
//     and [Prices.WithFile] add an answer, and [Prices.WithFailure] notes that there was none. A
//     failure loses nothing: known prices stay, and go out of date after a while.
//   - [Prices.Book] is the price book for package instancetype, and [Prices.Status] returns the
//     state of each source.
//
// # Sources
//
// The first of these sources that has a current price decides; if none has, the first that has an
// outdated one:
//
//	spot price history   spot
//	price file           on-demand and spot
//	price list           on-demand
//	assumed              spot, at the price on demand, until there is any spot price
//	built in             on-demand, of four regions and of a date; always out of date
//
// # Left out
//
// Licences of Windows and dedicated tenancy of machines other than bare metal, which cost more than
// the prices here; traffic and volumes. Negotiated rates and commitments are in package
// cloudprovider/pricing, by [Options.Book].
//
// Prices are in USD per hour. In the regions of China AWS sells in CNY, and all
// prices there are in CNY: nothing compares prices of two regions.
//
// # Guarantees
//
// Everything is a function of its arguments; the time is one of them. Inputs are not modified.
// Prices is immutable and may be shared. The same input gives the same output, whatever the order
// of its lists. No input causes a panic.
package pricing
