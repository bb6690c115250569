package disruption

import (
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
)

// CatalogCache has what a search read of pools and catalogs, for the next search: see
// Input.CatalogCache. It is read-only and safe for concurrent use. It keeps everything that it was
// made from in memory.
type CatalogCache struct{ market *simulation.Market }

// orAnother returns the cache of a market: this one if its market is the same, nil if there is no
// market.
func (c *CatalogCache) orAnother(market *simulation.Market) *CatalogCache {
	switch {
	case market == nil:
		return nil
	case c != nil && c.market == market:
		return c
	}
	return &CatalogCache{market}
}
