package verify

import (
	_ "example.com/faulty/internal/engine/search" // want imports: provisioning/verify may not import internal/engine/search
	"example.com/faulty/provisioning"
)

// Plan asks the solver.
func Plan() bool {
	_ = provisioning.Node{}.Name()
	return provisioning.Short(1) == 1 // want referee: Short is code of the solver
}
