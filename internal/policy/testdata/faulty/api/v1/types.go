package v1

import (
	_ "example.com/faulty/cloudprovider" // want imports: api/v1 may not import cloudprovider
)

// Excused is a table that importers could write into, under an exception.
var Excused = map[string]int{"a": 1}

// Pool has a field that says nothing.
type Pool struct {
	// Weight orders pools.
	Weight int

	// want+2 comments: field Pool.Limits has no comment

	Limits map[string]int
	Name   string // Name is covered by this.
}

// want+2 comments: type Silent has no doc comment

type Silent struct{}

// want+2 comments: func Silent.Method has no doc comment

func (Silent) Method() {}

// want+2 comments: func Small has no doc comment

func Small() {}

//go:noinline
func Marked() {} // want comments: func Marked has no doc comment

// The comment of a group speaks for its members.
const (
	First  = 1
	Second = 2
)

const (
	// Third has its own.
	Third = 3

	// want+2 comments: const Fourth has no doc comment

	Fourth = 4
)

// A comment over several types speaks for none of them.
type (
	// Spoken has its own.
	Spoken int

	// want+2 comments: type Unspoken has no doc comment

	Unspoken int
)

// Source is an interface.
type Source interface {
	// Next is described.
	Next() int // want habits: Source.Next: Next is an instant

	// want+2 comments: method Source.Last has no comment

	Last() int
}

// hidden types need no comments.
type hidden struct{}

func (hidden) Exported() {}
