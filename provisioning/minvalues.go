package provisioning

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/catalog"
)

// MissedMinValues is a minValues of a NodePool that the options of a new node fall
// short of.
type MissedMinValues struct {
	Key  string // of the label
	Want int    // the distinct values of it that the pool demands
	Have int    // those that can be had
}

// String renders it as "minValues of LABEL is 2 instead of 3".
func (m MissedMinValues) String() string {
	return fmt.Sprintf("minValues of %s is %d instead of %d", m.Key, m.Have, m.Want)
}

// MissedMinValues counts the values that the options have of each label that the
// pool demands several of, and returns those of which there are too few, sorted by
// key. There are none unless MinValuesRelaxed is set.
func (n *NewNode) MissedMinValues() []MissedMinValues {
	var out []MissedMinValues
	for _, m := range catalog.Missed(n.Requirements, n.Options) {
		out = append(out, MissedMinValues(m))
	}
	return out
}
