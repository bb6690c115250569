package constraint

import "cmp"

// Hold is something of a node that a pod takes for itself: a port, a disk. Two of one kind
// clash if they have the number and name in common, and the address, of which an empty one
// stands for all; unless both only read.
type Hold struct {
	Kind    int // in the list of kinds, which sets it
	Number  int32
	Name    string
	Address string
	Reads   bool // others may read it too
}

// Compare orders holds.
func (h Hold) Compare(other Hold) int {
	reads := func(h Hold) int {
		if h.Reads {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(h.Number, other.Number), cmp.Compare(h.Name, other.Name), cmp.Compare(h.Address, other.Address),
		cmp.Compare(reads(h), reads(other)), cmp.Compare(h.Kind, other.Kind))
}

// Clashes says whether two pods cannot have both on one node.
func (h Hold) Clashes(other Hold) bool {
	return h.Kind == other.Kind && h.Number == other.Number && h.Name == other.Name &&
		(h.Address == "" || other.Address == "" || h.Address == other.Address) && !(h.Reads && other.Reads)
}

// Covers says whether a hold that is not only read clashes with every use of another, or
// with that of the same address.
func (h Hold) Covers(other Hold) bool {
	return !h.Reads && h.Kind == other.Kind && h.Number == other.Number && h.Name == other.Name &&
		(h.Address == "" || h.Address == other.Address)
}
