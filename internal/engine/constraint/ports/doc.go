// Package ports describes host ports as a kind of constraint: no two pods of a node bind the same
// port.
package ports
