package launch

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Select returns which of req.Options to send to the cloud, and in which order.
// The steps, in this order:
//
//  1. An option that is Incomplete, Unlaunchable or a Duplicate is dropped.
//  2. Unless KeepDearSpot is set: if there are options of capacity type on-demand, those of spot
//     that cost more than the cheapest of them are dropped (DearSpot). NaN counts as the highest
//     price.
//  3. If OneCapacityType is set: all but the options of one capacity type are dropped
//     (OtherCapacityType). It is the first by Prefer for which minValues hold, or else the first.
//  4. If DropExotic is set: exotic machines are dropped if others are left (OutOfTheOrdinary).
//  5. The rest is ordered, see Selection.Options.
//  6. Only the first Limit instance types, in the order of their first option, are kept; the others
//     are dropped (BeyondLimit). If minValues would fail then, dearer types that add values replace
//     the dearest ones that add none. If that does not meet all of them, other sets of types are
//     searched, in a bounded number of steps.
//
// minValues are those of req.Requirements (Requirement.MinValues): the options together must have
// that many different values of the label among those that the requirement allows. Steps 2 and 4
// are skipped if they would break a minimum that held before (Spared).
//
// For a nil req the Selection is empty.
func Select(req *cloudprovider.LaunchRequest, opts *Options) Selection {
	if req == nil {
		return Selection{}
	}
	w := &work{settings: opts.settings(req), minimums: minimums(req.Requirements)}
	w.admit(req.Options)
	if !w.KeepDearSpot {
		w.dearSpot()
	}
	if w.OneCapacityType {
		w.oneCapacityType()
	}
	w.exoticLast()
	w.limit()
	w.out.Options = w.options()
	w.out.Unmet = w.unmet(w.left)
	return w.out
}

// candidate is an option that is not dropped.
type candidate struct {
	cloudprovider.LaunchOption
	key    cloudprovider.OfferingKey
	price  float64
	exotic string
	values [][]string // by minimum
}

type work struct {
	settings
	minimums []minimum
	left     []*candidate // in order
	out      Selection
}

func (w *work) drop(c *candidate, r Reason, format string, args ...any) {
	w.out.Dropped = append(w.out.Dropped, Dropped{Key: c.key, Reason: r, Detail: fmt.Sprintf(format, args...)})
}

// admit adds the launchable options as candidates, in order, and drops the others.
func (w *work) admit(options []cloudprovider.LaunchOption) {
	var incomplete []Dropped
	all := make([]*candidate, 0, len(options))
	for _, o := range options {
		if o.InstanceType == nil || o.Offering == nil {
			incomplete = append(incomplete, dropIncomplete(o))
			continue
		}
		all = append(all, &candidate{LaunchOption: o, key: o.Key(), price: priceOf(o)})
	}
	slices.SortFunc(incomplete, func(a, b Dropped) int {
		return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Detail, b.Detail))
	})
	w.out.Dropped = incomplete
	slices.SortStableFunc(all, func(a, b *candidate) int {
		if c := cmp.Compare(a.price, b.price); c != 0 {
			return c
		}
		return cmp.Or(a.key.Compare(b.key), cmp.Compare(a.Offering.ID, b.Offering.ID))
	})
	var launchable []*candidate
	for _, c := range all {
		if !c.Offering.Launchable() {
			why := "not available"
			if c.Offering.Available {
				why = "the reservation is full"
			}
			w.drop(c, Unlaunchable, "%s", why)
			continue
		}
		launchable = append(launchable, c)
	}
	seen := map[cloudprovider.OfferingKey]bool{}
	for _, c := range launchable {
		if seen[c.key] {
			w.drop(c, Duplicate, "listed already, at no higher price")
			continue
		}
		seen[c.key] = true
		c.exotic = w.exoticName(c.InstanceType)
		c.values = w.valuesOf(c.LaunchOption)
		w.left = append(w.left, c)
	}
}

// priceOf returns the price to sort by, as in LaunchOption.Compare: NaN sorts last.
func priceOf(o cloudprovider.LaunchOption) float64 {
	if math.IsNaN(o.Offering.Price) {
		return math.Inf(1)
	}
	return o.Offering.Price
}

func dropIncomplete(o cloudprovider.LaunchOption) Dropped {
	d := Dropped{Reason: Incomplete, Detail: "instance type and offering are nil; set both"}
	switch {
	case o.InstanceType != nil:
		d.Key.InstanceType, d.Detail = o.InstanceType.Name, "the offering is nil; set both"
	case o.Offering != nil:
		d.Key, d.Detail = o.Offering.Key(""), "the instance type is nil; set both"
	}
	return d
}

// filter drops the candidates for which keep is false, unless minimums would fail then.
func (w *work) filter(r Reason, keep func(*candidate) bool, detail func(*candidate) string) {
	var kept, gone []*candidate
	for _, c := range w.left {
		if keep(c) {
			kept = append(kept, c)
		} else {
			gone = append(gone, c)
		}
	}
	if len(gone) == 0 {
		return
	}
	if w.fails(w.left, kept) {
		w.out.Spared = append(w.out.Spared, r)
		return
	}
	w.left = kept
	for _, c := range gone {
		w.drop(c, r, "%s", detail(c))
	}
}

