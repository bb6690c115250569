// Package structhash computes the 64-bit hashes of Go structs that Karpenter keeps in annotations
// to detect drift. It has only the primitives. The package of an object decides which fields are
// hashed, in which order and under which names.
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
//	pointer  the hash of its target
//
// A field with the zero value of its type is left out, so that a new field does not change the
// hashes of old objects. A pointer that is not nil is hashed even if its target is zero, and so is
// an empty list or map that is not nil.
//
// # What is left out
//
// There is no reflection: callers pass the names of Karpenter's types and fields, so that renaming
// one of our identifiers cannot change a hash.
package structhash
