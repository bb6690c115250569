package provisioning

import (
	_ "example.com/faulty/provisioning/internal/search" // want referee: the referee may not import provisioning/internal/search
)

// Node has a method that both sides may use.
type Node struct{}

// Name does.
func (n Node) Name() string { return "" }

// Verify uses what the solver has.
func Verify() bool {
	return Short(1) == 1 // want referee: Short is declared in provisioning.go
}
