package pricing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Options are what a Book is made of. Everything may be empty.
type Options struct {
	// Layers are the sources of prices. Their order counts: the first that has
	// a price in date decides. Put the feed of spot prices before a table that
	// was compiled in.
	Layers []Layer
	// Adjustments change the prices of layers, in any order.
	Adjustments []Adjustment
	// Fees are added for every node. Their order is that of the text.
	Fees []Fee
	// Commitments are used up in this order; see Account.
	Commitments []Commitment
	// PaidShare is what is left of the price of capacity that is paid for
	// whether it is used or not: it is small, so that such capacity comes
	// first, and not zero, so that a larger machine still costs more. Above 0,
	// at most 1. Default and zero: one ten-millionth.
	PaidShare float64
	// WithholdStale takes offerings with a stale price out of what Apply
	// offers, as those with an unknown one always are. Default: they are
	// offered, at the price last known.
	WithholdStale bool
}

const defaultPaidShare = 1e-7

// Book is prices, immutable. Create it with New. A nil *Book has no prices.
type Book struct {
	opts        Options
	layers      []layer
	adjustments index[Adjustment]
}

type layer struct {
	name   string
	maxAge time.Duration
	index[Entry]
}

// New returns the Book of these options, which it copies. The error lists every
// fault, by layer, adjustment, fee and commitment, with the place and the
// remedy.
func New(opts Options) (*Book, error) {
	var f faults
	b := &Book{opts: opts}
	b.opts.PaidShare = cmp.Or(opts.PaidShare, defaultPaidShare)
	if !(b.opts.PaidShare > 0 && b.opts.PaidShare <= 1) {
		f.add("paidShare: %v; use a share above 0, at most 1, or zero for the default", opts.PaidShare)
	}
	names := map[string]bool{}
	for i, l := range opts.Layers {
		where := fmt.Sprintf("layers[%d] (%s)", i, l.Name)
		f.name(where, l.Name, names)
		if l.MaxAge < 0 {
			f.add("%s: maxAge: %v; use a time above zero, or zero for ever", where, l.MaxAge)
		}
		b.layers = append(b.layers, newLayer(&f, where, l, nil))
	}
	b.addAdjustments(&f)
	names = map[string]bool{}
	for i, fee := range opts.Fees {
		where := fmt.Sprintf("fees[%d] (%s)", i, fee.Name)
		f.name(where, fee.Name, names)
		if fault := priceFault(fee.Price); fault != "" {
			f.add("%s: %s", where, fault)
		}
	}
	names = map[string]bool{}
	b.opts.Commitments = make([]Commitment, len(opts.Commitments))
	for i, c := range opts.Commitments {
		where := fmt.Sprintf("commitments[%d] (%s)", i, c.Name)
		f.name(where, c.Name, names)
		c.validate(&f, where)
		b.opts.Commitments[i] = c.clone()
	}
	b.opts.Fees = slices.Clone(opts.Fees)
	b.opts.Layers, b.opts.Adjustments = nil, nil // kept in the form above
	if len(f.errs) > 0 {
		return nil, errors.Join(f.errs...)
	}
	return b, nil
}

func (b *Book) addAdjustments(f *faults) {
	names := map[string]bool{}
	by := map[cloudprovider.Scope]Adjustment{}
	for i, a := range b.opts.Adjustments {
		where := fmt.Sprintf("adjustments[%d] (%s)", i, a.Name)
		f.name(where, a.Name, names)
		if _, err := cloudprovider.AdjustPrice(1, a.Change); err != nil {
			f.add("%s: change: %w", where, err)
		}
		if other, twice := by[a.Scope]; twice {
			f.add("%s: scope: %s is that of %s as well; they do not add up, so make one of them", where, a.Scope, other.Name)
		}
		by[a.Scope] = a
	}
	b.adjustments = newIndex(by)
}

// newLayer indexes entries on top of those that are there already.
func newLayer(f *faults, where string, l Layer, before map[cloudprovider.Scope]Entry) layer {
	by := make(map[cloudprovider.Scope]Entry, len(before)+len(l.Entries))
	for s, e := range before {
		by[s] = e
	}
	given := make(map[cloudprovider.Scope]Entry, len(l.Entries))
	for i, e := range l.Entries {
		at := fmt.Sprintf("%s: entries[%d] (%s)", where, i, e.Scope)
		if fault := priceFault(e.Price); fault != "" {
			f.add("%s: %s", at, fault)
		}
		if l.MaxAge > 0 && e.At.IsZero() {
			f.add("%s: at: zero, in a layer with a maxAge; say when the price was read", at)
		}
		other, twice := given[e.Scope]
		if twice && other.At.Equal(e.At) && other.Price != e.Price {
			f.add("%s: price: %v, and %v in an earlier entry of the same instant; keep one", at, e.Price, other.Price)
		}
		if twice && e.At.Before(other.At) {
			continue
		}
		given[e.Scope] = e
		if old, found := by[e.Scope]; !found || !e.At.Before(old.At) {
			by[e.Scope] = e
		}
	}
	return layer{name: l.Name, maxAge: l.MaxAge, index: newIndex(by)}
}

// Update returns a Book in which entries are merged into the layer of that name:
// of each scope the later entry counts, and of two of one instant the new one.
// Scopes that entries does not have keep what they had, so a feed that missed
// some loses nothing, and what it does not repeat ages. The error lists every
// fault of the entries, and a name that no layer has.
func (b *Book) Update(name string, entries []Entry) (*Book, error) {
	return b.change(name, entries, true)
}

// Replace is Update for a source that always gives everything: the layer has
// exactly these entries.
func (b *Book) Replace(name string, entries []Entry) (*Book, error) {
	return b.change(name, entries, false)
}

func (b *Book) change(name string, entries []Entry, merge bool) (*Book, error) {
	i := -1
	if b != nil {
		i = slices.IndexFunc(b.layers, func(l layer) bool { return l.name == name })
	}
	if i < 0 {
		return nil, fmt.Errorf("price book: no layer %q; name one that New was given", name)
	}
	old := b.layers[i]
	before := old.by
	if !merge {
		before = nil
	}
	var f faults
	changed := newLayer(&f, fmt.Sprintf("layer %s", name), Layer{Name: name, MaxAge: old.maxAge, Entries: entries}, before)
	if len(f.errs) > 0 {
		return nil, errors.Join(f.errs...)
	}
	next := *b
	next.layers = slices.Clone(b.layers)
	next.layers[i] = changed
	return &next, nil
}

// faults collects what is wrong.
type faults struct {
	errs []error
}

func (f *faults) add(format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf("price book: %w", fmt.Errorf(format, args...)))
}

// name reports a name that is empty or there twice.
func (f *faults) name(where, name string, seen map[string]bool) {
	switch {
	case name == "":
		f.add("%s: name: empty; say where it comes from", where)
	case seen[name]:
		f.add("%s: name: there twice; give each its own", where)
	}
	seen[name] = true
}
