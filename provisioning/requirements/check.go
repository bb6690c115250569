package requirements

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
)

// CheckKey reports whether users may name the label in a NodePool or a pod. In order, with every
// fault in the error:
//
//   - it must not be a restricted label;
//   - its domain must not be restricted, nor a subdomain of a restricted one, unless the key is
//     well-known;
//   - it must be a label key as Kubernetes defines it.
//
// An alias is checked as the key that it stands for.
func (v *Vocabulary) CheckKey(key string) error {
	v = v.orDefault()
	name := v.NormalizeKey(key)
	var errs []error
	if _, found := slices.BinarySearch(v.restrictedLabels, name); found {
		errs = append(errs, fmt.Errorf("label %q is restricted, as its value is only settled when a node is made; "+
			"remove it, or use another label: well-known are %s", key, strings.Join(v.wellKnown, ", ")))
	} else if domain, restricted := v.restrictedDomain(name); restricted {
		errs = append(errs, fmt.Errorf("label %q is restricted, as it may interfere with the provisioning of nodes; "+
			"use a label outside the domains %s, or a well-known one: %s (restricted here by %s)",
			key, strings.Join(v.restrictedDomains, ", "), strings.Join(v.wellKnown, ", "), domain))
	}
	if !validKey(name) {
		for _, fault := range content.IsLabelKey(name) {
			errs = append(errs, fmt.Errorf("label key %q is not valid: %s", key, fault))
		}
	}
	return errors.Join(errs...)
}

// restrictedDomain returns the restricted domain that the key falls under.
func (v *Vocabulary) restrictedDomain(key string) (string, bool) {
	prefix, _, found := strings.Cut(key, "/")
	if !found || v.isWellKnown[key] {
		return "", false
	}
	for _, domain := range v.restrictedDomains {
		if prefix == domain || strings.HasSuffix(prefix, "."+domain) {
			return domain, true
		}
	}
	return "", false
}

// CheckRequirement reports whether users may put the requirement in a NodePool or a pod. In order,
// with every fault in the error:
//
//   - CheckKey must pass;
//   - it must not be Impossible;
//   - if it lists values and the Vocabulary knows the values of the key, at least one of them
//     must be known, and at least the minimum of values;
//   - every value, admitted or excluded, must be a label value as Kubernetes
//     defines it;
//   - if it lists values, it must list at least the minimum of values;
//   - the bounds of an interval must not be negative, because no label value is.
//
// Unknown values are no fault if there are known ones too.
func (v *Vocabulary) CheckRequirement(r Requirement) error {
	v = v.orDefault()
	errs := []error{v.CheckKey(r.key)}
	switch {
	case r.Impossible():
		errs = append(errs, fmt.Errorf("label %q: no value can satisfy the requirement; "+
			"give In at least one value, or remove what contradicts it", r.key))
	case r.shape == shapeOnly && r.present:
		errs = append(errs, v.checkKnown(r))
		if len(r.values) < r.minValues {
			errs = append(errs, fmt.Errorf("label %q: %d values cannot satisfy minValues %d; "+
				"add values or lower minValues", r.key, len(r.values), r.minValues))
		}
	case r.shape == shapeIntegers:
		errs = append(errs, checkBounds(r))
	}
	for _, value := range r.values {
		if validValue(value) {
			continue
		}
		for _, fault := range content.IsLabelValue(value) {
			errs = append(errs, fmt.Errorf("label %q: value %q is not valid: %s", r.key, value, fault))
		}
	}
	return errors.Join(errs...)
}

// checkKnown judges a list of values by the known values of the key.
func (v *Vocabulary) checkKnown(r Requirement) error {
	known, ok := v.knownValues[v.NormalizeKey(r.key)]
	if !ok {
		return nil
	}
	count := 0
	for _, value := range r.values {
		if contains(known, v.NormalizeValue(r.key, value)) {
			count++
		}
	}
	switch {
	case count == 0:
		return fmt.Errorf("label %q: no node can have any of the values %s; use some of %s",
			r.key, strings.Join(r.values, ", "), strings.Join(known, ", "))
	case count < r.minValues:
		return fmt.Errorf("label %q: only %d of the values %s can be had, too few for minValues %d; "+
			"use more of %s, or lower minValues",
			r.key, count, strings.Join(r.values, ", "), r.minValues, strings.Join(known, ", "))
	}
	return nil
}

func checkBounds(r Requirement) error {
	switch {
	case r.hi < 0:
		return fmt.Errorf("label %q: no label value is an integer below zero, and only integers up to %d are admitted; raise that bound to 0 or more", r.key, r.hi)
	case r.lo < 0 && r.lo != math.MinInt64:
		return fmt.Errorf("label %q: no label value is an integer below zero, and integers from %d on are admitted; raise that bound to 0 or more", r.key, r.lo)
	}
	return nil
}

// validKey reports whether a key is a label key. For common keys it avoids the regular expressions
// of Kubernetes, which would take most of the time of reading a pod.
func validKey(key string) bool {
	prefix, name, found := strings.Cut(key, "/")
	if !found {
		prefix, name = "", key
	}
	if name != "" && validValue(name) && (!found || plainDomain(prefix)) {
		return true
	}
	return len(content.IsLabelKey(key)) == 0
}

// plainDomain reports whether s certainly is a DNS subdomain. It makes only a simple check, so s
// may be one even if the result is false.
func plainDomain(s string) bool {
	if len(s) == 0 || len(s) > 253 {
		return false
	}
	last := byte('.')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case c == '.' || c == '-':
			if last == '.' || last == '-' {
				return false
			}
		default:
			return false
		}
		last = c
	}
	return last != '.' && last != '-'
}

// validValue reports whether s is a label value: empty, or up to 63 letters,
// digits, hyphens, underscores and dots that begin and end with a letter or
// digit.
func validValue(s string) bool {
	if len(s) > content.LabelValueMaxLength {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-' || c == '_' || c == '.':
			if i == 0 || i == len(s)-1 {
				return false
			}
		default:
			return false
		}
	}
	return true
}
