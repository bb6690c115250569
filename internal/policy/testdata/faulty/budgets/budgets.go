// want+3 comments: the comment of package budgets belongs in doc.go

// Package budgets has an example of every form of declaration.
package budgets // want examples: budgets has no Example with an Output comment

import "iter"

// Level is a kind of number.
type Level int

// Constants.
const (
	First Level = 1
	Long        = "a constant that is long enough for a shortened rendering to lose the end of it"
)

// Base is embedded.
type Base struct {
	Name string `json:"name" yaml:"ignored"`
	note string
}

// Touch has a pointer receiver.
func (b *Base) Touch(times int) { b.note = b.Name }

// Set has type parameters.
type Set[K comparable] struct {
	Base `json:",inline"`
	keys []K
}

// All has a value receiver.
func (s Set[K]) All() iter.Seq[K] { return nil }

// Alias is one.
type Alias = Base

// Sealed cannot be implemented elsewhere.
type Sealed interface {
	// Len counts.
	Len() int
	sealed()
}

// Open can.
type Open interface {
	// Do does.
	Do(name string, rest ...int) (done bool, err error)
}

// Map is a generic function.
func Map[K comparable, V any](keys []K, f func(K) V) map[K]V { return nil }

// ErrNone is what a call without a result returns.
var ErrNone error

type unexported struct{ Field int }
