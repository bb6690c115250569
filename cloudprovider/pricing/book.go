package pricing

import (
	"errors"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Options are what a Book is made of. Everything may be empty.
type Options struct {
	// Layers are the sources of prices. Their order counts: the first that has
	// a price in date decides. Put the feed of spot prices before a table that
	// was compiled in.
	Layers []Layer
}

// paidShare is what is left of the price of capacity that is paid for whether it is
// used or not: it is small, so that such capacity comes first, and not zero, so that a
// larger machine still costs more.
const paidShare = 1e-7

// Book is prices, immutable. Create it with New. A nil *Book has no prices.
type Book struct {
	layers []layer
}

type layer struct {
	name   string
	maxAge time.Duration
	index[Entry]
}

// New returns the Book of these options, which it copies. The error lists every
// fault, by layer, with the place and the remedy.
func New(opts Options) (*Book, error) {
	var f faults
	b := &Book{}
	names := map[string]bool{}
	for i, l := range opts.Layers {
		where := fmt.Sprintf("layers[%d] (%s)", i, l.Name)
		f.name(where, l.Name, names)
		if l.MaxAge < 0 {
			f.add("%s: maxAge: %v; use a time above zero, or zero for ever", where, l.MaxAge)
		}
		b.layers = append(b.layers, newLayer(&f, where, l))
	}
	if len(f.errs) > 0 {
		return nil, errors.Join(f.errs...)
	}
	return b, nil
}

// newLayer indexes entries.
func newLayer(f *faults, where string, l Layer) layer {
	given := make(map[cloudprovider.Scope]Entry, len(l.Entries))
	for i, e := range l.Entries {
		at := func() string { return fmt.Sprintf("%s: entries[%d] (%s)", where, i, e.Scope) }
		if fault := priceFault(e.Price); fault != "" {
			f.add("%s: %s", at(), fault)
		}
		if l.MaxAge > 0 && e.At.IsZero() {
			f.add("%s: at: zero, in a layer with a maxAge; say when the price was read", at())
		}
		other, twice := given[e.Scope]
		if twice && other.At.Equal(e.At) && other.Price != e.Price {
			f.add("%s: price: %v, and %v in an earlier entry of the same instant; keep one", at(), e.Price, other.Price)
		}
		if twice && e.At.Before(other.At) {
			continue
		}
		given[e.Scope] = e
	}
	return layer{name: l.Name, maxAge: l.MaxAge, index: newIndex(given)}
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
