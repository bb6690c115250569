// Package structhash computes the 64-bit hashes of Go structs that Karpenter
// keeps in annotations to detect drift. It has the primitives; which fields of
// an object are hashed, in which order and under which names, is written out
// in the package of the object.
//
// # Model
//
// Everything is FNV-1 of 64 bits. Numbers are hashed as little-endian bytes of
// their own width, texts as their bytes, and truth as one byte.
//
//	struct   the hash of its type's name, into which each field that is set is
//	         mixed in order: see Struct
//	list     the exclusive or of its items, so order does not count and two
//	         equal items cancel out
//	map      the exclusive or of its pairs, hashed once more
//	pointer  what it points at
//
// A field with the zero value of its type is left out, so that a new field does
// not change the hashes of old objects. A pointer that is set is not zero, even
// if what it points at is; neither is an empty list or map that is not nil.
//
// # What is left out
//
// There is no reflection: callers name types and fields as Karpenter does, so
// that renaming something of ours cannot change a hash.
package structhash
