// Package catalog compiles NodePools and instance types.
//
// Input: the pools, the types of each and overlays. Output: options, which are what a node
// can be launched by, numbered through over all pools, cheapest first in each; the values
// that labels can have on them; what they take of limits and reservations. Invariant: a
// Catalog is the same for all what-ifs on one input. What a problem leaves of limits is
// written into pools of its own, which Take makes.
package catalog
