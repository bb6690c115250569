package resources

import (
	"errors"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
)

// ErrOverflow is wrapped by every error that reports an amount outside the
// range of int64.
var ErrOverflow = errors.New("amount out of range")

// pair has the amounts of one name in two lists. An absent amount is 0.
type pair struct {
	name        corev1.ResourceName
	left, right int64
	hasRight    bool // the right list has the name, even if its amount is 0
}

// nextPair returns the smallest name at or after l.entries[i] and m.entries[j],
// and the indices after it. It must not be called when both are at their end.
func nextPair(l, m List, i, j int) (p pair, nextI, nextJ int) {
	switch {
	case j == len(m.entries) || i < len(l.entries) && l.entries[i].name < m.entries[j].name:
		return pair{l.entries[i].name, l.entries[i].amount, 0, false}, i + 1, j
	case i == len(l.entries) || m.entries[j].name < l.entries[i].name:
		return pair{m.entries[j].name, 0, m.entries[j].amount, true}, i, j + 1
	}
	return pair{l.entries[i].name, l.entries[i].amount, m.entries[j].amount, true}, i + 1, j + 1
}

// combine applies f to every name of the union of l and m. Where f reports
// false the amounts overflow; all such names are reported together.
func combine(l, m List, op string, f func(a, b int64) (int64, bool)) (List, error) {
	if len(l.entries)+len(m.entries) == 0 {
		return List{}, nil
	}
	entries := make([]entry, 0, len(l.entries)+len(m.entries))
	var faults []error
	for i, j := 0, 0; i < len(l.entries) || j < len(m.entries); {
		var p pair
		p, i, j = nextPair(l, m, i, j)
		amount, ok := f(p.left, p.right)
		if !ok {
			faults = append(faults, fmt.Errorf("resource %s: %s %s %s: %w; use smaller amounts",
				p.name, Format(p.name, p.left), op, Format(p.name, p.right), ErrOverflow))
			continue
		}
		entries = append(entries, entry{p.name, amount})
	}
	if len(faults) > 0 {
		return List{}, errors.Join(faults...)
	}
	return List{entries}, nil
}

// Add returns l + m by name, over the names of both. A sum outside int64 is an
// error that wraps ErrOverflow and lists every such name.
func (l List) Add(m List) (List, error) {
	return combine(l, m, "+", func(a, b int64) (int64, bool) {
		sum := a + b
		// A sum overflows exactly when it lies on the other side of a than the
		// sign of b says.
		return sum, (sum < a) == (b < 0)
	})
}

// Sub returns l - m by name, over the names of both. Amounts may become
// negative; nothing is floored. A difference outside int64 is an error that
// wraps ErrOverflow and lists every such name.
func (l List) Sub(m List) (List, error) {
	return combine(l, m, "-", func(a, b int64) (int64, bool) {
		diff := a - b
		return diff, (diff > a) == (b < 0)
	})
}

// Mul returns l with every amount multiplied by n. A product outside int64 is
// an error that wraps ErrOverflow and lists every such name.
func (l List) Mul(n int64) (List, error) {
	if len(l.entries) == 0 {
		return List{}, nil
	}
	entries := make([]entry, 0, len(l.entries))
	var faults []error
	for _, e := range l.entries {
		product, ok := multiply(e.amount, n)
		if !ok {
			faults = append(faults, fmt.Errorf("resource %s: %s * %d: %w; use smaller amounts",
				e.name, Format(e.name, e.amount), n, ErrOverflow))
			continue
		}
		entries = append(entries, entry{e.name, product})
	}
	if len(faults) > 0 {
		return List{}, errors.Join(faults...)
	}
	return List{entries}, nil
}

func multiply(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	// The one division that itself overflows is MinInt64 / -1.
	if a == math.MinInt64 && b == -1 || b == math.MinInt64 && a == -1 {
		return 0, false
	}
	product := a * b
	return product, product/b == a
}

// Max returns the greater amount of each name of l and m, an absent name
// counting as 0: the maximum of "cpu=-1" and the empty list is "cpu=0".
func (l List) Max(m List) List {
	result, _ := combine(l, m, "max", func(a, b int64) (int64, bool) { return max(a, b), true })
	return result
}

// Min returns the lesser amount of each name of l and m, an absent name
// counting as 0: the minimum of "cpu=2" and the empty list is "cpu=0". To
// tighten a set of limits, where an absent name means unlimited, walk All
// instead.
func (l List) Min(m List) List {
	result, _ := combine(l, m, "min", func(a, b int64) (int64, bool) { return min(a, b), true })
	return result
}

// Merge returns the amounts of m, and those of l for the names that m does not
// list. A zero listed in m wins over l.
func (l List) Merge(m List) List {
	switch {
	case len(m.entries) == 0:
		return l
	case len(l.entries) == 0:
		return m
	}
	entries := make([]entry, 0, len(l.entries)+len(m.entries))
	for i, j := 0, 0; i < len(l.entries) || j < len(m.entries); {
		var p pair
		p, i, j = nextPair(l, m, i, j)
		amount := p.left
		if p.hasRight {
			amount = p.right
		}
		entries = append(entries, entry{p.name, amount})
	}
	return List{entries}
}
