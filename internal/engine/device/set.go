package device

import (
	"fmt"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// selectorSet is what a request asks of each of its devices.
type selectorSet struct {
	// name is the text of the set: equal for sets that ask for the same, and
	// for no others.
	name        string
	class       string
	selectors   []resourcev1.DeviceSelector // those of the class first
	tolerations []resourcev1.DeviceToleration
}

// newSelectorSet names and fills a set. The class is looked up by name, so its
// own selectors need no mention.
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

// quoted renders a text so that it can be told where it ends, in backquotes
// where possible as expressions are full of the other kind.
func quoted(s string) string {
	if strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// quotedUnlessPlain leaves alone what is a proper object name.
func quotedUnlessPlain(s string) string {
	plain := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' }
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return quoted(s)
}

// selects says whether a device satisfies the selectors of the set, in the order
// of kube-scheduler. Taints are another question: a device that is not
// tolerated keeps those waiting who want all that are selected. known holds the
// answers for expressions that this device was judged by before.
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

// verdict is what a selector says of a device.
type verdict struct {
	matches bool
	err     error
}
