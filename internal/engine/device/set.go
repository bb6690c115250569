package device

import (
	"fmt"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// selectorSet is the requirement of a request on each of its devices.
type selectorSet struct {
	// name is the text of the set, equal for equal sets only.
	name        string
	class       string
	selectors   []resourcev1.DeviceSelector // those of the class first
	tolerations []resourcev1.DeviceToleration
}

// newSelectorSet returns the set of a request. The name includes the class by name, so the
// selectors of the class need not be part of it.
func newSelectorSet(class *resourcev1.DeviceClass, r *request) *selectorSet {
	var b strings.Builder
	b.WriteString(quotedUnlessPlain(class.Name))
	for _, s := range r.selectors {
		b.WriteString(" where " + quoted(s.CEL.Expression))
	}
	tolerations := countedTolerations(r.tolerations)
	for i := range tolerations {
		b.WriteString(" tolerating " + quoted(tolerationText(&tolerations[i])))
	}
	s := &selectorSet{name: b.String(), class: class.Name, tolerations: tolerations}
	s.selectors = append(s.selectors, class.Spec.Selectors...)
	s.selectors = append(s.selectors, r.selectors...)
	return s
}

// quoted renders a text in quotes: backquotes where possible, because expressions contain many
// double quotes.
func quoted(s string) string {
	if strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// quotedUnlessPlain quotes a text unless it is a valid object name.
func quotedUnlessPlain(s string) string {
	plain := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' }
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return quoted(s)
}

// selects says whether a device satisfies the selectors of the set, in the order of kube-scheduler.
// It ignores taints: a device with an untolerated taint still blocks requests for all selected
// devices. known caches the results of expressions for this device.
func (s *selectorSet) selects(m cloudprovider.DeviceMatcher, driver string, d *resourcev1.Device, known map[string]verdict) (bool, error) {
	for _, selector := range s.selectors {
		v, ok := known[selector.CEL.Expression]
		if !ok {
			v.matches, v.err = m.Matches(selector, driver, d)
			known[selector.CEL.Expression] = v
		}
		if v.err != nil {
			return false, fmt.Errorf("class %s: device of driver %s: %w", s.class, driver, v.err)
		}
		if !v.matches {
			return false, nil
		}
	}
	return true, nil
}

// verdict is the result of a selector for a device.
type verdict struct {
	matches bool
	err     error
}
