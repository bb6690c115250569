package pricing

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

// Source is an origin of prices. It is the name of the layer in the price book.
type Source string

// The sources, in the order in which they are asked.
const (
	// SourceSpot is the history of spot prices.
	SourceSpot Source = "spot price history"
	// SourceFile is a price file.
	SourceFile Source = "price file"
	// SourceOnDemand is the price list.
	SourceOnDemand Source = "price list"
	// SourceAssumed is the on-demand price, used as spot price as long as no spot price is known.
	SourceAssumed Source = "assumed"
	// SourceBuiltin is the built-in price list.
	SourceBuiltin Source = "built in"
)

// ErrNoPrice is wrapped by the error for an answer that has no price.
var ErrNoPrice = errors.New("no price in the answer")

// Prices has the prices of a region from all sources. It is immutable; its methods return a changed
// copy. Create it with New.
type Prices struct {
	region  string
	entries map[Source]entries
	states  map[Source]state
	built   time.Time // the day of the built-in prices
	book    *pricing.Book
}

// state has the last success and the failures of a source.
type state struct {
	success  time.Time // zero if never
	failures int       // since success
	err      error
}

// How long prices are current: those of a file from its instant on.
const (
	day            = 24 * time.Hour
	spotMaxAge     = day
	onDemandMaxAge = 7 * day
	fileMaxAge     = 90 * day
	// forgetSpot is how long a spot price is kept after it was last reported. A zone that no longer
	// sells the type loses its price then.
	forgetSpot = 30 * day
)

// New returns the built-in prices of a region. The error says that the name is malformed.
func New(region string) (*Prices, error) {
	if !plain(region) {
		return nil, fmt.Errorf("prices: region: %q; use the name of the region, such as us-east-1", region)
	}
	p := &Prices{region: region, entries: map[Source]entries{}, states: map[Source]state{}}
	list, at, err := parseBuiltin(builtinTable, region)
	if err != nil {
		return nil, fmt.Errorf("prices: %w", err)
	}
	p.built = at
	builtin := entries{}
	for _, product := range list {
		builtin.add(product.scope(), product.Price, at)
	}
	p.entries[SourceBuiltin] = builtin
	return p.rebuilt()
}

// Book returns the price book. It is never nil.
func (p *Prices) Book() *pricing.Book { return p.book }

// WithProducts returns p with the answer of the price list at the instant at: the PriceList of all
// pages of all ProductQueries. See ParseProducts. Types that it does not have keep their last
// price, which goes out of date.
//
// For an answer without any price the error wraps ErrNoPrice, and the result is that of
// WithFailure. So the result can always be used.
func (p *Prices) WithProducts(at time.Time, list []string) (*Prices, error) {
	products, skipped := ParseProducts(p.region, list)
	add := entries{}
	for _, product := range products {
		add.add(product.scope(), product.Price, at)
	}
	return p.merged(SourceOnDemand, at, add, skipped)
}

// WithSpot returns p with the spot prices of a price history. The instant at is when the history
// was requested: a price may be weeks old by then and still hold. See ParseSpot. Prices of p that
// the history does not have stay, go out of date, and are dropped after thirty days. Errors are
// those of WithProducts.
func (p *Prices) WithSpot(at time.Time, history []ec2types.SpotPrice) (*Prices, error) {
	prices, skipped := ParseSpot(history)
	add := entries{}
	for _, price := range prices {
		add.add(price.scope(), price.Price, at)
	}
	return p.merged(SourceSpot, at, add, skipped)
}

// merged returns p with further prices of a source.
func (p *Prices) merged(source Source, at time.Time, add entries, skipped []Skipped) (*Prices, error) {
	if len(add) == 0 {
		err := fmt.Errorf("%s: %w: none of %d parts is usable", source, ErrNoPrice, len(skipped))
		if len(skipped) > 0 {
			err = fmt.Errorf("%w; the first %s", err, skipped[0])
		}
		return p.WithFailure(source, err), err
	}
	all := entries{}
	for scope, e := range p.entries[source] {
		if source != SourceSpot || at.Sub(e.At) <= forgetSpot {
			all[scope] = e
		}
	}
	for scope, e := range add {
		if old, found := all[scope]; !found || !e.At.Before(old.At) {
			all[scope] = e
		}
	}
	next, err := p.with(source, all, at)
	if err != nil {
		return p.WithFailure(source, err), err
	}
	return next, nil
}

