// Package requirements is the algebra of label requirements: what a NodePool, a
// NodeClaim, an instance type, a pod or a node says about the labels of a node,
// and whether two such sayings can be true of one node.
//
// It does not know about instance types, prices, taints or topology, and does
// no I/O.
//
// # Model
//
// One label is in one of many states: it is absent, or it has some string for a
// value. A Requirement is a key and the set of states admitted:
//
//	In a, b        a or b
//	NotIn a, b     absent, or any string but a and b
//	Exists         any string
//	DoesNotExist   absent
//	Gt n           an integer above n; likewise Gte, Lt and Lte
//
// Intersect is the intersection of these sets and nothing else. All the sets
// that come about in this way can be written down exactly, so that no step
// loses anything: bounds keep the values excluded from them, and a requirement
// that admits no state is Impossible, which is not DoesNotExist.
//
// A Set is a conjunction of Requirements with different keys. A Vocabulary
// knows which keys are well-known, restricted, or another name for a key.
//
// # Integers
//
// kube-scheduler judges Gt and Lt by the integer that strconv.ParseInt reads
// from the label value, but In and NotIn by the string. So does this package:
// 7, 07 and +7 are three states, Gt 5 admits all three, and NotIn 7 excludes
// the first only. It follows that no list of exclusions exhausts an interval:
// Gt 6, Lt 8 and NotIn 7 together still admit 07, and a node with that label
// does take a pod that asks for all three. The interval is Impossible once its
// bounds cross, or once it meets a list of values of which none is in it.
// Integers beyond 64 bits are strings like any other.
//
// # Minimum of values
//
// A Requirement may carry a minimum of distinct values that a catalog must
// still offer. It rides along: Intersect keeps the greater, Equal and String
// take account of it, and whether a state is admitted does not depend on it.
//
// # Text
//
// Requirements and Sets have a text form, in which errors, tests and documents
// speak of them:
//
//	zone in (a, b), arch = arm64, cpu > 4, gpu, !spot, team notin (x)
//
// The grammar, in the EBNF of the Go specification:
//
//	Set       = [ Clause { "," Clause } ] .
//	Clause    = ( "!" Key | Key [ Condition ] ) [ "minvalues" Integer ] .
//	Condition = ( "=" | "==" | "!=" ) Value
//	          | ( "in" | "notin" ) "(" [ Value { "," Value } ] ")"
//	          | ( ">" | ">=" | "<" | "<=" ) Integer .
//	Key       = Word | Quoted .
//	Value     = Word | Quoted .
//	Word      = WordByte { WordByte } .
//	WordByte  = "a" … "z" | "A" … "Z" | "0" … "9" | "-" | "_" | "." | "/" | "+" .
//	Integer   = [ "+" | "-" ] digit { digit } .
//	Quoted    = a Go string literal in double quotes .
//
// White space (space, tab, line feed, carriage return) may stand between
// tokens and ends a word. There are no reserved words: the first token of a
// clause is always the key. An Integer is of at most 64 bits; behind minvalues
// it is 1 or more and fits an int.
//
// A key alone is Exists, with "!" DoesNotExist. "=" and "==" are In and "!=" is
// NotIn, each with one value. "k in ()" is Impossible, "k notin ()" admits
// everything. Clauses on one key are intersected.
//
// String writes one form of each requirement, the canonical one: values sorted
// in byte order without duplicates; "=" for an In of one value; intervals with
// ">" and "<", but ">=" where the lower end is zero or less; excluded values in
// a "notin" after the bounds, or after the bare key for Exists; quotes only
// where a Word will not do; minvalues behind the last clause. So equal
// requirements, and only these, have equal strings, and Parse of a string is
// Equal to what was written.
//
// # Guarantees
//
// All types are immutable and safe for concurrent use. Inputs are not modified
// and not retained in a way that later changes to them could show. The same
// input gives the same output to the byte; no map order shows anywhere. Nothing
// but MustParse panics.
//
// The package example shows a pod that meets a NodePool.
package requirements
