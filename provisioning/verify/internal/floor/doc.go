// Package floor says what nodes cost at least that hold a number of resources. Its input are the
// amounts, and the price and room of each way to launch a node; its output a price. It holds that
// no nodes with room for the amounts cost less, whatever they are.
package floor
