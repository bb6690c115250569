package v1

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

// The API server checks the written text, which some Go types do not keep: a duration reads 1.5h as
// 1h30m, a quantity reads Gi as zero, and an empty string looks like an omitted one. The faults
// that Validate therefore cannot see are found here, for values that the Go type can read; all
// others were reported before.

// written checks a member of the given struct.
func (c *fieldChecker) written(path *field.Path, parent reflect.Type, name string, value any) {
	switch parent {
	case reflect.TypeFor[NodeClaimTemplateSpec](), reflect.TypeFor[NodeClaimSpec]():
		switch name {
		case "taints", "startupTaints":
			c.writtenTaints(path, value)
		case "terminationGracePeriod":
			c.writtenDuration(path, value, isWholeDuration, "want whole hours, minutes and seconds, not negative, such as 1h30m")
		}
	case reflect.TypeFor[Budget]():
		switch name {
		case "nodes":
			c.notEmpty(path, value, `want a count such as "5" or a share such as "10%"; leave the field out for 10%`)
		case "duration":
			c.writtenDuration(path, value, isWindow, "want whole hours and minutes, not negative, such as 8h or 1h30m")
		}
	case reflect.TypeFor[Disruption]():
		if name == "consolidationPolicy" {
			c.notEmpty(path, value, "name a policy, or leave the field out for "+string(DefaultConsolidationPolicy))
		}
	}
	isAmounts := parent == reflect.TypeFor[NodePoolSpec]() && name == "limits" ||
		parent == reflect.TypeFor[ResourceRequirements]() && name == "requests" ||
		parent == reflect.TypeFor[NodeOverlaySpec]() && name == "capacity"
	if isAmounts {
		c.writtenAmounts(path, value)
	}
}

// writtenTogether checks members of the given struct that depend on each other. A whole number may
// be written with a point or an exponent, except where a rule of the schema reads it.
func (c *fieldChecker) writtenTogether(path *field.Path, t reflect.Type, members map[string]any) {
	switch t {
	case reflect.TypeFor[NodePoolSpec]():
		c.notFloat(path.Child("replicas"), members["replicas"])
		if limits, ok := members["limits"].(map[string]any); ok && members["replicas"] != nil {
			const name = string(ResourceNodes)
			c.notFloat(path.Child("limits").Key(name), limits[name])
		}
	case reflect.TypeFor[NodeSelectorRequirementWithMinValues]():
		if members["operator"] == string(corev1.NodeSelectorOpIn) {
			c.notFloat(path.Child("minValues"), members["minValues"])
		}
	}
}

// notFloat ignores fractions, which were reported before.
func (c *fieldChecker) notFloat(path *field.Path, value any) {
	if n, ok := value.(float64); ok && n == math.Trunc(n) {
		c.mismatch(path, value, "the API server takes a whole number here that has neither a point nor an exponent")
	}
}

func (c *fieldChecker) notEmpty(path *field.Path, value any, detail string) {
	if value == "" {
		c.mismatch(path, value, detail)
	}
}

func (c *fieldChecker) writtenDuration(path *field.Path, value any, hasForm func(string) bool, detail string) {
	text, ok := value.(string)
	if !ok {
		return
	}
	if _, err := time.ParseDuration(text); err == nil && !hasForm(text) {
		c.mismatch(path, value, detail)
	}
}

// isWindow reports whether the text is hours, minutes, or the one after the
// other, with an optional 0s at the end, as Go writes a duration.
func isWindow(text string) bool {
	if whole, ok := strings.CutSuffix(text, "0s"); ok {
		text = whole
	}
	if hours, ok := strings.CutSuffix(text, "h"); ok {
		return isDigits(hours)
	}
	minutes, ok := strings.CutSuffix(text, "m")
	if hours, rest, both := strings.Cut(minutes, "h"); both {
		return ok && isDigits(hours) && isDigits(rest)
	}
	return ok && isDigits(minutes)
}

func (c *fieldChecker) writtenTaints(path *field.Path, value any) {
	items, _ := value.([]any)
	for i, item := range items {
		taint, _ := item.(map[string]any)
		c.notEmpty(path.Index(i).Child("value"), taint["value"], "write a value, or leave the field out")
		// Go accepts an hour with one digit, the API server does not.
		const hourEnd = len("2026-01-01T00")
		text, _ := taint["timeAdded"].(string)
		if _, err := time.Parse(time.RFC3339, text); err == nil && text[hourEnd] != ':' {
			c.mismatch(path.Index(i).Child("timeAdded"), text, "want a time such as 2026-01-31T08:00:00Z")
		}
	}
}

// writtenAmounts checks a map of quantities.
func (c *fieldChecker) writtenAmounts(path *field.Path, value any) {
	members, _ := value.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(members)) {
		switch amount := members[key].(type) {
		case float64:
			if amount != math.Trunc(amount) || math.Abs(amount) > maxExactInteger {
				c.mismatch(path.Key(key), amount, "a number must be whole here; put it in quotes")
			}
		case string:
			if !isQuantityForm(amount) {
				c.mismatch(path.Key(key), shortened(amount), "want a quantity such as 500m, 2 or 4Gi")
			}
		}
	}
}

// maxExactInteger is the largest integer that a float64 represents exactly, together with all
// smaller ones.
const maxExactInteger = 1<<53 - 1

// isQuantityForm reports whether a text that can be read as a quantity has a
// digit in front of its unit, and no blanks around it.
func isQuantityForm(text string) bool {
	if quantity.Endless(text) {
		return true // reported already
	}
	if _, err := resource.ParseQuantity(strings.TrimSpace(text)); err != nil {
		return true // reported already
	}
	number := strings.TrimLeft(text, "+-")
	number = strings.TrimPrefix(number, ".")
	return strings.TrimSpace(text) == text && number != "" && number[0] >= '0' && number[0] <= '9'
}
