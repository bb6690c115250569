package pricing

import (
	_ "embed" // for the table
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	sigsjson "sigs.k8s.io/json"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// fileVersion is the version of the format of File.
const fileVersion = 1

// maxFile is the size of a file that is read, in bytes. One with all prices of a
// region is below a megabyte.
const maxFile = 8 << 20

// File has prices that an operator provides, for a cluster that cannot reach the price list, as in
// a VPC without a route to the internet. It is YAML or JSON:
//
//	version: 1
//	region: us-east-1
//	currency: USD
//	at: "2026-01-02T15:04:05Z"
//	onDemand:
//	  m5.large: 0.096
//	spot:
//	  m5.large:
//	    us-east-1a: 0.035
//
// version, region and at are required, and so is a price under onDemand or spot.
// currency may be left out; it must be that of the region.
type File struct {
	// Region is the region of the prices.
	Region string
	// At is when they were read.
	At time.Time
	// OnDemand are prices on demand per hour, by instance type.
	OnDemand map[string]float64
	// Spot are prices on spot per hour, by instance type and name of the zone. They are used where
	// the history of spot prices has no current price.
	Spot map[string]map[string]float64
}

// fileForm is the text form of File.
type fileForm struct {
	Version  int                           `json:"version"`
	Region   string                        `json:"region"`
	Currency string                        `json:"currency"`
	At       string                        `json:"at"`
	OnDemand map[string]float64            `json:"onDemand"`
	Spot     map[string]map[string]float64 `json:"spot"`
}

// ParseFile reads a File from YAML or JSON. It is strict: unknown, misspelt and duplicate fields
// are faults, and so are every value that File.Validate refuses, another version, a currency other
// than that of the region, a second document, and a text above eight MiB. The error lists all of
// them, and the result is nil then.
func ParseFile(data []byte) (*File, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("price file: %d bytes; use at most %d", len(data), maxFile)
	}
	text, err := textstream.Single(data)
	if err != nil {
		return nil, fmt.Errorf("price file: %w", err)
	}
	var form fileForm
	faults, err := sigsjson.UnmarshalStrict(text, &form)
	if err != nil {
		return nil, fmt.Errorf("price file: %w", err)
	}
	if form.Version != fileVersion {
		faults = append(faults, fmt.Errorf("version: %d; use %d", form.Version, fileVersion))
	}
	if want := Currency(form.Region); form.Currency != "" && form.Currency != want {
		faults = append(faults, fmt.Errorf("currency: %q; the prices of %s are in %s", form.Currency, form.Region, want))
	}
	f := &File{Region: form.Region, OnDemand: form.OnDemand, Spot: form.Spot}
	f.At, err = time.Parse(time.RFC3339, form.At)
	if err != nil {
		faults = append(faults, fmt.Errorf("at: %q; say when the prices were read, as 2026-01-02T15:04:05Z", form.At))
		f.At = time.Unix(0, 0) // so that it is not reported twice
	}
	f.At = f.At.UTC()
	if err := errors.Join(append(faults, f.faults()...)...); err != nil {
		return nil, fmt.Errorf("price file: %w", err)
	}
	return f, nil
}

// Validate returns nil, or an error that lists every fault, sorted by name: no region, no instant
// or one outside of the years 1 to 9999, no price at all, a malformed name of an instance type or
// zone, and a price that is not above zero, or above 1e9.
func (f *File) Validate() error {
	if f == nil {
		return errors.New("price file: nil; give one")
	}
	if err := errors.Join(f.faults()...); err != nil {
		return fmt.Errorf("price file: %w", err)
	}
	return nil
}

func (f *File) faults() (faults []error) {
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if !plain(f.Region) {
		add("region: %q; use the name of the region, such as us-east-1", f.Region)
	}
	if f.At.IsZero() || f.At.UTC().Year() < 1 || f.At.UTC().Year() > 9999 {
		add("at: %v; say when the prices were read", f.At.UTC())
	}
	prices := len(f.OnDemand)
	for _, name := range slices.Sorted(maps.Keys(f.OnDemand)) {
		if fault := typeFault(name); fault != "" {
			add("onDemand: %s", fault)
		}
		if fault := priceFault(f.OnDemand[name]); fault != "" {
			add("onDemand: %s: %s", name, fault)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Spot)) {
		if fault := typeFault(name); fault != "" {
			add("spot: %s", fault)
		}
		prices += len(f.Spot[name])
		for _, zone := range slices.Sorted(maps.Keys(f.Spot[name])) {
			if !plain(zone) {
				add("spot: %s: %q; use the name of a zone, such as us-east-1a", name, zone)
			}
			if fault := priceFault(f.Spot[name][zone]); fault != "" {
				add("spot: %s: %s: %s", name, zone, fault)
			}
		}
	}
	if prices == 0 {
		add("onDemand, spot: no price; list at least one")
	}
	return faults
}

// builtinTable has on-demand prices: a line "region" with its name and the day of the prices, and
// then a line for each family with its sizes.
//
//go:embed builtin.txt
var builtinTable string

// builtinRegion is the region whose prices are used for regions without built-in prices. The order
// of prices is much the same everywhere.
const builtinRegion = "us-east-1"

// parseBuiltin returns the prices of a region in a table, or else those of
// builtinRegion.
func parseBuiltin(table, region string) ([]Product, time.Time, error) {
	at, list, err := builtinOf(table, region)
	if err == nil && list == nil {
		at, list, err = builtinOf(table, builtinRegion)
	}
	return list, at, err
}

func builtinOf(table, region string) (at time.Time, list []Product, err error) {
	wanted := false
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "region" && len(words) == 3:
			wanted = words[1] == region
			if wanted {
				if at, err = time.Parse(time.DateOnly, words[2]); err != nil {
					return at, nil, fmt.Errorf("built-in prices: %w", err)
				}
			}
		case wanted:
			for _, entry := range words[1:] {
				size, number, _ := strings.Cut(entry, "=")
				price, err := strconv.ParseFloat(number, 64)
				if err != nil || priceFault(price) != "" || size == "" {
					return at, nil, fmt.Errorf("built-in prices: %s %s: %q is not a size with a price", region, words[0], entry)
				}
				list = append(list, Product{InstanceType: words[0] + "." + size, Price: price})
			}
		}
	}
	return at, list, nil
}