// WithFile returns p with the prices of a file instead of those of an earlier file. A nil file
// removes them. The error is that of File.Validate, or says that the file is for another region;
// the result is nil then.
func (p *Prices) WithFile(f *File) (*Prices, error) {
	if f == nil {
		return p.with(SourceFile, nil, time.Time{})
	}
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if f.Region != p.region {
		return nil, fmt.Errorf("price file: region: %q; use one of %s, as prices of another region mislead", f.Region, p.region)
	}
	all := entries{}
	for name, price := range f.OnDemand {
		all.add(Product{InstanceType: name}.scope(), price, f.At)
	}
	for name, zones := range f.Spot {
		for zone, price := range zones {
			all.add(SpotPrice{InstanceType: name, Zone: zone}.scope(), price, f.At)
		}
	}
	return p.with(SourceFile, all, f.At)
}

// WithFailure returns p with a note that a source could not be read, and why. Its earlier prices
// stay.
func (p *Prices) WithFailure(source Source, why error) *Prices {
	next := p.clone()
	s := next.states[source]
	s.failures++
	s.err = why
	next.states[source] = s
	return next
}

// with returns p with a source that has exactly these prices.
func (p *Prices) with(source Source, all entries, at time.Time) (*Prices, error) {
	next := p.clone()
	next.entries[source] = all
	next.states[source] = state{success: at}
	return next.rebuilt()
}

func (p *Prices) clone() *Prices {
	next := *p
	next.entries, next.states = maps.Clone(p.entries), maps.Clone(p.states)
	return &next
}

// rebuilt sets the assumed prices and the book of p, which no other goroutine has yet.
func (p *Prices) rebuilt() (*Prices, error) {
	p.entries[SourceAssumed] = p.assumed()
	var opts pricing.Options
	for _, l := range []struct {
		source Source
		maxAge time.Duration
	}{
		{SourceSpot, spotMaxAge}, {SourceFile, fileMaxAge}, {SourceOnDemand, onDemandMaxAge},
		// Prices that AWS has not reported are outdated from the start.
		{SourceAssumed, 1}, {SourceBuiltin, 1},
	} {
		entries := slices.AppendSeq(make([]pricing.Entry, 0, len(p.entries[l.source])), maps.Values(p.entries[l.source]))
		opts.Layers = append(opts.Layers, pricing.Layer{Name: string(l.source), MaxAge: l.maxAge, Entries: entries})
	}
	book, err := pricing.New(&opts)
	if err != nil { // faults refer to the entries by index
		for _, l := range opts.Layers {
			slices.SortFunc(l.Entries, func(a, b pricing.Entry) int { return a.Scope.Compare(b.Scope) })
		}
		_, err = pricing.New(&opts)
		return nil, err
	}
	p.book = book
	return p, nil
}

// assumed returns the best known on-demand price of every type as its spot price, if there is no
// spot price at all.
func (p *Prices) assumed() entries {
	out := entries{}
	for _, source := range []Source{SourceSpot, SourceFile} {
		for scope := range p.entries[source] {
			if scope.CapacityType == karpv1.CapacityTypeSpot {
				return out
			}
		}
	}
	// The last one wins.
	for _, source := range []Source{SourceBuiltin, SourceOnDemand, SourceFile} {
		for scope, e := range p.entries[source] {
			spot := cloudprovider.Scope{InstanceType: scope.InstanceType, CapacityType: karpv1.CapacityTypeSpot}
			// An old instant makes it outdated, however new the on-demand price is.
			out.add(spot, e.Price, p.built)
		}
	}
	return out
}

// Status is the state of a source.
type Status struct {
	Source Source
	// Prices is the number of prices that are known from it, and Stale how many of
	// them are out of date.
	Prices, Stale int
	// Success is when the source last gave prices; if the source is a file, the instant that the
	// file states. Zero if the source never gave prices.
	Success time.Time
	// Failures counts the failures since Success, and Err is the last one. Zero and nil if there
	// was none.
	Failures int
	Err      error
}

// Status returns the state of each source at the instant now, in the order of the constants.
func (p *Prices) Status(now time.Time) []Status {
	var out []Status
	for _, l := range []struct {
		source Source
		maxAge time.Duration
	}{
		{SourceSpot, spotMaxAge}, {SourceFile, fileMaxAge}, {SourceOnDemand, onDemandMaxAge}, {SourceAssumed, 1}, {SourceBuiltin, 1},
	} {
		state := p.states[l.source]
		s := Status{
			Source: l.source, Prices: len(p.entries[l.source]), Success: state.success,
			Failures: state.failures, Err: state.err,
		}
		for _, e := range p.entries[l.source] {
			if now.Sub(e.At) > l.maxAge {
				s.Stale++
			}
		}
		out = append(out, s)
	}
	return out
}
