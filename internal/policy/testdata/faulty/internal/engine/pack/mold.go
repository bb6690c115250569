// Package pack has words of its own. want terms: mold: the word for mold is column
package pack

// newSales has a plural and a part of a name.
type newSales struct { // want terms: newSales: the word for Sales is purchase
	column, hair int // want terms: hair: the word for hair is tolerance
}

func stocks(s newSales) int { // want terms: stocks: the word for stocks is reservation
	quote := s.hair // want terms: quote: the word for quote is duals
	return quote + s.column
}

var _ = stocks
