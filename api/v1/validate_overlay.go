package v1

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (v *validator) overlayPrice(path *field.Path, s *NodeOverlaySpec) {
	if s.PriceAdjustment != nil && !isPriceAdjustment(*s.PriceAdjustment) {
		v.add(field.Invalid(path.Child("priceAdjustment"), *s.PriceAdjustment,
			`want a sign and an amount ("+0.05", "-1.2"), or a sign and a percentage ("+10%", "-15.5%", at the least "-100%")`))
	}
	if s.Price != nil && !isDecimal(*s.Price, false) {
		v.add(field.Invalid(path.Child("price"), *s.Price, `want a decimal number without sign or unit, such as "0.5"`))
	}
	if s.Price != nil && s.PriceAdjustment != nil {
		v.add(field.Forbidden(path.Child("price"), "not together with priceAdjustment; remove one of the two"))
	}
}

func (v *validator) overlayCapacity(path *field.Path, capacity corev1.ResourceList) {
	wellKnown := append(WellKnownResources(), v.rules.WellKnownResources...)
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		if slices.Contains(wellKnown, name) {
			v.add(field.Forbidden(path.Key(string(name)), "the provider reports this resource itself; an overlay can only set extended resources"))
		}
	}
}

// isPriceAdjustment reads a signed amount or a signed percentage. A price cannot fall by more than
// 100%, so a negative percentage has at most two digits before the point, or is exactly -100%.
func isPriceAdjustment(text string) bool {
	if text == "" {
		return false
	}
	sign, rest := text[0], text[1:]
	if sign != '+' && sign != '-' {
		return false
	}
	amount, percent := strings.CutSuffix(rest, "%")
	if !percent || sign == '+' {
		return isDecimal(amount, true)
	}
	if amount == "100" {
		return true
	}
	whole, _, _ := strings.Cut(amount, ".")
	return len(whole) <= 2 && isDecimal(amount, false)
}

// isDecimal reads digits with an optional fraction. The digits before the
// point may be missing if barePoint is set.
func isDecimal(text string, barePoint bool) bool {
	whole, fraction, hasPoint := strings.Cut(text, ".")
	if hasPoint && !isDigits(fraction) {
		return false
	}
	return isDigits(whole) || (barePoint && hasPoint && whole == "")
}
