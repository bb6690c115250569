package fake

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
	share := 310_000 + int64(hash(instanceType)%330_001)
	share += int64(hash(instanceType+"/"+zone)%80_001) - 40_000
	// On-demand prices are below 1e12 and shares below 1e6.
	return (onDemand*share/million + step/2) / step * step
}

// hash spreads texts evenly over the 64-bit numbers: FNV-1a with the finaliser
// of SplitMix64, without which texts that differ in the last letter only would
// lie side by side.
func hash(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return mix(h)
}
