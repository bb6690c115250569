package resources

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// FromResourceList converts the quantities of rl, zeros and negative amounts
// included. It does not change rl.
//
// A fraction of the unit (milli-CPU, byte, or one of anything else) is rounded
// up to the next whole unit, as kube-scheduler does: "1500u" of cpu are 2
// milli-CPU, "0.5" bytes are 1. Negative amounts are rounded away from zero.
//
// A quantity that does not fit in an int64 of its unit, or a name that cannot
// be a resource name (see [Parse]), is an error. The error lists all faults of
// rl sorted by name; for quantities it wraps ErrOverflow.
func FromResourceList(rl corev1.ResourceList) (List, error) {
	if len(rl) == 0 {
		return List{}, nil
	}
	entries := make([]entry, 0, len(rl))
	var faulty []corev1.ResourceName
	for name, q := range rl {
		amount, ok := amountOf(name, q)
		if !ok || !validName(string(name)) {
			faulty = append(faulty, name)
			continue
		}
		entries = append(entries, entry{name, amount})
	}
	if len(faulty) == 0 {
		return sorted(entries), nil
	}
	slices.Sort(faulty)
	faults := make([]error, 0, len(faulty))
	for _, name := range faulty {
		faults = append(faults, quantityFault(name, rl[name]))
	}
	return List{}, errors.Join(faults...)
}

// quantityFault says why FromResourceList refused name.
func quantityFault(name corev1.ResourceName, q resource.Quantity) error {
	if !validName(string(name)) {
		return nameFault(string(name))
	}
	return fmt.Errorf("resource %s: %s: %w; the amount in %s must fit in a signed 64-bit integer, use a smaller quantity",
		name, describe(q), ErrOverflow, unitOf(name))
}

// describe writes q for an error message. Quantity.String expands powers of ten, which takes far
// too long for an extreme exponent.
func describe(q resource.Quantity) string {
	if approx := math.Abs(q.AsApproximateFloat64()); approx < 1e-12 || approx > 1e40 {
		return fmt.Sprintf("about %g", q.AsApproximateFloat64())
	}
	return q.String()
}

// ResourceList returns the amounts of l as quantities: cpu and whole units in
// decimal notation, bytes in binary notation. FromResourceList gives l back
// exactly. The caller owns the result; the empty list gives an empty map.
func (l List) ResourceList() corev1.ResourceList {
	rl := make(corev1.ResourceList, len(l.entries))
	for _, e := range l.entries {
		switch {
		case isCPU(e.name):
			rl[e.name] = *resource.NewMilliQuantity(e.amount, resource.DecimalSI)
		case isBytes(e.name):
			rl[e.name] = *resource.NewQuantity(e.amount, resource.BinarySI)
		default:
			rl[e.name] = *resource.NewQuantity(e.amount, resource.DecimalSI)
		}
	}
	return rl
}

func isCPU(name corev1.ResourceName) bool { return name == corev1.ResourceCPU }

// isBytes reports whether amounts of name are bytes. It decides only how
// amounts are written: bytes and whole units convert alike.
func isBytes(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// unitOf names the unit of name in error messages.
func unitOf(name corev1.ResourceName) string {
	switch {
	case isCPU(name):
		return "milli-CPU"
	case isBytes(name):
		return "bytes"
	}
	return "whole units"
}

// amountOf returns q in the unit of name, rounded away from zero, and whether
// it fits in an int64.
//
// Quantity's own Value and MilliValue wrap or saturate without notice, and a
// comparison of quantities whose exponents lie far apart expands the powers of
// ten between them. So the size is judged first, by an approximation that is
// cheap for any exponent.
func amountOf(name corev1.ResourceName, q resource.Quantity) (int64, bool) {
	if q.Sign() == 0 {
		return 0, true
	}
	scale, perOne := resource.Scale(0), int64(1)
	if isCPU(name) {
		scale, perOne = resource.Milli, 1000
	}
	if whole, ok := q.AsInt64(); ok {
		return multiply(whole, perOne)
	}
	approx := q.AsApproximateFloat64() * float64(perOne)
	switch {
	case approx > 0 && approx < 1e15:
		return q.ScaledValue(scale), true
	case math.Abs(approx) > 1e19:
		return 0, false
	}
	return exactAmount(q, perOne)
}

// exactAmount is amountOf for quantities that are negative or near the ends of
// int64.
func exactAmount(q resource.Quantity, perOne int64) (int64, bool) {
	dec := q.AsDec() // q is a copy, and AsDec leaves what it points to alone
	n := new(big.Int).Mul(dec.UnscaledBig(), big.NewInt(perOne))
	scale := int64(dec.Scale()) // n is in units of 10^-scale, and not 0
	switch {
	case scale < -19: // at least 10^20
		return 0, false
	case scale > int64(n.BitLen())/3+1: // n < 2^BitLen < 10^scale, so below 1
		return int64(n.Sign()), true
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(scale, -scale)), nil)
	if scale < 0 {
		n.Mul(n, power)
	} else {
		rest := new(big.Int)
		n.QuoRem(n, power, rest) // towards zero
		n.Add(n, big.NewInt(int64(rest.Sign())))
	}
	return n.Int64(), n.IsInt64()
}
