package disruption

import (
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
)

// CatalogCache has what a search read of pools, catalogs and nodes, for the next search: see
// Input.CatalogCache. It is read-only and safe for concurrent use. It keeps everything that it was
// made from in memory.
type CatalogCache struct{ compiled *simulation.Compiled }
