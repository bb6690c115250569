// Package disjoint divides items into groups that share nothing, such as pods by the nodes that can
// hold them.
package disjoint

import (
	"cmp"
	"slices"
)

// Divide divides items into components. sets lists the sets that each item may use, and sizes says how
// large each set is. No set is used by items of two components.
//
// If narrow is not set, items are in one component where they may use one set. If it is set, items
// whose sets are small in sum come first, and an item that would join two components is in none.
//
// It returns the component of each item and of each set, -1 for none, and how many components there are.
// They are numbered from 0 in the order of their first sets.
func Divide(sets [][]int, sizes []int, narrow bool) (items, ofSet []int, count int) {
	breadth, order := make([]int, len(sets)), []int(nil)
	for i, own := range sets {
		for _, s := range own {
			breadth[i] += sizes[s]
		}
		if len(own) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(breadth[x], breadth[y]) })
	f := forest{parent: slices.Repeat([]int{-1}, len(sizes))}
	items = slices.Repeat([]int{-1}, len(sets))
	for _, i := range order {
		items[i] = f.join(sets[i], narrow)
	}
	ofSet, count = f.numbers()
	for i, s := range items {
		if s >= 0 {
			items[i] = ofSet[s]
		}
	}
	return items, ofSet, count
}

// forest names each component by one of its sets, the root.
type forest struct {
	parent []int // by set: a set of its component that is nearer to the root, itself for the root, -1 for none
}

// join puts sets into one component and returns one of them. It returns -1, and changes nothing, if that
// would join two components and narrow is set.
func (f *forest) join(sets []int, narrow bool) int {
	root := -1
	for _, s := range sets {
		switch r := f.root(s); {
		case r < 0 || r == root:
		case root < 0:
			root = r
		case narrow:
			return -1
		default:
			f.parent[max(r, root)] = min(r, root)
			root = min(r, root)
		}
	}
	if root < 0 {
		root = sets[0]
	}
	for _, s := range sets {
		if f.parent[s] < 0 {
			f.parent[s] = root
		}
	}
	return root
}

// root returns the root of the component of a set, -1 if it is in none.
func (f *forest) root(s int) int {
	for s >= 0 && f.parent[s] != s {
		s = f.parent[s]
	}
	return s
}

// numbers numbers the components, and returns that of each set.
func (f *forest) numbers() (ofSet []int, count int) {
	number := slices.Repeat([]int{-1}, len(f.parent))
	for s := range f.parent {
		r := f.root(s)
		if r >= 0 && number[r] < 0 {
			number[r] = count
			count++
		}
		c := -1
		if r >= 0 {
			c = number[r]
		}
		ofSet = append(ofSet, c)
	}
	return ofSet, count
}
