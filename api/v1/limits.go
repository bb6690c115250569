package v1

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ResourceNodes is the name under which Limits count nodes.
const ResourceNodes corev1.ResourceName = "nodes"

// Limits bounds the total of a pool's nodes by resource. A resource that is
// not named is unlimited; nil limits nothing. A limit is zero or more.
type Limits corev1.ResourceList

// Exceeded returns the resources whose usage is above the limit, sorted by
// name; nil if there is none. Usage equal to the limit is within it, and usage
// of a resource without a limit never counts.
func (l Limits) Exceeded(usage corev1.ResourceList) []corev1.ResourceName {
	var over []corev1.ResourceName
	for _, name := range slices.Sorted(maps.Keys(usage)) {
		limit, ok := l[name]
		used := usage[name]
		if ok && used.Cmp(limit) > 0 {
			over = append(over, name)
		}
	}
	return over
}

// ExceededBy is Exceeded as an error that names every resource above its
// limit with both amounts; nil if there is none.
func (l Limits) ExceededBy(usage corev1.ResourceList) error {
	over := l.Exceeded(usage)
	if len(over) == 0 {
		return nil
	}
	parts := make([]string, 0, len(over))
	for _, name := range over {
		limit, used := l[name], usage[name]
		parts = append(parts, fmt.Sprintf("%s: %s used, limit %s", name, used.String(), limit.String()))
	}
	return fmt.Errorf("limits exceeded: %s", strings.Join(parts, "; "))
}