func (w *work) dearSpot() {
	i := slices.IndexFunc(w.left, func(c *candidate) bool { return c.Offering.CapacityType == v1.CapacityTypeOnDemand })
	if i < 0 {
		return
	}
	cheapest := w.left[i] // the first one, because they are ordered
	w.filter(DearSpot, func(c *candidate) bool {
		return c.Offering.CapacityType != v1.CapacityTypeSpot || c.price <= cheapest.price
	}, func(c *candidate) string {
		return fmt.Sprintf("%s USD/h, more than %s on demand for %s", usd(c.price), usd(cheapest.price), cheapest.key)
	})
}

func (w *work) oneCapacityType() {
	by := byCapacityType(w.left)
	if len(by) < 2 {
		return
	}
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(w.preference(a), w.preference(b)), cmp.Compare(a, b))
	})
	chosen := names[0]
	if i := slices.IndexFunc(names, func(name string) bool { return len(w.unmet(by[name])) == 0 }); i >= 0 {
		chosen = names[i]
	}
	for _, c := range w.left {
		if c.Offering.CapacityType != chosen {
			w.drop(c, OtherCapacityType, "the call asks for %s", chosen)
		}
	}
	w.left = by[chosen]
}

// exoticLast drops exotic machines or puts them last.
func (w *work) exoticLast() {
	ordinary := func(c *candidate) bool { return c.exotic == "" }
	if w.DropExotic && slices.ContainsFunc(w.left, ordinary) {
		w.filter(OutOfTheOrdinary, ordinary, func(c *candidate) string {
			return c.exotic + " was not asked for"
		})
	}
	slices.SortStableFunc(w.left, func(a, b *candidate) int {
		switch {
		case ordinary(a) == ordinary(b):
			return 0
		case ordinary(a):
			return -1
		}
		return 1
	})
}

func (w *work) options() []cloudprovider.LaunchOption {
	options := make([]cloudprovider.LaunchOption, len(w.left))
	for i, c := range w.left {
		options[i] = c.LaunchOption
	}
	return options
}

func usd(price float64) string { return strconv.FormatFloat(price, 'g', 6, 64) }

// Selection is the result of Select.
type Selection struct {
	// Options are the ones to send to the cloud: those of exotic machines come last; otherwise by
	// LaunchOption.Compare, the cheapest first.
	Options []cloudprovider.LaunchOption

	// Dropped are the others, in the order of the reasons below, and of each
	// reason in the order of Options.
	Dropped []Dropped

	// Spared are the steps that were skipped because minValues would not have held after them, in
	// the order of the steps.
	Spared []Reason

	// Unmet are the minValues that do not hold for Options, sorted by key. The caller decides by
	// the policy of the pool whether that is a failure.
	Unmet []Unmet
}

// Reason says why an option is not sent.
type Reason string

const (
	// Incomplete: the instance type or the offering is nil.
	Incomplete Reason = "Incomplete"
	// Unlaunchable: the offering is not available, or its reservation is full.
	Unlaunchable Reason = "Unlaunchable"
	// Duplicate: the offering is listed already.
	Duplicate Reason = "Duplicate"
	// DearSpot: it is spot capacity that costs more than the cheapest on-demand capacity.
	DearSpot Reason = "DearSpot"
	// OtherCapacityType: the call asks for another capacity type.
	OtherCapacityType Reason = "OtherCapacityType"
	// OutOfTheOrdinary: it is an exotic machine, and there are others.
	OutOfTheOrdinary Reason = "OutOfTheOrdinary"
	// BeyondLimit: the limit of instance types is reached by options that come before it.
	BeyondLimit Reason = "BeyondLimit"
)

// Dropped is an option that is not sent.
type Dropped struct {
	// Key is the offering. For an incomplete option only some fields are set.
	Key cloudprovider.OfferingKey
	// Reason is why, and Detail says it in words.
	Reason Reason
	Detail string
}

// String returns one line, as in
// "m5.large/zone-a/spot: 0.2 USD/h, more than 0.1 on demand for m5.large/zone-b/on-demand".
func (d Dropped) String() string { return d.Key.String() + ": " + d.Detail }

// Unmet is a minValues that does not hold.
type Unmet struct {
	// Key is the label.
	Key string
	// Need is the minimum, and Have how many values the options have.
	Need, Have int
}

// String returns one line, as in "node.kubernetes.io/instance-type: 3 of 5 values".
func (u Unmet) String() string { return fmt.Sprintf("%s: %d of %d values", u.Key, u.Have, u.Need) }

// String returns a summary of several lines: how many options are sent, how many were dropped for
// each reason with the first as an example, the skipped steps, and unmet minValues.
func (s Selection) String() string {
	types := map[string]bool{}
	for _, o := range s.Options {
		types[o.InstanceType.Name] = true
	}
	lines := []string{fmt.Sprintf("%d options of %d instance types", len(s.Options), len(types))}
	for i := 0; i < len(s.Dropped); {
		j := i
		for j < len(s.Dropped) && s.Dropped[j].Reason == s.Dropped[i].Reason {
			j++
		}
		lines = append(lines, fmt.Sprintf("%d dropped for %s, as %s", j-i, s.Dropped[i].Reason, s.Dropped[i]))
		i = j
	}
	for _, r := range s.Spared {
		lines = append(lines, fmt.Sprintf("none dropped for %s, because minValues would fail", r))
	}
	for _, u := range s.Unmet {
		lines = append(lines, "minValues not met: "+u.String())
	}
	return strings.Join(lines, "\n")
}
