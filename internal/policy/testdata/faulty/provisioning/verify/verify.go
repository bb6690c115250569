package verify

import (
	"example.com/faulty/provisioning"
	_ "example.com/faulty/provisioning/internal/search" // want imports: provisioning/verify may not import provisioning/internal/search
)

// Plan asks the solver.
func Plan() bool {
	_ = provisioning.Node{}.Name()
	return provisioning.Short(1) == 1 // want referee: Short is code of the solver
}
