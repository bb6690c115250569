package model

import (
	"fmt"
	"strings"
)

// missingPrefix begins the names of nodes that static pools are short of. No object may have such
// a name, and these nodes are after all nodes that exist.
const missingPrefix = "~"

// MissingName names a node that a static pool is short of.
func MissingName(pool string, number int) string {
	return fmt.Sprintf("%s%s/%05d", missingPrefix, pool, number)
}

// PoolOfMissing returns the pool that a name of MissingName belongs to; false if it is the name of
// another node.
func PoolOfMissing(node string) (pool string, missing bool) {
	name, missing := strings.CutPrefix(node, missingPrefix)
	pool, _, _ = strings.Cut(name, "/")
	return pool, missing
}
