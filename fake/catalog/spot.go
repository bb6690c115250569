package catalog

import "github.com/dovetail-sdk/dovetail/internal/chance"

// spotPrice is the spot price of an instance type in a zone, in 1e-9 USD an
// hour. EC2 publishes no list of them, so the fake makes them up: each type
// costs a share of its on-demand price that its name decides, moved up or down
// a little by the zone, between 0.27 and 0.68 in all. It is rounded to 1e-4 USD
// as EC2 rounds it, and is the same on every machine.
func spotPrice(onDemand int64, instanceType, zone string) int64 {
	const (
		million = 1_000_000
		step    = nanos / 10_000
	)
	share := 310_000 + int64(chance.Hash(instanceType)%330_001)
	share += int64(chance.Hash(instanceType+"/"+zone)%80_001) - 40_000
	// On-demand prices are below 1e12 and shares below 1e6.
	return (onDemand*share/million + step/2) / step * step
}
