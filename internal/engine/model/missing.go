package model

import (
	"fmt"
	"strings"
)

// missingPrefix begins the names of nodes that static pools lack. No object can have such a name,
// and these names sort after those of all nodes that exist.
const missingPrefix = "~"

// MissingName returns the name of a node that a static pool lacks.
func MissingName(pool string, number int) string {
	return fmt.Sprintf("%s%s/%05d", missingPrefix, pool, number)
}

// PoolOfMissing returns the pool of a name that MissingName returned; false if the name is another
// node's.
func PoolOfMissing(node string) (pool string, missing bool) {
	name, missing := strings.CutPrefix(node, missingPrefix)
	pool, _, _ = strings.Cut(name, "/")
	return pool, missing
}
