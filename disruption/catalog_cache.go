package disruption

import (
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
)

// CatalogCache is what a search has read of pools and catalogs, for the next search to
// use: see Input.CatalogCache. It does not change, and any number of goroutines may use
// it. It keeps all that it was made from in memory.
type CatalogCache struct{ market *simulation.Market }

// orAnother is the cache of a market: this one if it is the same, nil if there is none.
func (c *CatalogCache) orAnother(market *simulation.Market) *CatalogCache {
	switch {
	case market == nil:
		return nil
	case c != nil && c.market == market:
		return c
	}
	return &CatalogCache{market}
}
