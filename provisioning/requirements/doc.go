// Package requirements computes with label requirements. NodePools, NodeClaims, instance types,
// pods and nodes all describe the labels of a node by requirements; this package decides whether
// one node can satisfy several of them.
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
// Intersect is the intersection of these sets and nothing else. Every result can be represented
// exactly, so that no step loses information: an interval keeps the values excluded from it, and a
// requirement that admits no state is Impossible, which is not DoesNotExist.
//
// A Set is a conjunction of Requirements with different keys. A Vocabulary
// knows which keys are well-known, restricted, or another name for a key.
//
// # Integers
//
// kube-scheduler evaluates Gt and Lt by the integer that strconv.ParseInt reads from the label
// value, but In and NotIn by the string. This package does the same: 7, 07 and +7 are three states,
// Gt 5 admits all three, and NotIn 7 excludes the first only. It follows that no list of exclusions
// exhausts an interval: Gt 6, Lt 8 and NotIn 7 together still admit 07, and a node with that label
// does take a pod that asks for all three. The interval is Impossible once its bounds cross, or
// once it is intersected with a list of values none of which is in it. Integers beyond 64 bits are
// strings like any other.
//
// # Minimum of values
//
// A Requirement may have a minimum of distinct values that a catalog must offer. Intersect keeps
// the greater minimum, and Equal and String include it. It does not affect which states are
// admitted.
//
// # Text
//
// Requirements and Sets have a text form for errors, tests and documents:
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
// All types are immutable and safe for concurrent use. Inputs are not modified, and later changes
// to them have no effect on results. The same input gives the same output to the byte; no result
// depends on the order of a map. Nothing but MustParse panics.
//
// The package example checks the requirements of a pod against those of a NodePool.
package requirements
