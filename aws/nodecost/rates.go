package nodecost

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// HoursPerMonth is by how many hours AWS turns a price per month into one per hour.
const HoursPerMonth = 730

// Rates are the prices of what a node has in addition to its instance. The zero value has none:
// everything is free. A Rates is read-only once in use, and safe for concurrent use then.
type Rates struct {
	// Volumes are the prices of EBS by volume type, such as gp3. A volume of a type that
	// is not there is free.
	Volumes map[string]VolumeRates
	// PublicIPv4 is the price of a public IPv4 address, in USD per hour.
	PublicIPv4 float64
	// PerNode is the price of agents and licences that are paid per node, in USD per hour.
	PerNode float64
}

// VolumeRates are the prices of one type of volume.
type VolumeRates struct {
	// GiB is the price of a GiB, in USD per month.
	GiB float64
	// IOPS are the prices of one provisioned operation per second, and Throughput those of one MiB
	// per second, both in USD per month, by tiers in the order of From. Amounts below the first
	// tier are free.
	IOPS, Throughput []Tier
}

// Tier is the price of each unit above From, up to the From of the next tier.
type Tier struct {
	// From is where the tier begins, in operations a second or MiB a second. Not
	// negative.
	From int64
	// USD is the price of one such unit, in USD per month. Not negative.
	USD float64
}

// builtIn are the prices of us-east-1, from https://aws.amazon.com/ebs/pricing and
// https://aws.amazon.com/vpc/pricing.
var builtIn = map[string]VolumeRates{
	"gp2":      {GiB: 0.10},
	"gp3":      {GiB: 0.08, IOPS: []Tier{{3000, 0.005}}, Throughput: []Tier{{125, 0.04}}},
	"io1":      {GiB: 0.125, IOPS: []Tier{{0, 0.065}}},
	"io2":      {GiB: 0.125, IOPS: []Tier{{0, 0.065}, {32_000, 0.0455}, {64_000, 0.03185}}},
	"sc1":      {GiB: 0.015},
	"st1":      {GiB: 0.045},
	"standard": {GiB: 0.05},
}

// BuiltIn returns list prices of us-east-1, without anything paid by the node. Other regions
// are up to twice as dear: set what matters. The Rates are the caller's.
func BuiltIn() *Rates {
	volumes := make(map[string]VolumeRates, len(builtIn))
	for name, v := range builtIn {
		v.IOPS, v.Throughput = slices.Clone(v.IOPS), slices.Clone(v.Throughput)
		volumes[name] = v
	}
	return &Rates{Volumes: volumes, PublicIPv4: 0.005}
}

// Validate returns nil, or an error that lists every fault: prices that are negative or not finite,
// names that are no volume type, tiers out of order. Nil rates have none.
func (r *Rates) Validate() error {
	if r == nil {
		return nil
	}
	var faults []error
	amount := func(usd float64, where string, args ...any) {
		if !(usd >= 0) || math.IsInf(usd, 0) {
			faults = append(faults, fmt.Errorf("%s: %v; use an amount of USD, or 0", fmt.Sprintf(where, args...), usd))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Volumes)) {
		if !slices.Contains(awsv1.VolumeTypes(), name) {
			faults = append(faults, fmt.Errorf("volumes: %q is no type of volume; use one of %q", name, awsv1.VolumeTypes()))
		}
		v := r.Volumes[name]
		amount(v.GiB, "volumes[%s].GiB", name)
		for _, list := range []struct {
			field string
			tiers []Tier
		}{{"IOPS", v.IOPS}, {"Throughput", v.Throughput}} {
			last := int64(-1)
			for i, t := range list.tiers {
				amount(t.USD, "volumes[%s].%s[%d].USD", name, list.field, i)
				if t.From <= last {
					faults = append(faults, fmt.Errorf("volumes[%s].%s[%d].From: %d; tiers rise from 0 or more", name, list.field, i, t.From))
				}
				last = max(last, t.From)
			}
		}
	}
	amount(r.PublicIPv4, "PublicIPv4")
	amount(r.PerNode, "PerNode")
	return errors.Join(faults...)
}

// charge returns the price of an amount, in USD per month.
func charge(tiers []Tier, amount int64) (usd float64) {
	for i, t := range tiers {
		to := amount
		if i+1 < len(tiers) {
			to = min(to, tiers[i+1].From)
		}
		usd += float64(max(to-t.From, 0)) * t.USD
	}
	return usd
}
