package pricing

import (
	"errors"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Options are the input of New. Everything may be empty.
type Options struct {
	// Layers are the sources of prices. Their order matters: the first that has a current price
	// decides. Put the feed of spot prices before a built-in table.
	Layers []Layer
}

// paidShare is the share of the on-demand price for reserved capacity, which is paid for in any
// case. It is small, so that such capacity sorts first, and not zero, so that a larger machine
// still costs more.
const paidShare = 1e-7

// Book is an immutable set of prices. Create it with New. A nil *Book has no prices.
type Book struct {
	layers []layer
}

type layer struct {
	name   string
	maxAge time.Duration
	index[Entry]
}

// New returns the Book of these options, which it copies. The Book of nil options has no prices. The
// error lists every fault, by layer, with the place and the remedy.
func New(opts *Options) (*Book, error) {
	var f faults
	b := &Book{}
	if opts == nil {
		return b, nil
	}
	names := map[string]bool{}
	for i, l := range opts.Layers {
		where := fmt.Sprintf("layers[%d] (%s)", i, l.Name)
		f.name(where, l.Name, names)
		if l.MaxAge < 0 {
			f.add("%s: maxAge: %v; use a time above zero, or zero for no limit", where, l.MaxAge)
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

// name adds a fault for a name that is empty or used twice.
func (f *faults) name(where, name string, seen map[string]bool) {
	switch {
	case name == "":
		f.add("%s: name: empty; name the source of the prices", where)
	case seen[name]:
		f.add("%s: name: used twice; give each layer its own", where)
	}
	seen[name] = true
}
