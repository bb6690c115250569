// Package catalog compiles NodePools and instance types.
//
// Input: the pools, the instance types of each, and overlays. Output: the options of all pools,
// numbered in one sequence and sorted within a pool by ascending price; the values that labels can
// have on each option; and what each option uses of limits and reservations. Invariant: a Catalog
// is the same for all what-ifs on one input. The remaining limits of one problem are written into
// copies of the pools, which Take returns.
package catalog
