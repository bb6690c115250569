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

// Source is where prices come from. It is the name of the layer in the price book.
type Source string

// The sources, in the order in which they are asked.
const (
	// SourceSpot is the history of spot prices.
	SourceSpot Source = "spot price history"
	// SourceFile is a price file.
	SourceFile Source = "price file"
	// SourceOnDemand is the price list.
	SourceOnDemand Source = "price list"
	// SourceAssumed is the price on demand, taken for the one on spot as long as
	// none is known.
	SourceAssumed Source = "assumed"
	// SourceBuiltin is what is compiled in.
	SourceBuiltin Source = "built in"
)

// ErrNoPrice is wrapped by the error for an answer that has no price.
var ErrNoPrice = errors.New("no price in the answer")

// Prices is what is known of the prices of a region. It is immutable; methods that
// add to it return another one. Create it with New.
type Prices struct {
	region  string
	entries map[Source]entries
	states  map[Source]state
	built   time.Time // the day of the prices that are compiled in
	book    *pricing.Book
}

// state is how a source has done.
type state struct {
	success  time.Time // zero if never
	failures int       // since
	err      error
}

// How long prices are in date: those of a file from the instant that it says.
const (
	day            = 24 * time.Hour
	spotMaxAge     = day
	onDemandMaxAge = 7 * day
	fileMaxAge     = 90 * day
	// forgetSpot is how long a spot price is kept after it was last reported, in
	// or out of date: a zone that has stopped to sell the type is not to keep it.
	forgetSpot = 30 * day
)

// New returns the prices of a region that are compiled in. The error says that it is no
// name of a region.
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

// WithProducts returns p with the answer of the price list at the instant at: the
// PriceList of all pages of all ProductQueries. See ParseProducts. Types that it
// does not have keep the price they had, and that ages.
//
// The error, for an answer without any price, wraps ErrNoPrice. The Prices
// returned then are p WithFailure, so they can be used either way.
func (p *Prices) WithProducts(at time.Time, list []string) (*Prices, error) {
	products, skipped := ParseProducts(p.region, list)
	add := entries{}
	for _, product := range products {
		add.add(product.scope(), product.Price, at)
	}
	return p.merged(SourceOnDemand, at, add, skipped)
}

// WithSpot returns p with the history of spot prices at the instant at, which is
// when it was asked: a price may have held for weeks before. See ParseSpot. Prices
// that it does not have stay and age, and are forgotten after thirty days. Errors
// are those of WithProducts.
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
		err := fmt.Errorf("%s: %w: %d parts, none of use", source, ErrNoPrice, len(skipped))
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

// WithFile returns p with the prices of a file in place of those of the one before.
// A nil file takes them away. The error is that of File.Validate, or says that the
// file is of another region; nothing is returned then.
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

// WithFailure returns p with a note that a source could not be read, and why. What it gave
// before stays.
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

// rebuilt sets the assumed prices and the book of p, which is still private.
func (p *Prices) rebuilt() (*Prices, error) {
	p.entries[SourceAssumed] = p.assumed()
	var opts pricing.Options
	for _, l := range []struct {
		source Source
		maxAge time.Duration
	}{
		{SourceSpot, spotMaxAge}, {SourceFile, fileMaxAge}, {SourceOnDemand, onDemandMaxAge},
		// What nobody reported is out of date as soon as it is there.
		{SourceAssumed, 1}, {SourceBuiltin, 1},
	} {
		entries := slices.AppendSeq(make([]pricing.Entry, 0, len(p.entries[l.source])), maps.Values(p.entries[l.source]))
		opts.Layers = append(opts.Layers, pricing.Layer{Name: string(l.source), MaxAge: l.maxAge, Entries: entries})
	}
	book, err := pricing.New(opts)
	if err != nil { // whose faults are in the order of the entries
		for _, l := range opts.Layers {
			slices.SortFunc(l.Entries, func(a, b pricing.Entry) int { return a.Scope.Compare(b.Scope) })
		}
		_, err = pricing.New(opts)
		return nil, err
	}
	p.book = book
	return p, nil
}

// assumed returns the best known price on demand of every type as one on spot, if
// there is no price on spot at all.
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
			// Long ago, so that it is out of date however new the price it is
			// taken from.
			out.add(spot, e.Price, p.built)
		}
	}
	return out
}

// Status is how a source is.
type Status struct {
	// Source is the source.
	Source Source
	// Prices is the number of prices that are known from it, and Stale how many of
	// them are out of date.
	Prices, Stale int
	// Success is when it last gave prices; of a file, the instant that it says.
	// Zero if it never did.
	Success time.Time
	// Failures is how often it failed since, and Err why it last did. Zero and nil if it
	// did not.
	Failures int
	Err      error
}

// Status returns how each source is at the instant now, in the order in which they
// are asked.
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
